"""Golden questions: the list, adding one by hand, throwing one away."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from conversations.turns.refusing import Refused
from ieim.knowledge import selectors as knowledge
from ieim.people.access import member
from ieim.people.scope import agencies_of
from ieim.pipeline.message.screen import MAX_CHARS, refusal
from ieim.studio.models import GoldenQuestion
from ieim.studio.trying import selectors, services
from ieim.studio.trying.golden import keeping as golden
from ieim.studio.trying.presenters import question_view

PAGE = 50


@never_cache
@require_safe
def questions(request: HttpRequest) -> HttpResponse:
    """The golden questions, the newest first."""
    kept = golden.questions_of(request.user)
    page = Paginator(kept, PAGE).get_page(request.GET.get("page"))
    release = knowledge.current_release()
    rows = [question_view(question, release) for question in page]
    return render(request, "studio/trying/questions.html", {"page": page, "rows": rows})


@never_cache
@sensitive_post_parameters("text")
@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest) -> HttpResponse:
    """Write a golden question: first the question, then what is right; both by POST, because an
    address with the words in it would be logged."""
    user, release = member(request), knowledge.current_release()
    data = {name: request.POST.get(name, "") for name in ("text", "note", "search", "expected")}
    data["text"] = data["text"].replace("\r\n", "\n")
    page = {**data, "limit": MAX_CHARS, "published": release is not None}
    if request.method != "POST" or release is None:
        return render(request, "studio/trying/question_add.html", page)
    scope = agencies_of(user)
    page["error"] = None
    if problem := refusal(data["text"]):
        page["error"] = Refused(problem.sentence, figures=problem.figures).message
    else:
        page["choices"] = selectors.choices(release, data["search"] or data["text"], scope)
    if page["error"] is None and "keep" in request.POST:
        expected = selectors.expected(release, data["expected"], scope)
        if expected is None:
            page["error"], page["unchosen"] = gettext("Choose what is right."), True
        else:
            try:
                _, new = services.keep(
                    text=data["text"], expected=expected, note=data["note"][:500], by=user
                )
            except services.GoldenError as error:
                page["error"] = str(error)
            else:
                known = gettext("This question is a golden question already; it was left as it is.")
                messages.success(request, gettext("The golden question is kept.") if new else known)
                return redirect("trying:questions")
    return render(
        request, "studio/trying/question_add.html", page, status=422 if page["error"] else 200
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: HttpRequest, name: str) -> HttpResponse:
    """Ask whether a golden question shall go, and remove it."""
    question = get_object_or_404(GoldenQuestion, name=name)
    if not golden.visible(question, agencies_of(request.user)):
        raise Http404
    if request.method != "POST":
        row = question_view(question, knowledge.current_release())
        return render(request, "studio/trying/question_remove.html", {"row": row})
    golden.remove(question=question, by=member(request))
    messages.success(request, gettext("The golden question is removed."))
    return redirect("trying:questions")
