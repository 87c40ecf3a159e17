"""The administration app: what a city says of itself, on every page and by REST."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class AdministrationConfig(AppConfig):
    name = "ieim.administration"
    label = "administration"
    verbose_name = gettext_lazy("Settings")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the audited rows of this app."""
        from ieim.administration import audited
        from ieim.audit.audited import register

        register(*audited.KINDS)
