"""Create the groups of the roles."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from ieim.people.roles import PERMISSIONS
from ieim.people.services import make_roles


class Command(BaseCommand):
    help = (
        "Create the groups caseworker, supervisor, knowledge editor, knowledge publisher, auditor "
        "and administrator, each with exactly its permissions."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        make_roles()
        self.stdout.write(
            f"These roles have exactly their permissions: {', '.join(PERMISSIONS)}. Give them to "
            "people in the admin, and agencies by their agency scopes."
        )
