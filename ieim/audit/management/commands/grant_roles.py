"""``manage.py grant_roles``."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from ieim.audit import roles


class Command(BaseCommand):
    """Give the roles of PostgreSQL the rights that they need, and check that they have no more."""

    help = (
        "Give the application's role and the audit role of PostgreSQL exactly what they need, and "
        "check that neither can alter a table, empty it or take a trigger off. Run it as the owner "
        "of the tables, after each migrate; it can be repeated."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the names of both roles."""
        parser.add_argument("application", help="the role of web, worker and beat: ieim")
        parser.add_argument("audit", help="the role that seals and verifies: ieim-audit")

    def handle(self, *args: Any, **options: Any) -> None:
        """Grant; raises :class:`CommandError`, and then nothing has changed."""
        try:
            sentences = roles.grant(options["application"], options["audit"])
        except roles.RolesError as error:
            raise CommandError(str(error)) from error
        except DatabaseError as error:
            raise CommandError(
                f"PostgreSQL refuses: {error}. Run this as the owner of the tables."
            ) from error
        for sentence in sentences:
            self.stdout.write(sentence)
