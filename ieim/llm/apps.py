"""The app of the model adapters; it has no models, only a management command."""

from __future__ import annotations

from django.apps import AppConfig


class LlmConfig(AppConfig):
    """Adapters of the model port."""

    name = "ieim.llm"
    label = "llm"
