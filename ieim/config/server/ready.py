"""What a process cannot do without, looked at before it serves."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.storage import ManifestStaticFilesStorage, staticfiles_storage
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor


def lacking_tables() -> str:
    """Say what to do where a migration has not been run, else nothing.

    A database that does not answer is none without tables: it may come back.
    """
    try:
        executor = MigrationExecutor(connection)
        waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return ""
    finally:
        connection.close()
    if not waiting:
        return ""
    first = waiting[0][0]
    return (
        f"{len(waiting)} migrations have not been run, the first is {first.app_label}.{first.name}."
        " Run `manage.py migrate`, then start again."
    )


def lacking_files() -> str:
    """Say what to do where the pages' files have not been laid out, else nothing."""
    storage = staticfiles_storage
    if not isinstance(storage, ManifestStaticFilesStorage):
        return ""
    if (Path(settings.STATIC_ROOT) / storage.manifest_name).exists():
        return ""
    return (
        "The pages' files have not been laid out: each page would be an error."
        " Run `manage.py collectstatic --noinput`, then start again."
    )
