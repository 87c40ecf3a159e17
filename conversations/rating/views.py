"""The form under an answer: whether it was useful, and why not."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST
from django_htmx.http import reswap, trigger_client_event

from conversations import selectors
from conversations.chat import cookies
from conversations.models import Session
from conversations.rating import services
from conversations.turns import refusing
from ieim.people import addresses


@never_cache
@sensitive_post_parameters()
@require_POST
def rate(request: HttpRequest, turn_id: UUID) -> HttpResponse:
    """Take the verdict on an answer of this browser's conversation.

    With "no" may come why: a reason and words. 303 to the page at that answer, for htmx the line
    beneath it; 400 for what is no verdict, 422 for a reason or words that cannot be taken, 429 for
    too many, 404 where there is nothing to rate.
    """
    is_htmx = request.headers.get("HX-Request") == "true"
    verdict = {"yes": True, "no": False}.get(request.POST.get("useful", ""))
    if verdict is None:
        return render(request, "conversations/rating/rating_problem.html", status=400)
    # One form serves all answers of the page, so each names its fields by its turn.
    reason, text = (request.POST.get(f"{name}-{turn_id}", "") for name in ("reason", "text"))
    secret = cookies.secret_of_request(request)
    session = selectors.session_for_secret(secret) if secret else None
    try:
        if session is None:
            raise services.NothingToRate
        services.rate(
            session_id=session.pk,
            turn_id=turn_id,
            useful=verdict,
            reason="" if verdict else reason,
            text="" if verdict else text.replace("\r\n", "\n"),
            address=addresses.of_request(request),
        )
    except refusing.TooMany as refused:
        return _too_many(request, refused)
    except services.FeedbackRefused as refused:
        told = {"message": refused.message}
        return render(request, "conversations/rating/rating_problem.html", told, status=422)
    except (Session.DoesNotExist, services.NothingToRate):
        response = render(request, "404.html", status=404)
        # The page is of a conversation that is gone: with htmx it looks again.
        response.headers["HX-Refresh"] = "true"
        return response
    turn = selectors.turn_view(turn_id)
    # Help stands above the answer, words about it beneath: whoever wrote them is led there.
    in_danger = bool(text and turn.feedback and turn.contacts)
    place = f"{turn.dom_id}-{'help' if in_danger else 'rating'}"
    if is_htmx:
        # The focus has the help lines read out: as an alert too they would be read twice.
        shown = {"turn": turn, "heard": {turn.id}}
        response = render(request, "conversations/rating/_rated.html", shown)
        if in_danger:
            trigger_client_event(response, "help", {"id": place}, after="settle")
        return response
    response = redirect(f"{reverse('conversations:chat')}#{place}")
    response.status_code = 303
    return response


def _too_many(request: HttpRequest, refused: refusing.TooMany) -> HttpResponse:
    """Say so where the page stands: what was typed stays there, and htmx shows no other status."""
    if request.headers.get("HX-Request") == "true":
        told = render(request, "conversations/rating/_too_many.html", {"refused": refused})
        return reswap(told, "none")
    told = render(
        request,
        "conversations/rating/rating_problem.html",
        {"message": refused.message, "refused": refused},
        status=429,
    )
    told.headers["Retry-After"] = str(refused.retry_after)
    return told
