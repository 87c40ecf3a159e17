"""Create the demo staff accounts."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from ieim.config import demo


class Command(BaseCommand):
    """The command."""

    help = "Create the demo staff accounts that are missing, and print all (development only)."

    def handle(self, *args: Any, **options: Any) -> None:
        """Create and print."""
        if settings.PRODUCTION:
            raise CommandError(
                "The demo passwords are public, so this is for development only. "
                "Use `manage.py createsuperuser`."
            )
        demo.create_accounts()
        width = max(len(account.username) for account in demo.ACCOUNTS)
        for account in demo.ACCOUNTS:
            self.stdout.write(f"{account.username:<{width}}  {account.password}  ({account.may})")
