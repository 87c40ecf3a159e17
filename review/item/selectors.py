"""Reads of the item page, within a user's agencies."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, Q
from django.utils import timezone

from conversations.models import PersonRequest, Stage
from conversations.person.contacts import readable
from conversations.person.models import Way
from ieim.people.models import User
from ieim.pipeline.topology import PERSON
from review.deciding.locking import DECIDE
from review.deciding.permitted import OPINIONS
from review.models import REFUSED, Decision, ReviewItem
from review.queue.filters import ItemFilter
from review.queue.selectors import Listing, keys, listing
from review.scope import visible
from review.states import ReviewState

EQUAL = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class LoadedItem:
    """An item, and the other items of its session."""

    item: ReviewItem
    others: tuple[ReviewItem, ...]

    @property
    def stages(self) -> dict[str, Stage]:
        """The stages of the item's turn by contract, in the order of the pipeline."""
        return {stage.contract: stage for stage in self.item.turn.stages.all()}


def load(pk: UUID, user: User) -> LoadedItem:
    """Return an item with all that its page shows.

    Raises:
        ReviewItem.DoesNotExist: also for an item that the user may not see.
    """
    decisions = Decision.objects.select_related("actor").order_by("created_at", "id")
    items = visible(user)
    item = (
        items.select_related(
            *("turn__session", "turn__reply__feedback", "turn__choice", "claimed_by", "agencies"),
            *("turn__replaces__turn__reply", "turn__replaced"),
        )
        .prefetch_related(
            "turn__stages__attempts",
            "sign_offs__by",
            Prefetch("decisions", queryset=decisions),
        )
        .get(pk=pk)
    )
    others = items.filter(turn__session_id=item.turn.session_id).exclude(pk=pk)
    return LoadedItem(item, tuple(others.order_by("opened_at", "id")))


def next_item(user: User, *, but: Collection[UUID], filters: ItemFilter) -> ReviewItem | None:
    """Return the first item of a list that is free, not one of ``but``; None for none.

    Of the user's own list it is the first of those that they have. What the user has decided
    themselves, and others have not yet agreed to, is not offered again. Where nothing is left to do
    in the list as such (what is done, one conversation), the list of open items goes on. Among
    items that are as urgent and due within :data:`EQUAL`, but for those of danger, the first in a
    language that the user reads comes first.
    """
    now = timezone.now()
    listed = listing(user, filters, now)
    if listed.done or listed.session is not None:
        listed = listing(user, ItemFilter(), now)
    decided = Decision.objects.filter(item=OuterRef("pk"), actor=user.pk, answers=None)
    decided = decided.exclude(action__in=OPINIONS)
    branches = [b.exclude(pk__in=but).exclude(Exists(decided)) for b in listed.branches]
    if filters.values["tab"] != "mine":
        claimed = Q(state=ReviewState.CLAIMED.value, claimed_until__gt=now)
        branches = [branch.exclude(claimed) for branch in branches]
    first = keys(Listing(tuple(branches)), size=1)
    if first and user.languages and first[0][0] > REFUSED:
        rank, due_at, _ = first[0]
        equal = Q(rank=rank, due_at__lte=due_at + EQUAL, language__in=["", *user.languages])
        first = keys(Listing(tuple(b.filter(equal) for b in branches)), size=1) or first
    return ReviewItem.objects.filter(pk=first[0][2]).first() if first else None


@dataclass(frozen=True, slots=True)
class PersonRequestView:
    """A citizen's request for a person; ``contact`` only for who may decide on it, and ``hidden``
    where there is one for others."""

    request: PersonRequest
    contact: str
    hidden: bool


def person_request(item: ReviewItem, user: User) -> PersonRequestView | None:
    """Return the request for a person that an item is of; None for other items."""
    if item.stage != PERSON:
        return None
    request = PersonRequest.objects.filter(turn=item.turn_id).select_related("about").first()
    if request is None:
        return None
    may_decide = user.has_perm(DECIDE)
    contact = readable(request.contact) if request.way == Way.CALL else request.contact
    return PersonRequestView(
        request, contact if may_decide else "", bool(request.contact) and not may_decide
    )
