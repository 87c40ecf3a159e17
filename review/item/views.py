"""The pages of one item: reading it, deciding it, and talking with its citizen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from ieim.people.access import member
from ieim.studio.trying import services as questions
from review import corrections, deciding, reading, talking
from review.claims import ClaimRefused
from review.corrections import NoCase
from review.deciding import Conflict, Preview, Refused
from review.item import page as pages
from review.item import selectors
from review.item.decision_form import DecisionForm
from review.item.forms import Invalid, Problem, ServicePicker
from review.item.selectors import Loaded
from review.models import Action, ReviewItem
from review.queue import filters as lists
from review.scope import visible
from review.talking import CannotTalk, talk_view


@require_safe
def item(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show why a turn stopped, with the citizen's message, and what can be done."""
    return _page(request, pk, None, correct=request.GET.get(pages.CORRECT, ""))


@require_POST
def preview(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What a decision would lead to: exactly what the citizen will get.

    An approval in a crisis is asked about once more, on a step of its own. 422 with the page, what
    is wrong and the draft, where it would be refused.
    """
    if "again" in request.POST:
        return _page(request, pk, request.POST)
    loaded, form = _form(request, pk)
    if form.version != loaded.item.version:
        return _conflict(request, pk, pages.changed(loaded, request.user.pk))
    try:
        action, payload = form.payload()
        seen = _seen(request, pk, form, action, payload)
    except Invalid as invalid:
        return _page(request, pk, request.POST, problems=invalid.problems, status=422)
    reading.note(loaded.item, member(request))
    context = pages.preview_context(loaded, form, payload, seen)
    once_more = pages.ONCE_MORE in request.POST and context["why_confirm"]
    page = "confirm" if once_more else "preview"
    return render(request, f"review/deciding/{page}.html", context)


@require_POST
def decide(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Take a decision: 303 to the item, or to the next one with ``next``.

    422 with the page and the draft where it is refused, 409 where somebody else was faster.
    """
    loaded, form = _form(request, pk)
    if form.version != loaded.item.version:
        return _conflict(request, pk, pages.changed(loaded, request.user.pk))
    try:
        action, payload = form.payload()
        deciding.decide(
            item_id=pk,
            actor=member(request),
            version=form.version,
            action=action,
            reason=form.reason,
            payload=payload,
        )
    except Invalid as invalid:
        return _page(request, pk, request.POST, problems=invalid.problems, status=422)
    except Refused as refused:
        return _page(request, pk, request.POST, problems=pages.refusal(refused, form), status=422)
    except Conflict as conflict:
        return _conflict(request, pk, str(conflict))
    filters = lists.list_filters(request)
    if "next" not in request.POST:
        return _see_other(request, lists.item_address(pk, filters), forget=str(pk))
    messages.success(request, pages.stored_message(loaded, action))
    following = selectors.next_item(member(request), after=loaded.item, filters=filters)
    address = (
        lists.item_address(following.pk, filters) if following else lists.queue_address(filters)
    )
    return _see_other(request, address, forget=str(pk))


@require_POST
def check(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What the gate says of a draft, as a part of the page."""
    _, form = _form(request, pk)
    try:
        seen = _seen(request, pk, form, *form.draft())
        problems = pages.sentences(seen.warnings, form)
    except Invalid as invalid:
        problems = list(invalid.problems)
    return render(request, "review/deciding/checked.html", {"problems": problems})


@require_POST
def services(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Services that fit the words typed so far, as a part of the page."""
    loaded, form = _form(request, pk)
    choice = next((choice for choice in form.choices if choice.checked), None)
    if choice is None or not isinstance(choice.form, ServicePicker):
        raise Http404
    context = {"form": choice.form, "item": loaded.item}
    return render(request, "review/deciding/answering/services_found.html", context)


@require_POST
def undo(request: HttpRequest, pk: UUID, decision: UUID) -> HttpResponse:
    """Take a decision back, with a record of its own."""
    loaded, form = _form(request, pk)
    if decision not in [record.pk for record in loaded.item.decisions.all()]:
        raise Http404
    reason = request.POST.get("undo-reason", "")
    try:
        deciding.undo(decision_id=decision, actor=member(request), reason=reason)
    except Refused as refused:
        return _page(request, pk, None, problems=pages.refusal(refused, form), status=422)
    except Conflict as conflict:
        return _conflict(request, pk, str(conflict))
    address = lists.item_address(pk, lists.list_filters(request))
    return _see_other(request, address, forget=str(pk))


@require_POST
def sign(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Sign an agency's part of a reply that several agencies answer."""
    _, form = _form(request, pk)
    try:
        deciding.sign(
            item_id=pk,
            actor=member(request),
            version=form.version,
            agency=request.POST.get("agency", ""),
            reason=request.POST.get("sign-reason", ""),
        )
    except Refused as refused:
        return _page(request, pk, None, problems=pages.refusal(refused, form), status=422)
    except Conflict as conflict:
        return _conflict(request, pk, str(conflict))
    address = lists.item_address(pk, lists.list_filters(request))
    return _see_other(request, address, forget=str(pk))


def _loaded(request: HttpRequest, pk: UUID) -> Loaded:
    try:
        return selectors.load(pk, member(request))
    except ReviewItem.DoesNotExist as error:
        raise Http404 from error


def _form(request: HttpRequest, pk: UUID) -> tuple[Loaded, DecisionForm]:
    loaded = _loaded(request, pk)
    return loaded, pages.form(loaded, member(request), request.POST)


def _seen(
    request: HttpRequest, pk: UUID, form: DecisionForm, action: Action, payload: Mapping[str, Any]
) -> Preview:
    """Return what a decision leads to; raises :class:`Invalid` where it would be refused."""
    try:
        return deciding.preview(item_id=pk, actor=member(request), action=action, payload=payload)
    except Refused as refused:
        raise Invalid(*pages.refusal(refused, form)) from refused


def _page(
    request: HttpRequest,
    pk: UUID,
    data: QueryDict | None,
    *,
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    loaded = _loaded(request, pk)
    reading.note(loaded.item, member(request))
    values = pages.context(loaded, member(request), data, **context)
    filters = lists.list_filters(request)
    values |= {"list": filters.query, "queue_address": lists.queue_address(filters)}
    return render(request, "review/item/item.html", values, status=status)


def _conflict(request: HttpRequest, pk: UUID, message: str) -> HttpResponse:
    return _page(
        request,
        pk,
        request.POST,
        problems=[Problem(message)],
        title=gettext("Your decision was not taken"),
        status=409,
    )


def _see_other(request: HttpRequest, address: str, *, forget: str = "") -> HttpResponse:
    """Redirect with 303; the browser forgets the draft of the name ``forget``, as it is stored now:
    a cookie for ``drafts.js``."""
    response = redirect(address)
    response.status_code = 303
    if forget:
        response.set_cookie(
            f"ieim-decided-{forget}",
            str(member(request).pk),
            max_age=timedelta(days=1),
            secure=settings.SESSION_COOKIE_SECURE,
            samesite="Lax",
        )
    return response


NEWEST = "newest"
"""The place on the page where one reads the newest message and writes."""


@require_safe
def talk(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The whole conversation, and a box to write in while the caseworker has it.

    For htmx, which looks again, what was said alone; and what can be done, once they have it no
    more.
    """
    context = _context(request, pk)
    if request.headers.get("HX-Request") == "true":
        return render(request, "review/talking/again.html", {**context, "oob": True})
    return render(request, "review/talking/talk.html", context)


@require_POST
def say(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Say something to the citizen; 422 with the draft where it cannot be said."""
    text = request.POST.get("text", "").replace("\r\n", "\n")
    return change_talk(request, pk, talking.say, forget=f"{pk}-talk", text=text)


@require_POST
def change_talk(
    request: HttpRequest, pk: UUID, change: Callable[..., object], forget: str = "", **said: str
) -> HttpResponse:
    """Do what the address is for (``change``) and show the conversation.

    303, 409 where somebody else has the item, 422 where it cannot be done.
    """
    try:
        change(item_id=pk, actor=member(request), **said)
    except ReviewItem.DoesNotExist as error:
        raise Http404 from error
    except (ClaimRefused, CannotTalk) as refused:
        problem, status = str(refused), 409 if isinstance(refused, ClaimRefused) else 422
    else:
        return _see_other(request, f"{reverse('review:talk', args=[pk])}#{NEWEST}", forget=forget)
    context = {**_context(request, pk), "problem": problem, "draft": said.get("text", "")}
    return render(request, "review/talking/talk.html", context, status=status)


def _context(request: HttpRequest, pk: UUID) -> dict[str, Any]:
    try:
        return {"talk": talk_view(pk, member(request))}
    except ReviewItem.DoesNotExist as error:
        raise Http404 from error


@require_POST
def golden(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Keep the decision of an item as a golden question, or say why it makes none."""
    user = member(request)
    item = get_object_or_404(visible(user).select_related("turn__session"), pk=pk)
    try:
        question, new = questions.keep(
            case=corrections.case_of(item), by=user, turn_id=item.turn_id
        )
    except (NoCase, questions.GoldenError) as error:
        message = gettext("It makes no golden question. {why}")
        messages.error(request, message.format(why=error))
    else:
        message = (
            gettext("Kept as golden question {name}.")
            if new
            else gettext("It is a golden question already: {name}.")
        )
        messages.success(request, message.format(name=question.name))
    return redirect("review:item", pk=item.pk)
