"""Append-only tables, held by the database itself.

What the triggers refuse, on SQLite and PostgreSQL alike, arrives as ``IntegrityError``: UPDATE,
DELETE, on SQLite an INSERT of an existing key (``INSERT OR REPLACE`` deletes the old row without
firing a delete trigger), on PostgreSQL TRUNCATE.

There is no switch that lets a session pass: whoever can run SQL could set it. What is left is what
no trigger can stop: a table's owner can drop the triggers. In production the role that the
application uses should therefore not own the tables (migrate as the owner, grant SELECT and INSERT,
and UPDATE on audit_audithead only); what an owner does is then found by the hash chain and by a
checkpoint kept elsewhere.

That is also why ``manage.py flush`` fails on a database with events. Test suites, whose
transactional tests flush, own their database: they take the triggers off around that flush and put
them back (``tests/conftest.py``), so that nothing in production code knows of tests.

A later migration that alters such a table ends with :func:`append_only` again: SQLite alters a
table by building a new one, and the triggers go with the old.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.apps.registry import Apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import RunPython


def append_only(
    table: str, *, keys: Sequence[Sequence[str]], update_if: str | None = None
) -> RunPython:
    """Return the migration operation that makes ``table`` append-only.

    ``keys`` are the column names of each unique constraint, and of the primary key unless it is an
    integer. ``update_if`` is an SQL condition over OLD and NEW under which an update passes after
    all (None: never). The operation can be repeated and reversed.
    """
    return RunPython(_create(table, keys, update_if), _drop(table))


_Step = Callable[[Apps, BaseDatabaseSchemaEditor], None]


def _create(table: str, keys: Sequence[Sequence[str]], update_if: str | None) -> _Step:
    def run(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
        _drop(table)(apps, editor)
        vendor = editor.connection.vendor
        for statement in _CREATE[vendor](table, keys, update_if):
            editor.execute(statement, params=None)

    return run


def _drop(table: str) -> _Step:
    def run(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
        postgresql = editor.connection.vendor == "postgresql"
        for event in ("update", "delete", "truncate" if postgresql else "insert"):
            on = f" ON {table}" if postgresql else ""
            editor.execute(f"DROP TRIGGER IF EXISTS {table}_no_{event}{on}")
        if postgresql:
            editor.execute(f"DROP FUNCTION IF EXISTS {table}_refuse()")

    return run


def _sqlite(table: str, keys: Sequence[Sequence[str]], update_if: str | None) -> list[str]:
    # A row can also be replaced through the hidden rowid, whatever the table's own keys are.
    exists = " OR ".join(
        "(" + " AND ".join(f"{column} = NEW.{column}" for column in key) + ")"
        for key in [["rowid"], *keys]
    )
    unless = f"({update_if} AND NEW.rowid = OLD.rowid) IS NOT TRUE" if update_if else ""
    taken = f"EXISTS (SELECT 1 FROM {table} WHERE {exists})"  # noqa: S608 - names of our own tables
    return [
        f"CREATE TRIGGER {table}_no_{event} BEFORE {event.upper()} ON {table} "
        + (f"WHEN {condition} " if condition else "")
        + f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: {event} refused'); END"
        for event, condition in (("update", unless), ("delete", ""), ("insert", taken))
    ]


def _postgresql(table: str, keys: Sequence[Sequence[str]], update_if: str | None) -> list[str]:
    unless = f"({update_if}) IS NOT TRUE" if update_if else ""
    # An existing key needs no trigger here: ON CONFLICT DO UPDATE fires the update trigger.
    function = (
        f"CREATE FUNCTION {table}_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"RAISE EXCEPTION '{table} is append-only: % refused', lower(TG_OP) "
        "USING ERRCODE = 'restrict_violation'; END $$"
    )
    return [function] + [
        f"CREATE TRIGGER {table}_no_{event} BEFORE {event.upper()} ON {table} "
        f"FOR EACH {level} "
        + (f"WHEN ({condition}) " if condition else "")
        + f"EXECUTE FUNCTION {table}_refuse()"
        for event, level, condition in (
            ("update", "ROW", unless),
            ("delete", "ROW", ""),
            ("truncate", "STATEMENT", ""),
        )
    ]


_CREATE: dict[str, Callable[[str, Sequence[Sequence[str]], str | None], list[str]]] = {
    "sqlite": _sqlite,
    "postgresql": _postgresql,
}
