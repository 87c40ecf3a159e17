"""Citizens' feedback on answers: its page, who may see it, and review items opened for it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from conversations.models import Feedback, Session, Turn
from conversations.turns.locking import locked
from ieim.audit import services as audit
from ieim.people.access import member
from ieim.people.models import User
from ieim.people.reading import record_listed
from ieim.people.scope import agencies_of
from ieim.pipeline.findings import Code
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.topology import REPLY
from review import reading, services
from review.models import ReviewItem
from review.scope import TRIAGE


def visible_feedback(user: User) -> QuerySet[Feedback]:
    """Return the feedback that a user may see: on answers made of their agencies' services.

    Feedback on an answer without any service needs a role that sees items without an agency.
    """
    rows = Feedback.objects.exclude(reason="", text="")
    scope = agencies_of(user)
    if scope is None:
        return rows
    condition = Q(reply__citations__agency__in=scope)
    if user.has_perm(TRIAGE):
        condition |= Q(reply__citations=None)
    # A reply has a row for each service that it was made from.
    return rows.filter(pk__in=Feedback.objects.filter(condition).values("pk"))


def listed(user: User, *, with_items: bool) -> QuerySet[Feedback]:
    """Return the feedback that a user may see, newest first; all, or only that without an item.

    ``item`` is the key of the turn's review item that was opened last, None for none.
    """
    items = ReviewItem.objects.filter(turn=OuterRef("reply__turn")).order_by("-opened_at")
    rows = visible_feedback(user).select_related("reply__turn__session", "reply__rating")
    rows = rows.annotate(item=Subquery(items.values("pk")[:1]))
    if not with_items:
        rows = rows.exclude(Exists(ReviewItem.objects.filter(turn=OuterRef("reply__turn"))))
    return rows.order_by("-at", "-pk")


def of_turn(turn: Turn) -> Feedback | None:
    """Return the feedback on a turn's answer, None for none; whoever sees the turn may see it."""
    rows = Feedback.objects.filter(reply__turn=turn).exclude(reason="", text="")
    return rows.select_related("reply__rating").first()


def row(feedback: Feedback) -> dict[str, Any]:
    """Return a row of the page.

    ``question`` is the message without personal data, as it may become a golden question.
    """
    turn, body = feedback.reply.turn, feedback.reply.body
    return {
        "feedback": feedback,
        "turn": turn,
        "question": prepare(turn.text).text,
        "answer": body.get("title") or body.get("lead") or "",
    }


@transaction.atomic
def make_item(*, turn_id: UUID, by: User) -> ReviewItem:
    """Open a review item for a turn's reply because of the citizen's feedback.

    An undecided one is returned as it is, with that reason added. The citizen has their answer:
    nothing waits for the item, and no decision on it changes what they read. Raises
    ``Feedback.DoesNotExist`` for what the user may not see, also once it was erased.
    """
    feedback = visible_feedback(by).select_related("reply__turn").get(reply__turn=turn_id)
    session_id = feedback.reply.turn.session_id
    # Erasing holds the same row: no item is opened after it.
    locked(Session.objects.all()).get(pk=session_id)
    if not Feedback.objects.filter(pk=feedback.pk).exists():
        raise Feedback.DoesNotExist(str(turn_id))
    codes = [Code.CITIZEN_FEEDBACK.value]
    item = services.open_item(turn_id=turn_id, stage=REPLY, codes=codes)
    audit.record(
        chain=session_id,
        kind="review.feedback",
        actor=by.actor,
        payload={"turn": str(turn_id), "item": str(item.pk), "reason": feedback.reason},
    )
    return item


PAGE = 50


@require_safe
def feedback_page(request: HttpRequest) -> HttpResponse:
    """Show the feedback on answers without an item, or all of it."""
    show_all = request.GET.get("show") == "all"
    visible = listed(member(request), with_items=show_all)
    page = Paginator(visible, PAGE).get_page(request.GET.get("page"))
    rows = [row(feedback) for feedback in page]
    record_listed(reading.FEEDBACK_LISTED, "turns", (r["turn"].pk for r in rows), member(request))
    context = {"page": page, "rows": rows, "every": show_all}
    return render(request, "review/feedback/feedback.html", context)


@require_POST
def make_item_page(request: HttpRequest) -> HttpResponse:
    """Open an item for the feedback on one answer, and redirect to it."""
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
