"""Reads of the item page: one item with all that the page shows, within a user's agencies."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, Q
from django.utils import timezone

from conversations.models import Stage, Turn
from ieim.people.models import User
from review.models import Decision, ReviewItem
from review.queue.filters import Filters
from review.queue.selectors import Listing, keys, listing
from review.scope import visible
from review.states import ReviewState

USUAL = Filters()
"""What is open, without any filter."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """An item, the turns of its session (oldest first), and the session's other items."""

    item: ReviewItem
    turns: tuple[Turn, ...]
    others: tuple[ReviewItem, ...]

    @property
    def stages(self) -> dict[str, Stage]:
        """The stages of the item's turn by contract, in the order of the pipeline."""
        return {stage.contract: stage for stage in self.item.turn.stages.all()}


def load(pk: UUID, user: User) -> Loaded:
    """Return an item as ``user`` may see it; raises ``ReviewItem.DoesNotExist`` otherwise."""
    decisions = Decision.objects.select_related("actor").order_by("created_at", "id")
    item = (
        visible(user)
        .select_related(
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
    session = item.turn.session_id
    turns = Turn.objects.filter(session_id=session).select_related("reply", "replaced")
    others = visible(user).filter(turn__session_id=session).exclude(pk=pk)
    return Loaded(item, tuple(turns.order_by("number")), tuple(others.order_by("opened_at", "id")))


def next_item(user: User, *, after: ReviewItem, filters: Filters = USUAL) -> ReviewItem | None:
    """Return what is to be done next of a list: the first item but ``after`` that is free.

    Of the user's own list it is the first of those that they have. What the user has decided
    themselves, and others have not yet agreed to, is not offered again. Where there is nothing left
    to do in the list as such (what is done, one conversation), the usual list goes on.
    """
    now = timezone.now()
    listed = listing(user, filters, now)
    if listed.done or listed.session is not None:
        listed = listing(user, USUAL, now)
    decided = Decision.objects.filter(item=OuterRef("pk"), actor=user.pk)
    left = [each.exclude(pk=after.pk).exclude(Exists(decided)) for each in listed.branches]
    if filters.tab != "mine":
        held = Q(state=ReviewState.CLAIMED.value, claimed_until__gt=now)
        left = [each.exclude(held) for each in left]
    first = keys(Listing(tuple(left)), size=1)
    return ReviewItem.objects.filter(pk=first[0][2]).first() if first else None
