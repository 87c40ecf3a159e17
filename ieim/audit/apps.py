"""The audit app: an append-only, hash-chained record of what happened."""

from __future__ import annotations

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """The app of the audit record."""

    name = "ieim.audit"
    label = "audit"
    verbose_name = "Audit"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Have ``migrate`` vouch for older rows."""
        from django.db.models.signals import post_migrate

        from ieim.audit.upgrading import vouch_for_older_rows

        post_migrate.connect(vouch_for_older_rows, sender=self)
