"""What citizens said of answers: who of the staff sees it, and review items made of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from conversations.models import Feedback, Reason, Session, Turn
from conversations.turns.locking import locked
from ieim.audit import services as audit
from ieim.people.access import member
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.findings import Code
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.topology import REPLY
from review import services
from review.models import ReviewItem
from review.scope import TRIAGE, Person


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


def visible_feedback(user: Person) -> QuerySet[Feedback]:
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
    said = _whole(visible_feedback(user))
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


@transaction.atomic
def make_item(*, turn_id: UUID, by: User) -> ReviewItem:
    """Open a review item for a turn's reply because of what its citizen said of it.

    An undecided one is returned as it is, with that reason added. The citizen has their answer:
    nothing waits for the item, and no decision on it changes what they read. Raises
    ``Feedback.DoesNotExist`` for what the user may not see, also once it was erased.
    """
    said = visible_feedback(by).select_related("reply__turn").get(reply__turn=turn_id)
    session_id = said.reply.turn.session_id
    # Erasing holds the same row: no item is opened after it.
    locked(Session.objects.all()).get(pk=session_id)
    if not Feedback.objects.filter(pk=said.pk).exists():
        raise Feedback.DoesNotExist(str(turn_id))
    codes = [Code.CITIZEN_FEEDBACK.value]
    item = services.open_item(turn_id=turn_id, stage=REPLY, codes=codes)
    audit.record(
        chain=session_id,
        kind="review.feedback",
        actor=by.actor,
        payload={"turn": str(turn_id), "item": str(item.pk), "reason": said.reason},
    )
    return item


PAGE = 50


@never_cache
@require_safe
def feedback_page(request: HttpRequest) -> HttpResponse:
    """What citizens said of answers that had no item, or of all of them."""
    every = request.GET.get("show") == "all"
    said = listed(member(request), with_items=every)
    page = Paginator(said, PAGE).get_page(request.GET.get("page"))
    rows = [view(each) for each in page]
    context = {"page": page, "rows": rows, "every": every}
    return render(request, "review/feedback/feedback.html", context)


@require_POST
def make_item_page(request: HttpRequest) -> HttpResponse:
    """Make an item of what was said of one answer, and go there."""
    try:
        turn_id = UUID(request.POST.get("turn", ""))
    except ValueError:
        messages.error(
            request, gettext("Say which one: press the button beside what a citizen said.")
        )
        return redirect("review:feedback")
    try:
        item = make_item(turn_id=turn_id, by=member(request))
    except Feedback.DoesNotExist as error:
        raise Http404 from error
    messages.success(
        request, gettext("It is an item now. The citizen has an answer: nothing waits for it.")
    )
    return redirect("review:item", pk=item.pk)
