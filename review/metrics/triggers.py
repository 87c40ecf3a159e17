"""Triggers that note what changes about earlier days, whatever statement changes it.

Each inserts a :class:`review.models.LateChange`. A row that was made in the last half hour is of a
day that nobody has counted yet (:data:`review.metrics.services.AFTER_MIDNIGHT`).

A later migration that alters one of the tables ends with :func:`create`: SQLite alters a table by
building a new one, and the triggers go with the old.
"""

from __future__ import annotations

from django.apps.registry import Apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_AGO = {
    "postgresql": "now() - interval '30 minutes'",
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f', 'now', '-30 minutes')",
}
_ROWS = {
    "conversations_turn": (["created_at"], "OF created_at, state"),
    "conversations_choice": (["asked_at"], ""),
    "conversations_attempt": (["created_at"], ""),
    "conversations_unused": (["created_at"], ""),
    "conversations_rating": (["at"], ""),
    "conversations_feedback": (["at"], ""),
    "review_decision": (["created_at"], ""),
}
"""The tables whose rows count for themselves: their moments, and the updates that matter."""
_OF_TURNS = {
    "conversations_reply": (["created_at"], ""),
    "conversations_replacement": ([], ""),
    "conversations_stage": ([], "OF state_merge"),
    "review_reviewitem": (
        ["opened_at", "due_at"],
        "OF opened_at, due_at, decided_at, agency, state, stage, reason",
    ),
}
"""Those that change how everything of their turn counts: its agency, say."""
NAMES = {f"{table}_late_{event}" for table in _ROWS | _OF_TURNS for event in "iud"}


def create(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Create the triggers: a repeatable step of a migration."""
    drop(apps, editor)
    for table, (moments, columns) in (_ROWS | _OF_TURNS).items():
        old, new = (_notes(table, moments, row, editor.connection.vendor) for row in ("OLD", "NEW"))
        for event, notes in (("INSERT", new), (f"UPDATE {columns}", old + new), ("DELETE", old)):
            name, body = f"{table}_late_{event[0].lower()}", f"BEGIN {notes} END"
            if editor.connection.vendor == "postgresql":
                function = f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql"
                editor.execute(f"{function} AS $$ BEGIN {notes} RETURN NULL; END $$", params=None)
                body = f"FOR EACH ROW EXECUTE FUNCTION {name}()"
            editor.execute(f"CREATE TRIGGER {name} AFTER {event} ON {table} {body}", params=None)


def drop(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Drop the triggers that exist."""
    postgresql = editor.connection.vendor == "postgresql"
    for name in sorted(NAMES):
        what = f"FUNCTION IF EXISTS {name}() CASCADE" if postgresql else f"TRIGGER IF EXISTS {name}"
        editor.execute(f"DROP {what}")


def _notes(table: str, moments: list[str], row: str, vendor: str) -> str:
    """Return the statements that note a row."""
    turn, late = "NULL", f"{row}.{''.join(moments[:1])} < {_AGO[vendor]}"
    if table in _OF_TURNS:
        made = f"(SELECT created_at FROM conversations_turn WHERE id = {row}.turn_id)"  # noqa: S608 - our names
        # SQLite builds no table anew that a trigger of another one names: there all are noted.
        late = f"({made} < {_AGO[vendor]}) IS NOT FALSE" if vendor == "postgresql" else "TRUE"
        turn = f"{row}.turn_id"
    values = [f"{row}.{moment}" for moment in moments] or ["NULL"]
    insert = "INSERT INTO review_latechange (turn_id, moment)"
    return " ".join(f"{insert} SELECT {turn}, {value} WHERE {late};" for value in values)
