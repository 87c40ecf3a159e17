"""The app of sessions, turns and replies."""

from __future__ import annotations

from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    name = "conversations"
    label = "conversations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Let the audit record vouch for the rows of this app, and other sites ask its API."""
        from corsheaders.signals import check_request_enabled
        from django.db.models.signals import post_migrate

        from conversations import framing
        from conversations.record import audited, calls, restating
        from ieim.audit.audited import register, register_check

        register(*audited.KINDS)
        register_check(calls.artifact_faults)
        post_migrate.connect(restating.restate, sender=self)
        check_request_enabled.connect(framing.is_allowed_origin)
