"""Reads: what citizens said of answers, within a user's agencies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from conversations.models import Feedback, Reason, Turn
from ieim.people.scope import agencies_of
from ieim.pipeline.personal.redaction import prepare
from review.models import ReviewItem
from review.scope.reach import TRIAGE, Person


@dataclass(frozen=True, slots=True)
class FeedbackView:
    """What a citizen said of an answer.

    ``question`` is their message without personal data, as it may become a golden question.
    ``item`` is the review item of the turn that was opened last, None for none.
    """

    turn_id: UUID
    reference: str
    at: datetime
    useful: bool | None
    why: str
    text: str
    question: str
    answer: str
    item: UUID | None = None


def visible(user: Person) -> QuerySet[Feedback]:
    """Return what was said of answers that a user may see: those made of their agencies' services.

    What no service was behind takes a role that sees what has no agency.
    """
    said = Feedback.objects.exclude(reason="", text="")
    scope = agencies_of(user)
    if scope is None:
        return said
    theirs = Q(reply__citations__agency__in=scope)
    if user.has_perm(TRIAGE):
        theirs |= Q(reply__citations=None)
    # A reply has a row for each service that it was made from.
    return said.filter(pk__in=Feedback.objects.filter(theirs).values("pk"))


def listed(user: Person, *, with_items: bool) -> QuerySet[Feedback]:
    """Return what a user may see, the newest first; without items only what has none so far."""
    said = _whole(visible(user))
    if not with_items:
        said = said.exclude(Exists(ReviewItem.objects.filter(turn=OuterRef("reply__turn"))))
    return said.order_by("-at", "-pk")


def of_turn(turn: Turn) -> FeedbackView | None:
    """Return what was said of a turn's answer, None for nothing. Who sees the turn may see it."""
    said = Feedback.objects.filter(reply__turn=turn).exclude(reason="", text="")
    found = _whole(said).first()
    return view(found) if found else None


def _whole(said: QuerySet[Feedback]) -> QuerySet[Feedback]:
    """Return rows with all that :func:`view` shows of them."""
    items = ReviewItem.objects.filter(turn=OuterRef("reply__turn")).order_by("-opened_at")
    newest = Subquery(items.values("pk")[:1])
    return said.select_related("reply__turn__session", "reply__rating").annotate(item=newest)


def view(said: Any) -> FeedbackView:
    """Return what was said, a row of :func:`listed`, as it is shown."""
    turn = said.reply.turn
    return FeedbackView(
        turn_id=turn.pk,
        reference=turn.session.reference,
        at=said.at,
        useful=said.reply.useful,
        why=str(Reason(said.reason).label) if said.reason else "",
        text=said.text,
        question=prepare(turn.text).text,
        answer=said.reply.body.get("title") or said.reply.body.get("lead") or "",
        item=said.item,
    )
