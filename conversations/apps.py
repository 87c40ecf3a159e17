"""The app of sessions, turns and replies."""

from __future__ import annotations

from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    """Citizens' conversations and how the pipeline is run over them."""

    name = "conversations"
    label = "conversations"
    default_auto_field = "django.db.models.BigAutoField"
