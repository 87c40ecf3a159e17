"""Whether the software before a migration still runs on the tables after it.

    python -m tests.migrations

Every migration after an app's first is turned into PostgreSQL's SQL and looked at by
django-migration-linter. docs/upgrading.md says what is safe and how to do the rest in two steps.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import django
from django.apps import apps
from django_migration_linter import MigrationLinter

from tests import services

FIRST = "0001_initial"
EXCUSED: Mapping[tuple[str, str], str] = {
    (
        "studio",
        "0010_situation_questions_once",
    ): "the software before it writes no question without an agency, and only those are compared",
    (
        "studio",
        "0011_situation_translations",
    ): "the software before it writes no translation without an agency, only those are compared",
}
"""Migrations that are safe although the linter cannot see it: app label and name, and why."""


def lint() -> list[str]:
    """Look at the migrations in the database of the settings; return those that are unsafe.

    What the linter finds is printed below each.
    """
    ours = {app.label for app in apps.get_app_configs() if _is_ours(app.name)}
    linter = MigrationLinter(no_cache=True)
    unsafe = []
    for (label, name), migration in sorted(linter.migration_loader.disk_migrations.items()):
        if label not in ours or name == FIRST:
            continue
        if why := EXCUSED.get((label, name)):
            print(f"({label}, {name})... excused: {why}")
            continue
        before = linter.nb_erroneous
        linter.lint_migration(migration)
        if linter.nb_erroneous > before:
            unsafe.append(f"{label}.{name}")
    print(f"{linter.nb_total} migrations after the first of each app, {len(unsafe)} unsafe")
    return unsafe


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] in ("ieim", "conversations", "review")


def main() -> int:
    """Look at them on an empty PostgreSQL of their own; returns 0 when none is unsafe."""
    with tempfile.TemporaryDirectory(prefix="ieim-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # the postgres user has to get to its own folder in it
        with services.postgres(folder) as address:
            os.environ["DATABASE_URL"] = address
            os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ieim.config.settings")
            django.setup()
            unsafe = lint()
            django.db.connections.close_all()
    if unsafe:
        print(f"Unsafe: {', '.join(unsafe)}. See docs/upgrading.md.")
    return 1 if unsafe else 0


if __name__ == "__main__":
    sys.exit(main())
