"""E-mail: the mail server of the settings, and messages to staff."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend
from django.db import transaction
from django.utils.translation import gettext

logger = logging.getLogger(__name__)


def hand_over(message: EmailMessage) -> None:
    """Hand a message to the mail server; raises what ``smtplib`` and the network do."""
    to = settings.IEIM_MAIL
    server = EmailBackend(
        host=to["HOST"],
        port=to["PORT"],
        username=to["USER"],
        password=to["PASSWORD"],
        use_tls=to["SECURITY"] == "starttls",
        use_ssl=to["SECURITY"] == "tls",
        timeout=to["TIMEOUT"],
    )
    try:
        server.open()
        server.send_messages([message])
    finally:
        # It has the message by now: what goes wrong with the farewell changes nothing.
        with suppress(Exception):
            server.close()


class NotSent(Exception):
    """No message was sent: there is no mail server, or it does not take it now."""


def send(*, subject: str, parts: Sequence[str], to: str) -> None:
    """Send a message of paragraphs; raises :class:`NotSent`."""
    if not settings.IEIM_MAIL["HOST"]:
        raise NotSent
    message = EmailMessage(
        subject=f"{settings.IEIM_PUBLIC_URL.partition('://')[2]}: {subject}",
        body="\n\n".join(parts) + "\n",
        from_email=settings.IEIM_MAIL["FROM"],
        to=[to],
        headers={"Auto-Submitted": "auto-generated"},
    )
    try:
        hand_over(message)
    except Exception as error:  # noqa: BLE001  # whatever it is, its words may hold an address
        logger.warning("A message to staff could not be sent (%s)", type(error).__name__)
        raise NotSent from None


def tell_owner(*, name: str, address: str, changed: str) -> None:
    """Send an account's owner, once it is committed, that a way into it has changed.

    Nothing is sent without an address or a mail server.
    """
    sentence = gettext("A way into your account {name} has changed: {changed}.")
    parts = (
        sentence.format(name=name, changed=changed),
        gettext("If it was not you, have an administrator switch the account off at once."),
    )

    def deliver() -> None:
        with suppress(NotSent):
            send(subject=gettext("Your account"), parts=parts, to=address)

    if address:
        transaction.on_commit(deliver, robust=True)
