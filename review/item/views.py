"""The pages of one item: reading it, deciding it, and talking with its citizen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from conversations.models import Session
from ieim.people.access import member
from ieim.people.reading import record_listed
from ieim.pipeline.findings import steps
from ieim.studio.trying import services as questions
from review import (
    claims,
    deciding,
    evaluation_cases,
    just_decided,
    labels,
    reading,
    talking,
)
from review.claims import ClaimRefused
from review.colleagues.views import item_context
from review.deciding import Conflict, Preview, Refused, Unsourced, texts
from review.evaluation_cases import NoCase
from review.item import page, selectors
from review.item.base_forms import FormContext, Problem, ServicePicker
from review.item.forms import DecisionForm, WriteForm
from review.item.selectors import LoadedItem
from review.models import Action, Decision, ReviewItem
from review.queue import filters as lists
from review.replies import views as replies
from review.scope import visible
from review.talking import CannotTalk, CardPicker, talk_view

SECONDS_TO_UNDO = timedelta(seconds=10)
"""So long a decision can be taken back before it takes effect."""
SKIPPED = "review-skipped"
"""The session key of the items that were skipped, the last ones."""
MOST_SKIPPED = 50
TEXTS = (Action.WRITE, Action.ASK, Action.DISMISS)
"""The actions with a text for the citizen."""
TRIES = 5
"""So many items are tried to claim where colleagues are faster."""

P = ParamSpec("P")


def not_found_when_erased(
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Answer 404 for an item that is out of reach, or whose conversation is erased meanwhile."""

    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except (ReviewItem.DoesNotExist, Decision.DoesNotExist, Session.DoesNotExist) as error:
            raise Http404 from error

    return wrapped


@require_safe
@not_found_when_erased
def item(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show why a turn stopped, with the citizen's message, and what can be done."""
    return _render_item(request, _load(request, pk), correct=request.GET.get(page.CORRECT, ""))


@require_POST
@not_found_when_erased
def preview(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show what a decision would lead to: exactly what the citizen will get.

    An approval in a crisis is asked about once more, on a step of its own. 422 with the page, the
    errors and the draft, where it would be refused.
    """
    if "again" in request.POST:
        return _render_item(request, _load(request, pk), request.POST)
    loaded, form = _load_form(request, pk)
    if form.version != loaded.item.version:
        return _conflict_page(request, loaded, page.change_message(loaded, request.user.pk))
    if not form.is_valid():
        return _render_item(request, loaded, request.POST, problems=form.problems)
    try:
        outcome = _outcome(request, pk, form)
    except Refused as refused:
        problems = page.refusal_problems(refused, form)
        return _render_item(request, loaded, request.POST, problems=problems)
    reading.record_read(loaded.item, member(request))
    context = page.preview_context(loaded, form, outcome)
    once_more = page.ONCE_MORE in request.POST and context["why_confirm"]
    return render(request, f"review/deciding/{'confirm' if once_more else 'preview'}.html", context)


@require_POST
@not_found_when_erased
def decide(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Take a decision: 303 to the item, or to the next one with ``next``.

    What has to be looked at first is shown, and nothing happens. 422 with the page and the draft
    where it is refused, 409 where somebody else was faster.
    """
    loaded, form = _load_form(request, pk)
    if form.version != loaded.item.version:
        return _conflict_page(request, loaded, page.change_message(loaded, request.user.pk))
    if form.action is None or not form.is_valid():
        return _render_item(request, loaded, request.POST, problems=form.problems)
    try:
        decision = deciding.decide(
            item_id=pk,
            actor=member(request),
            version=form.version,
            action=form.action,
            reason=form.cleaned_data["reason"],
            payload=form.payload(),
            delay=SECONDS_TO_UNDO,
        )
    except Unsourced:
        return preview(request, pk)
    except Refused as refused:
        problems = page.refusal_problems(refused, form)
        return _render_item(request, _load(request, pk), request.POST, problems=problems)
    except Conflict as conflict:
        return _conflict_page(request, _load(request, pk), str(conflict))
    just_decided.remember(request, decision)
    if "next" not in request.POST:
        return _redirect_to_item(request, pk)
    return _open_next(request, after=pk)


@require_POST
def next_item(request: HttpRequest) -> HttpResponse:
    """Take the most urgent item of the list that is free, and open it: 303.

    ``skip`` names one that is given back and not offered again in this session.
    """
    try:
        skip = UUID(request.POST.get("skip", ""))
    except ValueError:
        return _open_next(request)
    # Where somebody else has it by now, or it is gone, it is left alone all the same.
    with suppress(ClaimRefused, ReviewItem.DoesNotExist):
        claims.release(item_id=skip, actor=member(request))
    skipped = [*request.session.get(SKIPPED, []), str(skip)]
    request.session[SKIPPED] = skipped[-MOST_SKIPPED:]
    return _open_next(request)


def _open_next(request: HttpRequest, after: UUID | None = None) -> HttpResponse:
    """Claim the first item that is free and redirect to it; to the list where there is none."""
    user, filters = member(request), lists.list_filters(request)
    but = [UUID(pk) for pk in request.session.get(SKIPPED, [])] + ([after] if after else [])
    draft_name = str(after or "")
    for _ in range(TRIES):
        following = selectors.next_item(user, but=but, filters=filters)
        if following is None:
            break
        try:
            claims.claim(item_id=following.pk, actor=user)
        except (ClaimRefused, ReviewItem.DoesNotExist):
            but.append(following.pk)  # somebody was faster, or it may not be theirs
            continue
        address = lists.item_address(following.pk, filters)
        return _see_other(request, address, draft_name=draft_name)
    return _see_other(request, lists.queue_address(filters), draft_name=draft_name)


@require_POST
@not_found_when_erased
def check(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show what the gate says of a draft, as a part of the page."""
    _, form = _load_form(request, pk)
    problems = form.draft_problems
    if not problems:
        try:
            problems = page.at_fields(_outcome(request, pk, form).warnings, form)
        except Refused as refused:
            problems = page.refusal_problems(refused, form)
    return render(request, "review/deciding/_parts.html#checked", {"problems": problems})


@require_POST
@not_found_when_erased
def answer(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show the service that is chosen as the answer as the citizen would see it, as a part of the
    page."""
    loaded, form = _load_form(request, pk)
    context = {"served": page.served(loaded, member(request), form), "item": loaded.item}
    return render(request, "review/deciding/_answers.html#served", context)


@require_POST
@not_found_when_erased
def services(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show services that fit the words typed so far, as a part of the page."""
    loaded, form = _load_form(request, pk)
    if not isinstance(form.action_form, ServicePicker):
        raise Http404
    context = {"form": form.action_form, "item": loaded.item}
    return render(request, "review/deciding/_fields.html#services_found", context)


@require_POST
@not_found_when_erased
def insert(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Put a saved reply or the text of a similar case into the box of the chosen action, or of the
    talk: JSON with ``field``, ``text`` and the ``source`` that it stands on for a script, else the
    page with the draft."""
    loaded, data = _load(request, pk), request.POST.copy()
    text, source = replies.inserted(loaded.item, member(request), data)
    action = data.get("action", "")
    field = f"{action if action in TEXTS else Action.WRITE}-text"
    if "text" in data:
        field = "text"
    if request.headers.get("HX-Request") == "true":
        return JsonResponse({"field": field, "text": text, "source": source})
    data[field] = "\n\n".join(filter(None, [data.get(field, "").strip(), text]))
    if field == "text":
        context = {**_talk_context(request, pk), "draft": data[field]}
        return render(request, "review/talking/talk.html", context)
    data["action"] = field.removesuffix("-text")
    if source and source not in data.getlist(WriteForm.input_name):
        data.appendlist(WriteForm.input_name, source)
    return _render_item(request, loaded, data)


@require_POST
@not_found_when_erased
def undo(request: HttpRequest, pk: UUID, decision: UUID) -> HttpResponse:
    """Take a decision back, with a record of its own."""
    loaded = _load(request, pk)
    if decision not in [record.pk for record in loaded.item.decisions.all()]:
        raise Http404
    reason = request.POST.get("undo-reason", "")
    if "at-once" in request.POST:
        reason = gettext(labels.TAKEN_BACK)
    change = partial(deciding.undo, decision_id=decision, actor=member(request), reason=reason)
    return _change(request, pk, change)


@require_POST
@not_found_when_erased
def sign(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Sign an agency's part of a reply that several agencies answer."""
    _, form = _load_form(request, pk)
    change = partial(
        deciding.sign,
        item_id=pk,
        actor=member(request),
        version=form.version,
        agency=request.POST.get("agency", ""),
        reason=request.POST.get("sign-reason", ""),
    )
    return _change(request, pk, change)


def _change(request: HttpRequest, pk: UUID, change: Callable[[], object]) -> HttpResponse:
    """Change an item and redirect to it; 422 with the page where it is refused, 409 where somebody
    else was faster."""
    try:
        change()
    except Refused as refused:
        loaded, form = _load_form(request, pk)
        return _render_item(request, loaded, problems=page.refusal_problems(refused, form))
    except Conflict as conflict:
        return _conflict_page(request, _load(request, pk), str(conflict))
    return _redirect_to_item(request, pk)


def _load(request: HttpRequest, pk: UUID) -> LoadedItem:
    return selectors.load(pk, member(request))


def _load_form(request: HttpRequest, pk: UUID) -> tuple[LoadedItem, DecisionForm]:
    loaded = _load(request, pk)
    return loaded, page.decision_form(loaded, member(request), request.POST)


def _outcome(request: HttpRequest, pk: UUID, form: DecisionForm) -> Preview:
    """Return what a decision leads to; raises :class:`Refused` as the decision would."""
    action = form.action or Action.WRITE
    payload = form.payload()
    return deciding.preview(item_id=pk, actor=member(request), action=action, payload=payload)


def _render_item(
    request: HttpRequest,
    loaded: LoadedItem,
    data: QueryDict | None = None,
    *,
    status: int = 422,
    problems: Sequence[Problem] = (),
    **options: str,
) -> HttpResponse:
    """Return the page of an item; with ``problems`` it has the ``status``."""
    reading.record_read(loaded.item, member(request))
    filters = lists.list_filters(request)
    context = page.context(
        loaded, member(request), data, problems=problems, filters=filters, **options
    )
    rows = (row["id"] for row in context["aside"])
    record_listed(reading.LISTED, "items", rows, member(request))
    context |= {"just": just_decided.just_decided(request, filters)}
    context |= {"colleagues": item_context(request, loaded)}
    context |= replies.item_context(loaded.item, member(request))
    context |= {"list": filters.query, "queue_address": lists.queue_address(filters)}
    return render(request, "review/item/item.html", context, status=status if problems else 200)


def _conflict_page(request: HttpRequest, loaded: LoadedItem, message: str) -> HttpResponse:
    title = gettext("Your decision was not taken")
    problems = [Problem(message)]
    return _render_item(request, loaded, request.POST, status=409, problems=problems, title=title)


def _redirect_to_item(request: HttpRequest, pk: UUID) -> HttpResponse:
    address = lists.item_address(pk, lists.list_filters(request))
    return _see_other(request, address, draft_name=str(pk))


def _see_other(request: HttpRequest, address: str, *, draft_name: str = "") -> HttpResponse:
    """Redirect with 303; the browser forgets the draft of the name ``draft_name``, as it is stored
    now: a cookie for ``drafts.js``."""
    response = redirect(address)
    response.status_code = 303
    if draft_name:
        response.set_cookie(
            f"ieim-decided-{draft_name}",
            str(member(request).pk),
            max_age=timedelta(days=1),
            secure=settings.SESSION_COOKIE_SECURE,
            samesite="Lax",
        )
    return response


NEWEST = "newest"
"""The place on the page where one reads the newest message and writes."""


@require_safe
@not_found_when_erased
def talk(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The whole conversation, and a box to write in while the caseworker has it.

    For htmx, which looks again, what was said alone; and what can be done, once they have it no
    more.
    """
    context = _talk_context(request, pk)
    if request.headers.get("HX-Request") == "true":
        return render(request, "review/talking/_parts.html#again", {**context, "oob": True})
    return render(request, "review/talking/talk.html", context)


@require_POST
@not_found_when_erased
def say(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Say something to the citizen; 422 with the draft where it cannot be said.

    ``again`` only shows the page with the draft: what fits the words that services are searched by,
    and what of the text no source gives.
    """
    text = request.POST.get("text", "").replace("\r\n", "\n")
    if "again" in request.POST:
        return render(request, "review/talking/talk.html", _talk_context(request, pk, text))
    keys = [steps(value) for value in request.POST.getlist(CardPicker.input_name)]
    services = [dict(zip(("agency", "service"), key, strict=False)) for key in keys]
    change = partial(talking.say, text=text, services=services, seen=request.POST.getlist("seen"))
    return change_talk(request, pk, change, draft_name=f"{pk}-talk", draft=text)


@require_POST
@not_found_when_erased
def change_talk(
    request: HttpRequest,
    pk: UUID,
    change: Callable[..., object],
    draft_name: str = "",
    draft: str = "",
) -> HttpResponse:
    """Change a conversation (what the address is for) and show it.

    303, 409 where somebody else has the item, 422 where it cannot be done.
    """
    try:
        change(item_id=pk, actor=member(request))
    except (ClaimRefused, CannotTalk) as refused:
        problem, status = str(refused), 409 if isinstance(refused, ClaimRefused) else 422
    else:
        address = f"{reverse('review:talk', args=[pk])}#{NEWEST}"
        return _see_other(request, address, draft_name=draft_name)
    context = {**_talk_context(request, pk, draft), "problem": problem}
    return render(request, "review/talking/talk.html", context, status=status)


def _talk_context(request: HttpRequest, pk: UUID, draft: str = "") -> dict[str, Any]:
    loaded, user = _load(request, pk), member(request)
    talk = talk_view(pk, user)
    picker = CardPicker(FormContext("", talk["turn"], {}), request.POST)
    services = picker.chosen_services
    doubts = talking.doubts(talk["turn"], draft[: texts.MAX_TEXT], services)
    saved = replies.item_context(loaded.item, user)
    return {**saved, "talk": talk, "draft": draft, "picker": picker, "doubts": doubts}


@require_POST
def golden(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Keep the decision of an item as a golden question, or say why it makes none."""
    user = member(request)
    item = get_object_or_404(visible(user).select_related("turn__session"), pk=pk)
    try:
        question, new = questions.store(
            case=evaluation_cases.case_of(item), by=user, turn_id=item.turn_id
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
