"""The page on which a caseworker talks with a citizen; live by looking again every few seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from ieim.people.access import member
from review.claims.services import ClaimRefused, ClaimTaken
from review.item.views import forget
from review.models import ReviewItem
from review.talking import services
from review.talking.selectors import talk_view
from review.talking.services import CannotTalk

NEWEST = "newest"
"""The place on the page where one reads the newest message and writes."""


@never_cache
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


@never_cache
@require_POST
def begin(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Take the conversation over."""
    return _answer(request, pk, services.begin)


@never_cache
@require_POST
def say(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Say something to the citizen; 422 with the draft where it cannot be said."""
    text = request.POST.get("text", "").replace("\r\n", "\n")
    answer = _answer(request, pk, services.say, text=text)
    return forget(request, answer, f"{pk}-talk") if answer.status_code == 303 else answer


@never_cache
@require_POST
def hand_back(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Let the assistant answer again."""
    return _answer(request, pk, services.hand_back)


def _answer(
    request: HttpRequest, pk: UUID, change: Callable[..., object], **said: str
) -> HttpResponse:
    """Do something and show the conversation: 303, 409 where somebody else has it, 422."""
    try:
        change(item_id=pk, actor=member(request), **said)
    except ReviewItem.DoesNotExist as error:
        raise Http404 from error
    except (ClaimTaken, ClaimRefused) as taken:
        problem, status = str(taken), 409
    except CannotTalk as refused:
        problem, status = refused.message, 422
    else:
        response = redirect(f"{reverse('review:talk', args=[pk])}#{NEWEST}")
        response.status_code = 303
        return response
    context = {**_context(request, pk), "problem": problem, "draft": said.get("text", "")}
    return render(request, "review/talking/talk.html", context, status=status)


def _context(request: HttpRequest, pk: UUID) -> dict[str, Any]:
    try:
        return {"talk": talk_view(pk, member(request))}
    except ReviewItem.DoesNotExist as error:
        raise Http404 from error
