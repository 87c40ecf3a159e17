"""The citizen's pages of e-mail: the form, and where the links of the two messages lead."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from conversations import selectors
from conversations.chat.responses import (
    in_session,
    not_found,
    redirect_to_chat,
    session_of,
    too_many,
)
from conversations.mail import selectors as mails
from conversations.mail import services
from conversations.mail.models import OPEN, MailState
from conversations.models import MailRequest, Session
from conversations.turns.refusing import Refused
from ieim.people import addresses


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@in_session
def mail(request: HttpRequest, session: Session, turn_id: UUID) -> HttpResponse:
    """The form for an address, and taking it: 303 to the conversation.

    404 where nothing can be asked for, 422 with what is wrong, 429 for too many.
    """
    turn = session.turns.filter(pk=turn_id).first()
    if turn is None or not mails.may_ask(turn):
        raise services.NotOffered
    context: dict[str, object] = {"turn": selectors.turn_view(turn_id)}
    if request.method != "POST":
        return render(request, "conversations/mail/mail.html", context)
    address = request.POST.get("address", "")
    try:
        services.ask(
            session=session, turn_id=turn_id, address=address, origin=addresses.of_request(request)
        )
    except Refused as refused:
        context |= {"refused": refused, "draft": address}
        response = render(request, "conversations/mail/mail.html", context, status=422)
        if isinstance(refused, services.TooMany):
            return too_many(response, refused.retry_after)
        return response
    return redirect_to_chat(f"turn-{turn_id}")


@require_POST
@in_session
def mail_stop(request: HttpRequest, session: Session, turn_id: UUID) -> HttpResponse:
    """Withdraw the request of this browser's citizen: 303 to the conversation; 404 for none."""
    if not session.turns.filter(pk=turn_id).exists():
        return not_found(request)
    services.stop_turn(session=session, turn_id=turn_id)
    return redirect_to_chat(f"turn-{turn_id}")


@require_http_methods(["GET", "HEAD", "POST"])
def link(request: HttpRequest, secret: str) -> HttpResponse:
    """Where the links of both messages lead; only a post confirms anything.

    Programs that look for harm in e-mails open every link. Nothing of the conversation is shown
    but that it has an answer: whoever reads the message may not be who asked.
    """
    mail_request = mails.of_secret(secret)
    if mail_request is None:
        return not_found(request)
    if request.method == "POST":
        services.confirm(secret=secret)
        response = redirect("conversations:mail_link", secret)
        response.status_code = 303
        return response
    return _link_page(request, mail_request, secret)


@csrf_exempt  # A mailbox posts here for its owner (RFC 8058); the secret is what counts.
@require_http_methods(["GET", "HEAD", "POST"])
def link_stop(request: HttpRequest, secret: str) -> HttpResponse:
    """Ask whether no e-mail is wanted any more, and stop it; also by RFC 8058."""
    mail_request = mails.of_secret(secret)
    if mail_request is None:
        return not_found(request)
    if request.method == "POST":
        services.stop(secret=secret)
        return render(request, "conversations/mail/stop.html", {"stopped": True})
    return render(request, "conversations/mail/stop.html", {"secret": secret})


def _link_page(request: HttpRequest, mail_request: MailRequest, secret: str) -> HttpResponse:
    session = session_of(request)
    state = mail_request.state
    if state == MailState.ASKED and services.is_over(mail_request, timezone.now()):
        state = MailState.EXPIRED.value
    context = {
        # The message can be there before it is written down that it went.
        "state": MailState.TOLD.value if state == MailState.TELLING else state,
        "secret": secret,
        "open": state in OPEN,
        "turn_id": mail_request.turn_id,
        # Whoever has the conversation in this browser comes to it; nobody else does.
        "mine": session is not None and session.pk == mail_request.session_id,
    }
    return render(request, "conversations/mail/link.html", context)
