"""System checks of our own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks


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
