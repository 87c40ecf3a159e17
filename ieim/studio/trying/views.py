"""The playground, the golden questions of a proposal, and the list of golden questions."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from conversations.turns.refusing import Refused
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.bundles.bundle import BundleError
from ieim.people.access import member
from ieim.people.models import User
from ieim.people.reading import record_listed
from ieim.people.scope import agencies_of
from ieim.pipeline.message.screen import refusal
from ieim.studio.gaps import selectors as gaps
from ieim.studio.models import GoldenQuestion, Proposal
from ieim.studio.proposals.differences import Kind
from ieim.studio.proposals.selectors import changes
from ieim.studio.trying import selectors, services
from ieim.studio.trying.playground import NoModel, ask_both
from ieim.studio.trying.presenters import difference, side_view

PAGE_SIZE = 50
READ_OR_POST = require_http_methods(["GET", "HEAD", "POST"])


def _message(request: HttpRequest) -> tuple[str, str]:
    """Return the question of a form and its validation error."""
    text = request.POST.get("text", "").replace("\r\n", "\n")
    problem = refusal(text)
    return text, Refused(problem.sentence, figures=problem.figures).message if problem else ""


@sensitive_post_parameters("text")
@READ_OR_POST
def playground(request: HttpRequest) -> HttpResponse:
    """Ask the draft and the published release; nothing is stored."""
    (text, error), current = _message(request), knowledge.current_number()
    number = request.POST.get("set", request.GET.get("set", ""))
    sets = Proposal.objects.defer("content")
    chosen = get_object_or_404(sets, pk=int(number)) if re.fullmatch(r"\d{1,9}", number) else None
    if request.method != "POST":
        text = _suggested(request, chosen)
    context: dict[str, Any] = {"text": text, "current": current, "chosen": chosen}
    status = 200
    if request.method == "POST" and error:
        context["error"], status = error, 422
    elif request.method == "POST":
        try:
            sides = ask_both(text, proposal=chosen)
        except BundleError as invalid:
            context["problems"], status = selectors.problems_of(invalid), 422
        except NoModel as unavailable:
            context["away"], status = str(unavailable), 503
        else:
            published = sides[1] if len(sides) > 1 else None
            context["difference"] = difference(sides[0], published, current=current)
            context["sides"] = list(map(side_view, sides))
    return render(request, "studio/trying/playground.html", context, status=status)


def _suggested(request: HttpRequest, chosen: Proposal | None) -> str:
    """Return the question of the gap that the address names, or else the first new example question
    of the set; "" for none."""
    user = member(request)
    gap = gaps.gap_of(request.GET.get("gap", ""), user)
    if gap is not None:
        record_listed(gaps.LISTED, "turns", [gap.turn_id], user)
        return gap.text
    try:
        changed = changes(chosen) if chosen is not None else []
    except BundleError:
        return ""  # said once a question is asked
    added = (c.name for c in changed if c.table == "questions" and c.kind is Kind.ADDED)
    return next(added, "")


@require_safe
def golden(request: HttpRequest, proposal: int) -> HttpResponse:
    """Show the golden questions of a proposal and what changes; start a run or follow it."""
    stored = get_object_or_404(Proposal.objects.defer("content"), pk=proposal)
    page = selectors.golden_page(stored, member(request))
    names = (row["name"] for kind in page["kinds"] for row in kind["rows"] if row["text"])
    record_listed(selectors.LISTED, "questions", names, member(request))
    return render(request, "studio/trying/golden.html", {"page": page})


@require_POST
def start(request: HttpRequest, proposal: int) -> HttpResponse:
    """Start a run, or say why not."""
    stored = get_object_or_404(Proposal.objects.defer("content"), pk=proposal)
    try:
        services.start(proposal=stored, by=member(request))
    except services.GoldenError as error:
        messages.error(request, str(error))
    return redirect("trying:golden", stored.pk)


@require_safe
def questions(request: HttpRequest) -> HttpResponse:
    """List the golden questions, the newest first."""
    visible = selectors.questions_of(request.user)
    page = Paginator(visible, PAGE_SIZE).get_page(request.GET.get("page"))
    release = knowledge.current_release()
    rows = [selectors.question_row(question, release) for question in page]
    names = (question.name for question in page)
    record_listed(selectors.LISTED, "questions", names, member(request))
    return render(request, "studio/trying/questions.html", {"page": page, "rows": rows})


@sensitive_post_parameters("text")
@READ_OR_POST
def add(request: HttpRequest) -> HttpResponse:
    """Write a golden question, or an example question: first the text, then the right outcome.

    Both are sent by POST, because addresses are logged.
    """
    user, release = member(request), knowledge.current_release()
    fields = {name: request.POST.get(name, "") for name in ("note", "search", "expected", "turn")}
    text, error = _message(request)
    try:
        turn_id = UUID(fields["turn"]) if fields["turn"] else None
    except ValueError:
        turn_id, fields["turn"] = None, ""
        error = gettext("Start again from the citizen's feedback.")
    context: dict[str, Any] = {**fields, "text": text, "published": release is not None}
    if request.method != "POST" or release is None:
        return render(request, "studio/trying/question_add.html", context)
    words = fields["search"] or text
    choices = [] if error else selectors.choices(release, words, agencies_of(user))
    is_example = "example" in request.POST
    if not error and (is_example or "keep" in request.POST):
        chosen = (choice for choice in choices if choice.value == fields["expected"])
        expected = next((choice.expected for choice in chosen), None)
        if expected is None or (is_example and not expected["service"]):
            error = gettext("Choose a service.") if is_example else gettext("Choose what is right.")
            context["unchosen"] = True
        else:
            try:
                message = _save(text, expected, request.POST, user, turn_id)
            except services.GoldenError as refused:
                error = str(refused)
            else:
                messages.success(request, message)
                return redirect("trying:questions")
    context |= {"choices": choices, "error": error}
    status = 422 if error else 200
    return render(request, "studio/trying/question_add.html", context, status=status)


def _save(
    text: str, expected: dict[str, Any], data: QueryDict, user: User, turn_id: UUID | None
) -> str:
    """Store a golden question, or an example question of the draft; return the message."""
    if "example" in data:
        owner = {"agency": expected["agencies"][0], "service": expected["service"]}
        services.add_example(text=text, owner=owner, by=user, turn_id=turn_id)
        return gettext("The question is an example question of the service, in the draft.")
    note = data.get("note", "")[:500]
    _, is_new = services.store_written(
        text=text, expected=expected, note=note, by=user, turn_id=turn_id
    )
    if is_new:
        return gettext("The golden question is kept.")
    return gettext("This question is a golden question already; it was left as it is.")


@READ_OR_POST
def remove(request: HttpRequest, name: str) -> HttpResponse:
    """Ask for confirmation, then remove a golden question."""
    question = get_object_or_404(GoldenQuestion, name=name)
    if not selectors.visible(question, agencies_of(request.user)):
        raise Http404
    if request.method != "POST":
        record_listed(selectors.LISTED, "questions", [question.name], member(request))
        row = selectors.question_row(question, knowledge.current_release())
        return render(request, "studio/trying/question_remove.html", {"row": row})
    services.remove(question=question, by=member(request))
    messages.success(request, gettext("The golden question is removed."))
    return redirect("trying:questions")


app_name = "trying"

urlpatterns = [
    path("", playground, name="playground"),
    path("golden/<int:proposal>/", golden, name="golden"),
    path("golden/<int:proposal>/start/", start, name="start"),
    path("questions/", questions, name="questions"),
    path("questions/add/", add, name="question_add"),
    path("questions/<str:name>/remove/", remove, name="question_remove"),
]
