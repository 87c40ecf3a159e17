"""E-mail to staff, through a port: what sends mail is in a layer above."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from django.conf import settings

logger = logging.getLogger(__name__)


class Port(Protocol):
    """Hands one message to the mail server; raises whatever goes wrong."""

    def __call__(self, *, subject: str, body: str, to: str) -> None: ...


_port: Port | None = None


class NotSent(Exception):
    """No message was sent: there is no mail server, or it does not take it now."""


def wire_post(port: Port) -> None:
    """Set the port; once at start."""
    global _port
    _port = port


def is_configured() -> bool:
    """Whether there is a mail server."""
    return bool(settings.IEIM_MAIL["HOST"])


def send(*, subject: str, parts: Sequence[str], to: str) -> None:
    """Send a message of paragraphs; raises :class:`NotSent`."""
    if _port is None:
        raise RuntimeError("no mail is wired; call ieim.people.post.wire_post at start")
    if not is_configured():
        raise NotSent
    try:
        _port(subject=subject, body="\n\n".join(parts) + "\n", to=to)
    except Exception as error:  # noqa: BLE001  # whatever it is, its words may hold an address
        logger.warning("A message to staff could not be sent (%s)", type(error).__name__)
        raise NotSent from None
