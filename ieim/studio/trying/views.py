"""The playground, and the golden questions of a proposal."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from conversations.turns.refusing import Refused
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.bundles.bundle import BundleError
from ieim.people.access import member
from ieim.pipeline.message.screen import MAX_CHARS, refusal
from ieim.studio.models import Proposal
from ieim.studio.trying import comparing, selectors, services
from ieim.studio.trying.comparing import NoModel, Side
from ieim.studio.trying.differences import difference
from ieim.studio.trying.presenters import side_view


@never_cache
@sensitive_post_parameters("text")
@require_http_methods(["GET", "HEAD", "POST"])
def playground(request: HttpRequest) -> HttpResponse:
    """Ask the draft beside the published release; nothing of it is stored."""
    text = request.POST.get("text", "").replace("\r\n", "\n")
    page: dict[str, Any] = {"text": text, "limit": MAX_CHARS, "current": knowledge.current_number()}
    status = 200
    if request.method == "POST":
        if problem := refusal(text):
            page["error"], status = Refused(problem.sentence, figures=problem.figures).message, 422
        else:
            answered, status = _answered(text, page["current"])
            page |= answered
    return render(request, "studio/trying/playground.html", page, status=status)


def _answered(text: str, current: int | None) -> tuple[dict[str, Any], int]:
    try:
        sides = comparing.ask_both(text)
    except BundleError as error:
        return {"problems": selectors.problems_of(error)}, 422
    except NoModel as error:
        return {"away": str(error)}, 503
    return _compared(text, sides, current), 200


def _compared(text: str, sides: tuple[Side, ...], current: int | None) -> dict[str, Any]:
    draft, published = sides[0], sides[1] if len(sides) > 1 else None
    return {
        "difference": difference(draft, published, current=current),
        "sides": [side_view(side, text) for side in sides],
    }


@never_cache
@require_safe
def golden(request: HttpRequest, proposal: int) -> HttpResponse:
    """The golden questions of a proposal: start them, watch them, read what changes."""
    found = get_object_or_404(Proposal.objects.defer("content"), pk=proposal)
    page = selectors.golden_page(found, member(request))
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
