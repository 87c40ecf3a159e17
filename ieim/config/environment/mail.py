"""The settings of e-mail: the server that takes it, and who it comes from.

Nothing here raises: problems are noted on the :class:`~ieim.config.environment.env.Env` and told
together.
"""

from __future__ import annotations

from typing import TypedDict
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from ieim.config.environment.env import Env

_PORTS = {"starttls": 587, "tls": 465, "none": 25}


class Mail(TypedDict):
    """Where e-mail goes: ``HOST`` is empty for nowhere. ``TIMEOUT`` is in seconds."""

    HOST: str
    PORT: int
    USER: str
    PASSWORD: str
    SECURITY: str
    TIMEOUT: float
    FROM: str
    FROM_IS_SET: bool


def mail(env: Env, *, public_url: str) -> Mail:
    """Read the mail server; ``public_url`` is what the links in its messages begin with."""
    host = env.text("IEIM_SMTP_HOST")
    security = env.choice("IEIM_SMTP_SECURITY", list(_PORTS), "starttls")
    user, password = env.text("IEIM_SMTP_USER"), env.text("IEIM_SMTP_PASSWORD")
    if host and not public_url:
        env.problem(
            "IEIM_PUBLIC_URL",
            "is not set, and e-mails (IEIM_SMTP_HOST) need it for their links. "
            "Set it to the address that people see in their browser: https://ask.example.org",
        )
    if bool(user) != bool(password):
        env.problem("IEIM_SMTP_USER", "goes with IEIM_SMTP_PASSWORD. Set both, or neither.")
    return {
        "HOST": host,
        "PORT": int(env.number("IEIM_SMTP_PORT", _PORTS[security], low=1, high=65535)),
        "USER": user,
        "PASSWORD": password,
        "SECURITY": security,
        "TIMEOUT": env.number("IEIM_SMTP_TIMEOUT", 10, low=1, high=60),
        "FROM": _sender(env) or f"no-reply@{urlsplit(public_url).hostname or 'localhost'}",
        "FROM_IS_SET": bool(env.text("IEIM_MAIL_FROM")),
    }


def _sender(env: Env) -> str:
    sender = env.text("IEIM_MAIL_FROM")
    try:
        if sender:
            validate_email(sender)
    except ValidationError:
        env.problem(
            "IEIM_MAIL_FROM", f"is {sender!r}. Set it to an address alone: no-reply@example.org"
        )
        return ""
    return sender
