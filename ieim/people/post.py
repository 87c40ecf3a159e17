"""E-mail: the mail server of the settings, and messages to staff."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend
from django.db import transaction
from django.utils.translation import gettext

logger = logging.getLogger(__name__)


class NotSent(Exception):
    """A message was not sent: there is no mail server, or it does not accept messages now."""


def hand_over(message: EmailMessage) -> None:
    """Send a message by the mail server of the settings.

    Raises:
        OSError: the server cannot be reached, or refuses the message (``smtplib``).
    """
    server = settings.IEIM_MAIL
    connection = EmailBackend(
        host=server["HOST"],
        port=server["PORT"],
        username=server["USER"],
        password=server["PASSWORD"],
        use_tls=server["SECURITY"] == "starttls",
        use_ssl=server["SECURITY"] == "tls",
        timeout=server["TIMEOUT"],
    )
    try:
        connection.open()
        connection.send_messages([message])
    finally:
        # The server has the message: an error while the connection closes changes nothing.
        with suppress(Exception):
            connection.close()


def send(*, subject: str, paragraphs: Sequence[str], to: Sequence[str]) -> None:
    """Send one message to addresses of staff.

    Raises:
        NotSent: there is no mail server, or it does not accept the message.
    """
    if not settings.IEIM_MAIL["HOST"]:
        raise NotSent
    message = EmailMessage(
        subject=f"{settings.IEIM_PUBLIC_URL.partition('://')[2]}: {subject}",
        body="\n\n".join(paragraphs) + "\n",
        from_email=settings.IEIM_MAIL["FROM"],
        to=[*to],
        headers={"Auto-Submitted": "auto-generated"},
    )
    try:
        hand_over(message)
    except Exception as error:  # noqa: BLE001  # whatever it is, its words may hold an address
        logger.warning("A message to staff could not be sent (%s)", type(error).__name__)
        raise NotSent from None


def send_on_commit(
    *, subject: str, paragraphs: Sequence[str], to: Callable[[], Sequence[str]]
) -> None:
    """Send one message once the transaction is committed, to the addresses that ``to`` returns
    then. Nothing is sent without an address or a mail server."""

    def deliver() -> None:
        if settings.IEIM_MAIL["HOST"] and (addresses := to()):
            with suppress(NotSent):
                send(subject=subject, paragraphs=paragraphs, to=addresses)

    transaction.on_commit(deliver, robust=True)


def notify_owner(*, name: str, address: str, changed: str) -> None:
    """Tell an account's owner, once it is committed, that a way into it has changed."""
    sentence = gettext("A way into your account {name} has changed: {changed}.")
    paragraphs = (
        sentence.format(name=name, changed=changed),
        gettext("If it was not you, have an administrator switch the account off at once."),
    )
    send_on_commit(
        subject=gettext("Your account"),
        paragraphs=paragraphs,
        to=lambda: [address] if address else [],
    )
