"""The knowledge app: what a turn reads of releases, and notices."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class KnowledgeConfig(AppConfig):
    name = "ieim.knowledge"
    label = "knowledge"
    verbose_name = gettext_lazy("Releases")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Let the audit record vouch for the rows of this app."""
        from ieim.audit.audited import register
        from ieim.knowledge import audited

        register(*audited.KINDS)
