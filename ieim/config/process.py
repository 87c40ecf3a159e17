"""Preparation of server and worker processes: limits, checks, loading."""

from __future__ import annotations

import ctypes
import logging
import resource
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.storage import ManifestStaticFilesStorage, staticfiles_storage
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from ieim.knowledge import following
from ieim.pipeline.message import language, risk
from ieim.search import letters

logger = logging.getLogger(__name__)

_ARENA_MAX = -8
"""``M_ARENA_MAX`` of glibc's ``mallopt``."""
ARENAS = 2


def raise_limits() -> None:
    """Raise this process's limit of open files, and let its threads share few memory arenas.

    A turn that waits has up to four sockets to the model, and the usual limit is 1,024 in all.
    glibc has eight arenas for each core, and what a thread freed in one of them is of no use to the
    threads of the others. Call it early: what there is already stays.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    allocator = ctypes.CDLL(None)
    if hasattr(allocator, "gnu_get_libc_version"):
        allocator.mallopt(_ARENA_MAX, ARENAS)


def warm_up(*, answers: bool = True) -> None:
    """Load the language model (half a second), what tells danger and the current release, with its
    translations in a process that ``answers`` questions.

    Vectors that are missing are not waited for: the follower makes them. A database that does not
    answer yet is no reason not to start: the first turn reads it then.
    """
    text = "A sentence that is long enough to have a language."
    language.detect(text)
    risk.find(text)
    letters.shipped()
    try:
        following.prepare(make=False, translations=answers)
    except DatabaseError:
        logger.warning("The database does not answer yet: no release is loaded", exc_info=True)
    finally:
        connection.close()


def missing_tables() -> str:
    """Return what to do where a migration has not been run, else an empty text.

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


def missing_files() -> str:
    """Return what to do where static files have not been collected, else an empty text."""
    storage = staticfiles_storage
    if not isinstance(storage, ManifestStaticFilesStorage):
        return ""
    if (Path(settings.STATIC_ROOT) / storage.manifest_name).exists():
        return ""
    return (
        "The pages' files have not been laid out: each page would be an error."
        " Run `manage.py collectstatic --noinput`, then start again."
    )
