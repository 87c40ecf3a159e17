"""An import between its preview and its confirmation.

It is kept in a server-side session of its own, so in the database: every web process finds it, a
restart does not lose it, and a browser need not send a large file twice. The person's own session
only has its key, so no other page reads the rows. Not the file is kept, but the rows that it became
and the report.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase

from ieim.studio.standards.found import Mapped
from ieim.studio.standards.report import Note, Report, notes_from_json

KEPT_SECONDS = 3600
_KEY = "standards_import"


@dataclass(frozen=True, slots=True)
class Pending:
    """What a person has uploaded and not yet confirmed."""

    file: str
    mapped: Mapped
    notes: list[Note]


def put(session: SessionBase, *, file: str, mapped: Mapped, report: Report) -> None:
    """Keep an import for the person whose ``session`` it is, instead of an earlier one."""
    drop(session)
    kept = _store(None)
    kept["file"] = file[:200]
    kept["standard"] = mapped.standard
    kept["rows"] = [
        [table, list(identity), values, mapped.pointers[table, identity]]
        for table, rows in mapped.rows.items()
        for identity, values in rows.items()
    ]
    kept["notes"] = report.as_json()
    kept.set_expiry(KEPT_SECONDS)
    kept.create()
    session[_KEY] = kept.session_key


def get(session: SessionBase) -> Pending | None:
    """Return the person's import, None when there is none or it was kept too long."""
    key = session.get(_KEY)
    if not isinstance(key, str):
        return None
    kept: Any = _store(key)
    if "rows" not in kept:
        return None
    mapped = Mapped(kept["standard"], {}, {})
    for table, identity, values, pointer in kept["rows"]:
        mapped.rows.setdefault(table, {})[tuple(identity)] = values
        mapped.pointers[table, tuple(identity)] = pointer
    return Pending(kept["file"], mapped, list(notes_from_json(kept["notes"])))


def drop(session: SessionBase) -> None:
    """Forget the person's import."""
    key = session.pop(_KEY, None)
    if isinstance(key, str):
        _store(key).delete()


def _store(key: str | None) -> SessionBase:
    store: SessionBase = import_module(settings.SESSION_ENGINE).SessionStore(key)
    return store
