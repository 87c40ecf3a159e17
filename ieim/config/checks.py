"""System checks of our own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks

from ieim.search.embedders import embedded


def model_is_configured(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Warn (``ieim.W001``) when the offline engine would answer citizens."""
    if settings.IEIM_MODEL["BASE_URL"]:
        return []
    return [
        checks.Warning(
            "No model is configured: the offline engine answers.",
            hint="Set IEIM_MODEL_BASE_URL and IEIM_MODEL_NAME.",
            id="ieim.W001",
        )
    ]


def embedder_is_there(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Warn (``ieim.W002``) when words alone would rank because the embedded model is not there."""
    fault = embedded.fault() if settings.IEIM_EMBEDDINGS["KIND"] == "embedded" else None
    if fault is None:
        return []
    what, _, hint = fault.partition(". ")
    return [checks.Warning(f"Words alone rank: {what}.", hint=hint, id="ieim.W002")]


def mail_is_safe(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Warn of e-mail without a sender of one's own (``ieim.W003``) or without TLS (``W004``)."""
    mail = settings.IEIM_MAIL
    if not mail["HOST"]:
        return []
    found: list[checks.CheckMessage] = []
    if not mail["FROM_IS_SET"]:
        found.append(
            checks.Warning(
                f"E-mails are sent from {mail['FROM']}, which nobody has set.",
                hint="Set IEIM_MAIL_FROM to an address that you may send from.",
                id="ieim.W003",
            )
        )
    if mail["SECURITY"] == "none":
        found.append(
            checks.Warning(
                "E-mails, with citizens' addresses, go to the mail server without TLS.",
                hint="Set IEIM_SMTP_SECURITY to starttls or tls.",
                id="ieim.W004",
            )
        )
    return found
