"""The apps of the top layer: system checks, the ports of lower layers, Django's admin."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig
from django.core.checks import Tags, register


class StaffAdminConfig(AdminConfig):
    """Django's admin, with a site of our own."""

    default_site = "ieim.config.admin_site.StaffSite"


class ConfigConfig(AppConfig):
    """Settings, wiring and ``manage.py serve``."""

    name = "ieim.config"
    label = "config"
    verbose_name = "Configuration"

    def ready(self) -> None:
        """Register the system checks and connect the ports, now that every app is there."""
        from ieim.config import checks, wiring

        for check in (checks.check_model, checks.check_embedder, checks.check_mail):
            register(check, Tags.security, deploy=True)
        wiring.wire()
