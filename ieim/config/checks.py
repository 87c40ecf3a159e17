"""System checks of our own, for ``manage.py check --deploy``."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import checks

from ieim.search import embedders


def check_model(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    """Warn (``ieim.W001``) when the offline engine would answer citizens."""
    if settings.IEIM_MODEL["BASE_URL"]:
        return []
    hint = "Set IEIM_MODEL_BASE_URL and IEIM_MODEL_NAME."
    return [
        checks.Warning("No model is configured: the offline engine answers.", hint, id="ieim.W001")
    ]


def check_embedder(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    """Warn (``ieim.W002``) when words alone would rank because the embedded model is not there."""
    fault = embedders.fault() if settings.IEIM_EMBEDDINGS["KIND"] == "embedded" else None
    if fault is None:
        return []
    message, _, hint = fault.partition(". ")
    return [checks.Warning(f"Words alone rank: {message}.", hint, id="ieim.W002")]


def check_mail(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    """Warn of e-mail without a sender of one's own (``ieim.W003``) or without TLS (``W004``)."""
    mail = settings.IEIM_MAIL
    messages: list[checks.CheckMessage] = []
    if mail["HOST"] and not mail["FROM_IS_SET"]:
        problem = f"E-mails are sent from {mail['FROM']}, which nobody has set."
        hint = "Set IEIM_MAIL_FROM to an address that you may send from."
        messages.append(checks.Warning(problem, hint, id="ieim.W003"))
    if mail["HOST"] and mail["SECURITY"] == "none":
        problem = "E-mails, with citizens' addresses, go to the mail server without TLS."
        hint = "Set IEIM_SMTP_SECURITY to starttls or tls."
        messages.append(checks.Warning(problem, hint, id="ieim.W004"))
    return messages
