"""The app of the commands that need every other app."""

from __future__ import annotations

from django.apps import AppConfig
from django.core.checks import Tags, register


class ConfigConfig(AppConfig):
    """Settings, wiring and ``manage.py serve``."""

    name = "ieim.config"
    label = "config"
    verbose_name = "Configuration"

    def ready(self) -> None:
        """Register the system checks and wire the layers, now that every app is there."""
        from ieim.config import checks, wiring

        register(checks.model_is_configured, Tags.security, deploy=True)
        register(checks.embedder_is_there, Tags.security, deploy=True)
        register(checks.mail_is_safe, Tags.security, deploy=True)
        wiring.wire()
