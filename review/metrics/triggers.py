"""Triggers that note what changes about earlier days, whoever changes it and by whatever statement.

Each inserts a :class:`review.models.LateChange`. A row that was made in the last half hour belongs
to a day that nobody has counted yet (:data:`review.metrics.services.AFTER_MIDNIGHT`), so an
ordinary turn notes nothing.

A later migration that alters one of the tables ends with :func:`create`: SQLite alters a table by
building a new one, and the triggers go with the old.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.apps.registry import Apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from review.facets import AGENCY_STAGE

_AGO = {
    "postgresql": "now() - interval '30 minutes'",
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f', 'now', '-30 minutes')",
}


class _Source(NamedTuple):
    """What is noted of a table's row: its ``moments`` and, with ``of_turn``, its turn.

    The turn is noted where its other rows count otherwise too. ``counted`` are the columns whose
    update is noted, all where there are none; ``condition`` is SQL over ``{row}``.
    """

    table: str
    moments: Sequence[str] = ("NULL",)
    counted: Sequence[str] = ()
    of_turn: bool = False
    condition: str = "TRUE"


_SOURCES = (
    _Source("conversations_turn", ["created_at"], ["created_at", "state"]),
    _Source("conversations_choice", ["asked_at"]),
    _Source("conversations_attempt", ["created_at"]),
    _Source("conversations_unused", ["created_at"]),
    _Source("conversations_rating", ["at"]),
    _Source("conversations_feedback", ["at"]),
    _Source("review_decision", ["created_at"]),
    _Source("conversations_reply", ["created_at"], of_turn=True),
    _Source("conversations_replacement", of_turn=True),
    _Source(
        "conversations_stage",
        counted=["state_merge"],
        of_turn=True,
        condition=f"{{row}}.contract = '{AGENCY_STAGE}'",
    ),
    _Source(
        "review_reviewitem",
        ["opened_at", "due_at"],
        ["opened_at", "due_at", "decided_at", "agency", "state", "stage", "reason"],
        of_turn=True,
    ),
)


def create(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Create the triggers: a repeatable step of a migration."""
    drop(apps, editor)
    vendor = editor.connection.vendor
    for source in _SOURCES:
        update = f"UPDATE OF {', '.join(source.counted)}" if source.counted else "UPDATE"
        old, new = _notes(source, "OLD", vendor), _notes(source, "NEW", vendor)
        name = f"{source.table}_late"
        if vendor == "postgresql":
            editor.execute(
                f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                f"IF TG_OP <> 'INSERT' THEN {old} END IF; "
                f"IF TG_OP <> 'DELETE' THEN {new} END IF; RETURN NULL; END $$",
                params=None,
            )
            editor.execute(
                f"CREATE TRIGGER {name} AFTER INSERT OR DELETE OR {update} ON {source.table} "
                f"FOR EACH ROW EXECUTE FUNCTION {name}()"
            )
            continue
        for event, action, notes in (
            ("insert", "INSERT", new),
            ("update", update, f"{old} {new}"),
            ("delete", "DELETE", old),
        ):
            editor.execute(
                f"CREATE TRIGGER {name}_{event} AFTER {action} ON {source.table} BEGIN {notes} END",
                params=None,
            )


def drop(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Drop the triggers that exist."""
    postgresql = editor.connection.vendor == "postgresql"
    for name in sorted(names(editor.connection.vendor)):
        statement = (
            "DROP FUNCTION IF EXISTS {}() CASCADE" if postgresql else "DROP TRIGGER IF EXISTS {}"
        )
        editor.execute(statement.format(name))


def names(vendor: str) -> set[str]:
    """Return the names of the triggers."""
    events = [""] if vendor == "postgresql" else ["_insert", "_update", "_delete"]
    return {f"{source.table}_late{event}" for source in _SOURCES for event in events}


def _notes(source: _Source, row: str, vendor: str) -> str:
    """Return the statements that note a row."""
    statements = []
    for moment in source.moments:
        if not source.of_turn:
            turn, late = "NULL", f"{row}.{moment} < {_AGO[vendor]}"
        elif vendor == "postgresql":
            # An item that is opened, or an agency that is found, only now for an earlier turn.
            made = f"(SELECT created_at FROM conversations_turn WHERE id = {row}.turn_id)"  # noqa: S608
            turn, late = f"{row}.turn_id", f"({made} < {_AGO[vendor]}) IS NOT FALSE"
        else:
            # Whatever names another table keeps SQLite from building that anew: each is noted.
            turn, late = f"{row}.turn_id", "TRUE"
        value = moment if moment == "NULL" else f"{row}.{moment}"
        condition = source.condition.format(row=row)
        statements.append(
            f"INSERT INTO review_latechange (turn_id, moment) "
            f"SELECT {turn}, {value} WHERE {late} AND {condition};"
        )
    return " ".join(statements)
