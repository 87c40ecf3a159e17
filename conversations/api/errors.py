"""Every error of the API as problem details (RFC 9457), whoever made it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from conversations import reactions
from conversations.models import Session
from conversations.person import services as person
from conversations.turns import choosing, refusing, services
from conversations.turns.locking import NotInSession
from conversations.webhooks import outbox
from ieim.pipeline.findings import pointer

MEDIA_TYPE = "application/problem+json"
ROOT = "/api/"

Slug = Literal[
    "turn-pending",
    "not-ready",
    "switched-off",
    "message-refused",
    "personal-data",
    "feedback-refused",
    "client-id-reused",
    "choice-late",
    "choice-unknown",
    "not-answered",
    "person-asked",
    "webhook-unknown",
    "rate-limit",
]

STATUSES: dict[Slug, tuple[int, str]] = {
    "turn-pending": (409, "The last message is still being worked on"),
    "client-id-reused": (409, "The client_id stands for another text"),
    "choice-late": (409, "There is nothing to choose any more"),
    "not-answered": (409, "This message has no answer"),
    "person-asked": (409, "A person was asked for already"),
    "choice-unknown": (422, "This was not offered"),
    "message-refused": (422, "The message cannot be taken"),
    "feedback-refused": (422, "What was said of the answer cannot be taken"),
    "personal-data": (422, "The message has an identity, card or account number in it"),
    "webhook-unknown": (422, "There is no webhook of this name"),
    "rate-limit": (429, "Too many requests"),
    "not-ready": (503, "Nothing has been published yet"),
    "switched-off": (503, "An administrator has switched this off"),
}
"""The problems with a name of their own; every other one is its HTTP status alone."""


class Problem(exceptions.APIException):
    """A problem with a name of its own; ``wait`` is in seconds, for Retry-After."""

    def __init__(
        self,
        slug: Slug,
        detail: str,
        *,
        wait: int | None = None,
        contacts: Sequence[str] = (),
        numbers: Mapping[str, Any] | None = None,
    ) -> None:
        self.status_code = STATUSES[slug][0]
        super().__init__(detail, code=slug)
        self.slug = slug
        self.wait = wait
        self.contacts = list(contacts)
        self.numbers = dict(numbers or {})


class TooLarge(exceptions.APIException):
    status_code = 413
    default_detail = "The body is too large."


class LengthRequired(exceptions.APIException):
    status_code = 411
    default_detail = "Send the body with a Content-Length, not in chunks."


def _problem_of_message(refused: refusing.Refused) -> Problem:
    """Return the problem of a message that was not taken, with its help lines."""
    wait: int | None = getattr(refused, "retry_after", None)
    slug: Slug = "message-refused"
    if wait is not None:
        slug = "rate-limit"
    elif isinstance(refused, refusing.SwitchedOff):
        slug = "switched-off"
    elif isinstance(refused, refusing.ClientIdReused):
        slug = "client-id-reused"
    elif isinstance(refused, person.AskedAlready):
        slug = "person-asked"
    elif isinstance(refused, refusing.NotChosen):
        slug = "personal-data"
    elif refused.args[0] == refusing.STILL_WORKING:
        slug = "turn-pending"
    elif refused.args[0] == refusing.NO_RELEASE:
        slug = "not-ready"
    contacts = [contact.text for contact in refused.contacts]
    numbers = refused.details() if isinstance(refused, refusing.NotChosen) else None
    return Problem(slug, refused.message, wait=wait, contacts=contacts, numbers=numbers)


def as_problem(error: Exception) -> Exception:
    """Return a refusal of this app's services as the API tells it; every other error as it is."""
    match error:
        case choosing.ChoiceRefused():
            return Problem("choice-late" if error.late else "choice-unknown", error.message)
        case services.NotAnswered():
            return Problem("not-answered", error.message)
        case reactions.FeedbackRefused():
            return Problem("feedback-refused", error.message)
        case outbox.NoWebhook():
            return Problem("webhook-unknown", str(error))
        case refusing.Refused():
            return _problem_of_message(error)
        case NotInSession():
            return exceptions.NotFound(error.detail)
        case Session.DoesNotExist():
            return exceptions.NotFound()
    return error


def problem(status: int, detail: str, *, slug: str | None = None) -> dict[str, Any]:
    """Return problem details; without a ``slug`` they say what the status says."""
    titles = {name: title for name, (_, title) in STATUSES.items()}
    return {
        "type": f"urn:ieim:problem:{slug}" if slug else "about:blank",
        "title": titles[slug] if slug in titles else HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }


def answer(status: int, detail: str) -> HttpResponse:
    """Return problem details as an answer of their own, where no view of the API gives one."""
    body = json.dumps(problem(status, detail))
    return HttpResponse(body, content_type=MEDIA_TYPE, status=status)


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """REST framework's exception handler: its status and headers, our body.

    None for what is no answer to a bad request: that is logged and becomes a 500.
    """
    error = as_problem(error)
    response = exception_handler(error, context)
    if response is None:
        return None
    status = response.status_code
    if isinstance(error, exceptions.ValidationError):
        body = problem(status, "Some fields of the body are missing or cannot be used.")
        body["errors"] = list(_field_errors(error.detail, ""))
    else:
        slug = getattr(error, "slug", None)
        if isinstance(error, exceptions.Throttled):
            slug = "rate-limit"
        detail = getattr(error, "detail", None) or "There is nothing at this address."
        body = problem(status, str(detail), slug=slug)
        for member in ("errors", "contacts"):
            if value := getattr(error, member, None):
                body[member] = value
        body |= getattr(error, "numbers", {})
    response.data = body
    response.content_type = MEDIA_TYPE
    return response


def _field_errors(detail: Any, path: str) -> Iterator[dict[str, str]]:
    if isinstance(detail, dict):
        for name, inner in detail.items():
            step = "" if name == "non_field_errors" else pointer(name)
            yield from _field_errors(inner, path + step)
    elif isinstance(detail, list):
        for inner in detail:
            yield from _field_errors(inner, path)
    else:
        yield {"pointer": path, "detail": str(detail)}


def problem_pages(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: an error page under ``/api/`` becomes problem details.

    For what never reaches a view of the API, such as a wrong Host header, and for our own faults.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        media_type = response.headers.get("Content-Type", "")
        if (
            response.status_code >= 400
            and request.path.startswith(ROOT)
            and not media_type.startswith(MEDIA_TYPE)
        ):
            detail = "Something went wrong on our side. Please try again later."
            if response.status_code < 500:
                detail = "The request cannot be used as it is."
            response.content = json.dumps(problem(response.status_code, detail)).encode()
            del response.headers["Content-Encoding"]
            response.headers["Content-Type"] = MEDIA_TYPE
            response.headers["Content-Length"] = str(len(response.content))
        return response

    return middleware
