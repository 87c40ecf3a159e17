"""Reads of the item page: one item with all that the page shows, within a user's agencies."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import AbstractUser
from django.db.models import Exists, OuterRef, Prefetch
from django.utils import timezone

from conversations.models import Stage, Turn
from review.deciding import access
from review.models import Decision, ReviewItem
from review.selectors import visible
from review.states import ReviewState


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


def load(pk: UUID, user: AbstractUser) -> Loaded:
    """Return an item as ``user`` may see it; raises ``ReviewItem.DoesNotExist`` otherwise."""
    decisions = Decision.objects.select_related("actor").order_by("created_at", "id")
    item = (
        ReviewItem.objects.select_related("turn__session", "turn__reply", "claimed_by")
        .prefetch_related(
            "turn__stages__attempts",
            "sign_offs__by",
            Prefetch("decisions", queryset=decisions),
        )
        .get(pk=pk)
    )
    if not access.visible(item, user):
        raise ReviewItem.DoesNotExist(f"no item {pk} in the scope of {user}")
    session = item.turn.session_id
    turns = Turn.objects.filter(session_id=session).select_related("reply").order_by("number")
    others = visible(user).filter(turn__session_id=session).exclude(pk=pk)
    return Loaded(item, tuple(turns), tuple(others.order_by("opened_at", "id")))


def next_item(user: AbstractUser, *, after: ReviewItem) -> ReviewItem | None:
    """Return what is to be done next: the first free item of the queue but ``after``.

    What the user has decided themselves, and others have not yet agreed to, is not offered again.
    """
    mine = Decision.objects.filter(item=OuterRef("pk"), actor=user.pk)
    items = visible(user).exclude(pk=after.pk).exclude(Exists(mine)).order_by("due_at", "id")
    ran_out = items.filter(state=ReviewState.CLAIMED.value, claimed_until__lte=timezone.now())
    # One after the other: an index leads to each at once, to both together none does.
    return items.filter(state=ReviewState.OPEN.value).first() or ran_out.first()
