"""The citizen's page to ask for a person; works by plain requests."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.text import Truncator
from django.views.decorators.http import require_http_methods, require_POST

from conversations import selectors
from conversations.chat import cookies
from conversations.chat.presenters import TurnView
from conversations.chat.responses import redirect_to_chat, session_of, too_many
from conversations.models import Session
from conversations.person import contacts, hours, services
from conversations.person import selectors as people
from conversations.person.models import Way
from conversations.person.services import RequestDetails
from conversations.turns import refusing
from conversations.turns import services as turns
from ieim.people import addresses
from ieim.pipeline.message.screen import screen

EXCERPT = 70
"""Characters of a question that the list of them shows."""


@require_http_methods(["GET", "HEAD", "POST"])
def person(request: HttpRequest) -> HttpResponse:
    """What a request for a person needs, or what became of it; a post asks for one.

    303 to the page at the request; 422 with the draft and what is wrong, 429 for too many.
    """
    secret = cookies.secret_of_request(request)
    if request.method != "POST":
        return _page(request, secret)
    secret = secret or turns.new_secret()
    try:
        person_request = services.ask(
            digest=turns.key_of(secret),
            details=_details(request),
            address=addresses.of_request(request),
        )
    except refusing.Refused as refused:
        response = _page(request, secret, refused)
    else:
        response = redirect_to_chat(f"turn-{person_request.turn_id}")
    cookies.set_cookie(response, secret)
    return response


@require_POST
def withdraw(request: HttpRequest) -> HttpResponse:
    """Take the request of this browser's conversation back: 303 to the page."""
    session = session_of(request)
    try:
        if session is not None:
            services.withdraw(session_id=session.pk)
    except Session.DoesNotExist:
        pass  # The page shows that it is gone.
    return redirect_to_chat()


def _details(request: HttpRequest) -> RequestDetails:
    """Return the details in a form; an invalid turn id becomes one that does not exist."""
    form = request.POST
    about = form.get("about", "")
    try:
        turn = UUID(about) if about else None
    except ValueError:
        turn = UUID(int=0)
    channel = form.get("way", "")
    return RequestDetails(
        text=form.get("text", "").replace("\r\n", "\n"),
        about=turn,
        way=channel,
        contact=form.get(channel, "") if channel in (Way.EMAIL, Way.CALL) else "",
        time=form.get("time", ""),
    )


def _excerpt(turn: TurnView) -> str:
    words = " ".join(screen(turn.text).text.split())
    return f"{turn.number}. {Truncator(words).chars(EXCERPT)}"


def _about(request: HttpRequest, questions: Sequence[tuple[str, str, str]]) -> str:
    """Return the question that the link is beneath which led here, else the last one."""
    ids = [id_ for id_, _, _ in questions]
    about = request.GET.get("about", "")
    return about if about in ids else next(reversed(ids), "")


def _page(
    request: HttpRequest, secret: str | None, refused: refusing.Refused | None = None
) -> HttpResponse:
    now = timezone.now()
    chat = selectors.chat_view(secret=secret)
    session = selectors.session_for_secret(secret) if secret else None
    person_request = people.open_request(session.pk) if session else None
    questions = [
        (str(t.id), _excerpt(t), t.language) for t in chat.turns if t.text and not t.person
    ]
    context = {
        "chat": chat,
        "person_request": person_request,
        # The citizen's own, to be checked by them; nobody else has this page.
        "contact": contacts.readable(person_request.contact) if person_request else "",
        "questions": questions,
        "about": request.POST.get("about", "") if refused else _about(request, questions),
        "opening": hours.opening(now),
        "slots": hours.slots(now),
        "refused": refused,
        "field": getattr(refused, "field", ""),
        "draft": request.POST,
    }
    response = render(
        request, "conversations/person/person.html", context, status=422 if refused else 200
    )
    if isinstance(refused, refusing.TooMany):
        return too_many(response, refused.retry_after)
    return response
