"""The people app: staff accounts, their roles and agencies, and signing in."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class PeopleConfig(AppConfig):
    name = "ieim.people"
    label = "people"
    verbose_name = gettext_lazy("People")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect the receivers of logins, and register the audited rows."""
        from ieim.audit.audited import register
        from ieim.people import audited, login  # noqa: F401  # for its receivers

        register(*audited.KINDS)
