"""The review app: what waits for a person, and what the person decides."""

from __future__ import annotations

from django.apps import AppConfig


class ReviewConfig(AppConfig):
    """Django's handle on the app."""

    name = "review"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Let the audit record vouch for the rows of this app."""
        from ieim.audit.audited import register, register_check
        from review import audited, scope

        register(*audited.KINDS)
        register_check(scope.set_faults)
