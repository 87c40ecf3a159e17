"""A real mail server on loopback, and citizens who want to be told by e-mail, for tests."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from conversations.chat import cookies
from conversations.mail import sending, services
from conversations.mail.models import MailRequest
from conversations.models import Turn
from conversations.turns.services import new_secret
from ieim.audit.comparing import second_look
from ieim.audit.verify import verify
from review.models import Action
from tests.review import desk
from tests.services import free_port

ADDRESS = "ana@example.org"
SITE = "https://ask.example.org"
QUESTION = "My landlord Quimbleton keeps the wolpertinger deposit"
ANSWER = "Bring the marmalade certificate on Monday."
SENDER = "no-reply@example.net"


class PostOffice:
    """A mail server: ``inbox`` is what came, ``refusals`` what it answers instead, in order.

    A refusal is a stage (``MAIL``, ``RCPT`` or ``DATA``) and an answer.
    """

    def __init__(self) -> None:
        self.inbox: list[EmailMessage] = []
        self.envelopes: list[tuple[str, list[str]]] = []
        self.raw: list[bytes] = []
        self.refusals: list[tuple[str, str]] = []
        self.arrived = threading.Condition()
        self.port = free_port()
        self.on_data: Callable[[], object] = lambda: None

    def _refuses(self, stage: str) -> str:
        if self.refusals and self.refusals[0][0] == stage:
            return self.refusals.pop(0)[1]
        return ""

    async def handle_MAIL(  # noqa: N802  # the server's own names
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        """Take a sender."""
        if answer := self._refuses("MAIL"):
            return answer
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        """Take a recipient."""
        if answer := self._refuses("RCPT"):
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        """Take a message."""
        self.on_data()
        if answer := self._refuses("DATA"):
            return answer
        self.envelopes.append((envelope.mail_from, envelope.rcpt_tos))
        self.raw.append(envelope.content)
        message = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        with self.arrived:
            self.inbox.append(message)
            self.arrived.notify_all()
        return "250 OK"

    def newest(self) -> EmailMessage:
        """Return the message that came last."""
        return self.inbox[-1]


@contextmanager
def post_office() -> Iterator[PostOffice]:
    """Run a mail server."""
    office = PostOffice()
    server = Controller(office, hostname="127.0.0.1", port=office.port)
    server.start()
    try:
        yield office
    finally:
        server.stop()


def links(message: EmailMessage) -> list[str]:
    """Return the paths of the links in a message."""
    body = message.get_content()
    assert isinstance(body, str)
    return re.findall(rf"{SITE}(/\S*)", body)


class Citizen:
    """Somebody with a browser, whose question waits for a person."""

    def __init__(self, text: str = QUESTION) -> None:
        self.secret = new_secret()
        self.turn: Turn = desk.ask(text, {"judgement_v1": desk.BAD}, secret=self.secret)
        assert self.turn.state == "needs_review"
        self.browser = Client()
        response = HttpResponse()
        cookies.set_cookie(response, self.secret)
        self.browser.cookies = response.cookies
        self.form = f"/turns/{self.turn.pk}/mail/"

    def wants(self, address: str = ADDRESS, origin: str = "") -> MailRequest:
        """Ask to be told as the page does, and let a worker send what is due."""
        request = services.ask(
            session=self.turn.session, turn_id=self.turn.pk, address=address, origin=origin
        )
        sending.send_due(request_id=request.pk)
        return fresh(request)

    def confirmed(self, office: PostOffice, address: str = ADDRESS) -> MailRequest:
        """Ask, and press the button that the first message leads to."""
        request = self.wants(address)
        assert Client().post(links(office.newest())[0]).status_code == 303
        assert fresh(request).state == "confirmed"
        return fresh(request)

    def answer(self) -> None:
        """Let a caseworker answer."""
        eva = desk.person(f"eva-{self.turn.session.reference}")
        item = desk.take(desk.the_item(self.turn), eva)
        desk.decide(item, eva, Action.WRITE, text=ANSWER, sources=[])


def fresh(request: MailRequest) -> MailRequest:
    """Return a request as it is stored now."""
    return MailRequest.objects.get(pk=request.pk)


def work() -> None:
    """Sweep, and send what is due, as a worker does."""
    sending.sweep()
    for request in MailRequest.objects.exclude(due_at=None):
        sending.send_due(request_id=request.pk)


def later(request: MailRequest, by: timedelta) -> None:
    """Let time pass for a request."""
    MailRequest.objects.filter(pk=request.pk).update(asked_at=timezone.now() - by)


def due_now(request: MailRequest) -> None:
    """Let the pause before the next try be over."""
    MailRequest.objects.filter(pk=request.pk).update(due_at=timezone.now())


def holds(request: MailRequest) -> bool:
    """Whether the record holds, and every row that it vouches for."""
    return verify(request.session_id).ok and second_look(request.session_id) == []
