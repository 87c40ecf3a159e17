"""Django's admin, with a site of our own."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class StaffAdminConfig(AdminConfig):
    """Django's admin."""

    default_site = "ieim.config.admin_site.StaffSite"
