"""The playground, the golden questions of a proposal, and the list of golden questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
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
from ieim.people.reading import note_listed
from ieim.people.scope import agencies_of
from ieim.pipeline.message.screen import MAX_CHARS, refusal
from ieim.studio.models import GoldenQuestion, Proposal
from ieim.studio.trying import asking, selectors, services
from ieim.studio.trying.comparing import difference
from ieim.studio.trying.presenters import question_view, side_view

PAGE = 50
READ_OR_POST = require_http_methods(["GET", "HEAD", "POST"])


def _typed(request: HttpRequest) -> tuple[str, str]:
    """Return the question that was typed, and what is wrong with it."""
    text = request.POST.get("text", "").replace("\r\n", "\n")
    problem = refusal(text)
    error = Refused(problem.sentence, figures=problem.figures).message if problem else ""
    return text, error


@sensitive_post_parameters("text")
@READ_OR_POST
def playground(request: HttpRequest) -> HttpResponse:
    """Ask the draft and the published release; nothing is stored."""
    (text, error), current = _typed(request), knowledge.current_number()
    page: dict[str, Any] = {"text": text, "limit": MAX_CHARS, "current": current}
    status = 200
    if request.method == "POST" and error:
        page["error"], status = error, 422
    elif request.method == "POST":
        try:
            draft, *others = asking.ask_both(text)
        except BundleError as bad:
            page["problems"], status = selectors.problems_of(bad), 422
        except asking.NoModel as away:
            page["away"], status = str(away), 503
        else:
            published = others[0] if others else None
            page["difference"] = difference(draft, published, current=current)
            page["sides"] = [side_view(side, text) for side in (draft, *others)]
    return render(request, "studio/trying/playground.html", page, status=status)


@require_safe
def golden(request: HttpRequest, proposal: int) -> HttpResponse:
    """The golden questions of a proposal: start them, watch them, read what changes."""
    found = get_object_or_404(Proposal.objects.defer("content"), pk=proposal)
    page = selectors.golden_page(found, member(request))
    seen = (row["name"] for kind in page.kinds for row in kind["rows"] if row["text"])
    note_listed(selectors.LISTED, "questions", seen, member(request))
    return render(request, "studio/trying/golden.html", {"page": page})


@require_POST
def start(request: HttpRequest, proposal: int) -> HttpResponse:
    """Start a run, or say why not."""
    found = get_object_or_404(Proposal.objects.defer("content"), pk=proposal)
    try:
        services.start(proposal=found, by=member(request))
    except services.GoldenError as error:
        messages.error(request, str(error))
    return redirect("trying:golden", found.pk)


@require_safe
def questions(request: HttpRequest) -> HttpResponse:
    """The golden questions, the newest first."""
    found = selectors.questions_of(request.user)
    page = Paginator(found, PAGE).get_page(request.GET.get("page"))
    release = knowledge.current_release()
    rows = [question_view(question, release) for question in page]
    note_listed(
        selectors.LISTED, "questions", (question.name for question in page), member(request)
    )
    return render(request, "studio/trying/questions.html", {"page": page, "rows": rows})


@sensitive_post_parameters("text")
@READ_OR_POST
def add(request: HttpRequest) -> HttpResponse:
    """Write a golden question: first the question, then what is right; both by POST, because an
    address with the words in it would be logged."""
    user, release = member(request), knowledge.current_release()
    data = {name: request.POST.get(name, "") for name in ("note", "search", "expected", "turn")}
    data["text"], error = _typed(request)
    if not _is_turn(data["turn"]):
        data["turn"], error = "", gettext("Start again from the citizen's feedback.")
    page: dict[str, Any] = {**data, "limit": MAX_CHARS, "published": release is not None}
    if request.method != "POST" or release is None:
        return render(request, "studio/trying/question_add.html", page)
    scope = agencies_of(user)
    if not error:
        page["choices"] = selectors.choices(release, data["search"] or data["text"], scope)
    is_example = "example" in request.POST
    if not error and (is_example or "keep" in request.POST):
        expected = selectors.expected(release, data["expected"], scope)
        if expected is None or (is_example and not expected["service"]):
            error = gettext("Choose a service.") if is_example else gettext("Choose what is right.")
            page["unchosen"] = True
        else:
            keep = _keep_example if is_example else _keep_golden
            try:
                messages.success(request, keep(data, expected, user))
            except services.GoldenError as refused:
                error = str(refused)
            else:
                return redirect("trying:questions")
    page["error"] = error
    return render(request, "studio/trying/question_add.html", page, status=422 if error else 200)


def _keep_golden(data: Mapping[str, str], expected: dict[str, Any], by: User) -> str:
    """Keep a golden question, and return what to say. Raises GoldenError."""
    _, new = services.keep_written(
        text=data["text"],
        expected=expected,
        note=data["note"][:500],
        by=by,
        turn_id=_turn_id(data),
    )
    added = gettext("The golden question is kept.")
    notice = gettext("This question is a golden question already; it was left as it is.")
    return added if new else notice


def _keep_example(data: Mapping[str, str], expected: dict[str, Any], by: User) -> str:
    """Make an example question of the draft, and return what to say. Raises GoldenError."""
    services.add_example(
        text=data["text"],
        agency=expected["agencies"][0],
        service=expected["service"],
        by=by,
        turn_id=_turn_id(data),
    )
    return gettext("The question is an example question of the service, in the draft.")


def _turn_id(data: Mapping[str, str]) -> UUID | None:
    return UUID(data["turn"]) if data["turn"] else None


def _is_turn(given: str) -> bool:
    """Whether it is the id of a turn, or none."""
    try:
        return not given or bool(UUID(given))
    except ValueError:
        return False


@READ_OR_POST
def remove(request: HttpRequest, name: str) -> HttpResponse:
    """Ask whether a golden question shall go, and remove it."""
    question = get_object_or_404(GoldenQuestion, name=name)
    if not selectors.visible(question, agencies_of(request.user)):
        raise Http404
    if request.method != "POST":
        note_listed(selectors.LISTED, "questions", [question.name], member(request))
        row = question_view(question, knowledge.current_release())
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
