"""What the plain requests of a citizen's pages share: whose they are, and how they are answered."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from conversations import selectors
from conversations.chat import cookies
from conversations.models import Session
from conversations.turns.locking import NotInSession

P = ParamSpec("P")


def session_of(request: HttpRequest) -> Session | None:
    """Return the session of the browser's cookie, None before its first message."""
    secret = cookies.secret_of_request(request)
    return selectors.session_for_secret(secret) if secret else None


def in_session(
    view: Callable[Concatenate[HttpRequest, Session, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Give a view the session of the browser's cookie; the 404 page without one, and for what is
    not there in it."""

    @wraps(view)
    def with_session(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        session = session_of(request)
        try:
            if session is not None:
                return view(request, session, *args, **kwargs)
        except (Session.DoesNotExist, NotInSession):
            pass
        return not_found(request)

    return with_session


def is_htmx(request: HttpRequest) -> bool:
    """Whether htmx asks, which swaps a part of the page."""
    return request.headers.get("HX-Request") == "true"


def redirect_to_chat(fragment: str = "") -> HttpResponse:
    """Return a 303 to the conversation, at the element with the id ``place``."""
    address = reverse("conversations:chat")
    response = redirect(f"{address}#{fragment}" if fragment else address)
    response.status_code = 303
    return response


def not_found(request: HttpRequest) -> HttpResponse:
    """Return the 404 page; an open page of a conversation that is gone looks again.

    Not by Http404: with DEBUG on, citizens' own mistakes would end on Django's page for faults.
    """
    response = render(request, "404.html", status=404)
    response.headers["HX-Refresh"] = "true"
    return response


def too_many(response: HttpResponse, retry_after: int) -> HttpResponse:
    """Make a response a 429 that may be tried again after ``retry_after`` seconds."""
    response.status_code = 429
    response.headers["Retry-After"] = str(retry_after)
    return response
