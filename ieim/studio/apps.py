"""The studio app: where editors change the knowledge, try it and publish it."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class StudioConfig(AppConfig):
    name = "ieim.studio"
    label = "studio"
    verbose_name = gettext_lazy("Knowledge")
    default_auto_field = "django.db.models.BigAutoField"
