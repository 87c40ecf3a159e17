"""Append-only tables, enforced by triggers on SQLite and PostgreSQL.

The triggers raise ``IntegrityError`` for UPDATE and DELETE, on SQLite also for an INSERT of an
existing key (``INSERT OR REPLACE`` deletes the old row without firing a delete trigger), on
PostgreSQL also for TRUNCATE.

No setting of a session switches them off: whoever can run SQL could set it. Exceptions are
conditions over the rows themselves (:func:`ended_by`: only after an event that stays in the
record). A table's owner can drop triggers. So in production the application's role does not own the
tables (:mod:`ieim.audit.roles`), and what an owner does is found by ``verify_audit`` and a
checkpoint kept elsewhere.

``manage.py flush`` fails on a database with events for the same reason. Test suites own their
database: they take the triggers off around that flush and put them back (``tests/conftest.py``).

A later migration that alters such a table ends with its operation again: SQLite alters a table by
building a new one, and the triggers go with the old.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from django.apps.registry import Apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import RunPython


@dataclass(frozen=True, slots=True)
class Guard:
    """The exceptions of one append-only table.

    - ``keys``: the column names of each unique constraint, and of the primary key unless it is an
      integer.
    - ``taken_if``: a condition over NEW under which a unique constraint with a condition is taken.
    - ``may_change``: the columns that may change; ``update_if`` is one more condition over OLD and
      NEW. With neither there is no update at all.
    - ``erased_if``: a condition over OLD under which a row may be deleted or, where ``blank`` names
      columns with the SQL of their empty values, these may be emptied.
    """

    table: str
    keys: Sequence[Sequence[str]] = ()
    taken_if: str = ""
    may_change: Sequence[str] = ()
    update_if: str | None = None
    erased_if: str = ""
    blank: Mapping[str, str] = field(default_factory=dict)


def append_only(
    table: str, *, keys: Sequence[Sequence[str]], update_if: str | None = None
) -> RunPython:
    """Return the migration operation that makes ``table`` append-only (see :class:`Guard`)."""
    return guarded(Guard(table, keys, update_if=update_if))


def guarded(guard: Guard) -> RunPython:
    """Return the migration operation for a guard; it can be repeated and reversed."""
    return RunPython(_create(guard), _drop(guard.table))


def ended_by(kind: str, session: str) -> str:
    """Return the condition that a session's last event is of ``kind``.

    ``session`` is SQL for the session's id.
    """
    return (
        f"(SELECT kind FROM audit_auditevent WHERE chain = ({session}) "  # noqa: S608 - our names
        f"ORDER BY seq DESC LIMIT 1) = '{kind}'"
    )


def names(table: str, vendor: str) -> set[str]:
    """Return the names of the triggers of a guarded table."""
    events = ("update", "delete", "truncate" if vendor == "postgresql" else "insert")
    return {f"{table}_no_{event}" for event in events}


_Step = Callable[[Apps, BaseDatabaseSchemaEditor], None]


def _create(guard: Guard) -> _Step:
    def run(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
        _drop(guard.table)(apps, editor)
        with editor.connection.cursor() as cursor:
            described = editor.connection.introspection.get_table_description(cursor, guard.table)
        vendor = editor.connection.vendor
        same = "IS" if vendor == "sqlite" else "IS NOT DISTINCT FROM"
        let_update = _let_update(guard, [column.name for column in described], same)
        for statement in _CREATE[vendor](guard, let_update):
            editor.execute(statement, params=None)

    return run


def _let_update(guard: Guard, columns: Sequence[str], same: str) -> str:
    """Return the condition under which an update passes, empty where none does."""
    if not guard.may_change:
        return f"({guard.update_if})" if guard.update_if else ""
    conditions = [f"({guard.update_if})"] if guard.update_if else []
    for column in columns:
        unchanged = f'NEW."{column}" {same} OLD."{column}"'
        if column in guard.blank:
            unchanged += f' OR (NEW."{column}" = {guard.blank[column]} AND {guard.erased_if})'
        if column not in guard.may_change:
            conditions.append(f"({unchanged})")
    return " AND ".join(conditions)


def _drop(table: str) -> _Step:
    def run(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
        postgresql = editor.connection.vendor == "postgresql"
        for trigger in sorted(names(table, editor.connection.vendor)):
            on = f" ON {table}" if postgresql else ""
            editor.execute(f"DROP TRIGGER IF EXISTS {trigger}{on}")
        if postgresql:
            editor.execute(f"DROP FUNCTION IF EXISTS {table}_refuse()")

    return run


def _let_delete(guard: Guard) -> str:
    return "" if guard.blank else guard.erased_if


def _sqlite(guard: Guard, let_update: str) -> list[str]:
    table = guard.table
    # A row can also be replaced through the hidden rowid, whatever the table's own keys are.
    exists = " OR ".join(
        "(" + " AND ".join(f"{column} = NEW.{column}" for column in key) + ")"
        for key in [["rowid"], *guard.keys]
    )
    if guard.taken_if:
        exists += f" OR ({guard.taken_if})"
    unless = f"({let_update} AND NEW.rowid = OLD.rowid) IS NOT TRUE" if let_update else ""
    let_delete = _let_delete(guard)
    unless_erased = f"({let_delete}) IS NOT TRUE" if let_delete else ""
    exists_already = f"EXISTS (SELECT 1 FROM {table} WHERE {exists})"  # noqa: S608 - names of our own tables
    return [
        f"CREATE TRIGGER {table}_no_{event} BEFORE {event.upper()} ON {table} "
        + (f"WHEN {condition} " if condition else "")
        + f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: {event} refused'); END"
        for event, condition in (
            ("update", unless),
            ("delete", unless_erased),
            ("insert", exists_already),
        )
    ]


def _postgresql(guard: Guard, let_update: str) -> list[str]:
    table = guard.table
    # The function holds the conditions: those of a trigger may not query other tables. An
    # existing key needs no trigger here: ON CONFLICT DO UPDATE fires the update trigger.
    passes = ""
    if let_update:
        passes += _if("UPDATE", let_update, "NEW")
    if _let_delete(guard):
        passes += _if("DELETE", _let_delete(guard), "OLD")
    function = (
        f"CREATE FUNCTION {table}_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {passes}"
        f"RAISE EXCEPTION '{table} is append-only: % refused', lower(TG_OP) "
        "USING ERRCODE = 'restrict_violation'; END $$"
    )
    return [function] + [
        f"CREATE TRIGGER {table}_no_{event} BEFORE {event.upper()} ON {table} "
        f"FOR EACH {level} EXECUTE FUNCTION {table}_refuse()"
        for event, level in (("update", "ROW"), ("delete", "ROW"), ("truncate", "STATEMENT"))
    ]


def _if(event: str, condition: str, row: str) -> str:
    # Two steps: a condition over rows is not even read where there are none (TRUNCATE).
    return f"IF TG_OP = '{event}' THEN IF {condition} THEN RETURN {row}; END IF; END IF; "


_CREATE: dict[str, Callable[[Guard, str], list[str]]] = {
    "sqlite": _sqlite,
    "postgresql": _postgresql,
}
