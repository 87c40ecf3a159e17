"""The mail server of the settings, for messages to citizens, operators and staff."""

from __future__ import annotations

from contextlib import suppress

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend


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
