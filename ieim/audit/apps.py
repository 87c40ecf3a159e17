"""The audit app: an append-only, hash-chained record of what happened."""

from __future__ import annotations

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """Django's handle on the app."""

    name = "ieim.audit"
    label = "audit"
    verbose_name = "Audit"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Have ``migrate`` vouch for what was there before."""
        from django.db.models.signals import post_migrate

        from ieim.audit.joining import join

        post_migrate.connect(join, sender=self)
