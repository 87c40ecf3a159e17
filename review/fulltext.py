"""The database's own full-text index over the citizens' words.

PostgreSQL: a GIN index over ``conversations_turn.text``. SQLite: an FTS5 table without content of
its own, which triggers keep in step with ``conversations_turn``: what is erased there is erased
here. Words count as written, without regard to case; nothing is stemmed, because citizens write in
many languages, and a search word finds every word that begins with it.

A later migration that alters ``conversations_turn`` is followed by one here that ends with
:func:`index_words` again: SQLite alters a table by building a new one, and the triggers go with the
old. ``tests/review/test_queue_search.py`` notices where that was forgotten.
"""

from __future__ import annotations

import re
from uuid import UUID

from django.apps.registry import Apps
from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import RunPython
from django.db.models import BooleanField, IntegerField, QuerySet
from django.db.models.expressions import RawSQL

from review.models import ReviewItem

_ROWS, _WORDS, _TURNS = "review_searchrow", "review_searchword", "conversations_turn"
_WORD = re.compile(r"""[^\s"'\\:*&|!()<>]+""")
_INSERT = (
    f"INSERT INTO {_ROWS} (turn_id) VALUES (NEW.id); "  # noqa: S608 - names of our own tables
    f"INSERT INTO {_WORDS} (rowid, text) SELECT id, NEW.text FROM {_ROWS} WHERE turn_id = NEW.id;"
)
_FORGET = (
    f"INSERT INTO {_WORDS} ({_WORDS}, rowid, text) "  # noqa: S608 - names of our own tables
    f"SELECT 'delete', id, OLD.text FROM {_ROWS} WHERE turn_id = OLD.id;"
)
_SQLITE = {
    "insert": f"AFTER INSERT ON {_TURNS} BEGIN {_INSERT} END",
    "update": (
        f"AFTER UPDATE OF text ON {_TURNS} WHEN OLD.text IS NOT NEW.text BEGIN {_FORGET} "  # noqa: S608
        f"INSERT INTO {_WORDS} (rowid, text) SELECT id, NEW.text FROM {_ROWS} "
        "WHERE turn_id = NEW.id; END"
    ),
    "delete": (
        f"AFTER DELETE ON {_TURNS} BEGIN {_FORGET} "  # noqa: S608 - names of our own tables
        f"DELETE FROM {_ROWS} WHERE turn_id = OLD.id; END"
    ),
}
TRIGGERS = {f"{_WORDS}_{event}" for event in _SQLITE}
"""The names of SQLite's triggers."""


def index_words() -> RunPython:
    """Return the migration operation that makes the index and fills it; it can be repeated."""
    return RunPython(_create, _drop)


def query_of(typed: str) -> str:
    """Return what was typed as a query in the database's language; empty without any word."""
    words = [word for word in _WORD.findall(typed) if any(map(str.isalnum, word))]
    if connection.vendor == "postgresql":
        return " & ".join(f"'{word}':*" for word in words)
    return " ".join(f'"{word}"*' for word in words)


def some(query: str, limit: int) -> list[UUID]:
    """Return the ids of up to ``limit`` turns that a query of :func:`query_of` finds."""
    with connection.cursor() as cursor:
        cursor.execute(_SOME[connection.vendor], [query, limit])
        return [UUID(str(found)) for (found,) in cursor.fetchall()]


def walk(items: QuerySet[ReviewItem], query: str) -> QuerySet[ReviewItem]:
    """Return the items whose message a query finds, so that an ordered index is still walked.

    For words that are in many messages: the first of the list are then soon found.
    """
    # Said like this, each database keeps to the order that it is asked for and looks each item up.
    matching = RawSQL(_MATCHING[connection.vendor], [query], BooleanField())  # noqa: S611
    if connection.vendor == "postgresql":
        return items.filter(matching)
    row = RawSQL(_ROW, [], output_field=IntegerField())  # noqa: S611 - our own names
    return items.alias(searched=row).filter(searched__in=matching)


_SOME = {
    "postgresql": (
        f"SELECT id FROM {_TURNS} "  # noqa: S608 - names of our own tables
        "WHERE to_tsvector('simple', text) @@ to_tsquery('simple', %s) LIMIT %s"
    ),
    "sqlite": (
        f"SELECT turn_id FROM {_WORDS} JOIN {_ROWS} ON {_ROWS}.id = {_WORDS}.rowid "  # noqa: S608
        f"WHERE {_WORDS} MATCH %s LIMIT %s"
    ),
}
_MATCHING = {
    "postgresql": (
        f"EXISTS (SELECT 1 FROM {_TURNS} WHERE id = review_reviewitem.turn_id "  # noqa: S608
        "AND to_tsvector('simple', text) @@ to_tsquery('simple', %s) OFFSET 0)"
    ),
    "sqlite": f"SELECT rowid FROM {_WORDS} WHERE {_WORDS} MATCH %s",  # noqa: S608
}
_ROW = f"SELECT id FROM {_ROWS} WHERE {_ROWS}.turn_id = review_reviewitem.turn_id"  # noqa: S608


def _create(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    _drop(apps, editor)
    if editor.connection.vendor == "postgresql":
        editor.execute(f"CREATE INDEX {_WORDS} ON {_TURNS} USING gin (to_tsvector('simple', text))")
        return
    editor.execute(f"CREATE TABLE {_ROWS} (id INTEGER PRIMARY KEY, turn_id char(32) UNIQUE)")
    editor.execute(
        f"CREATE VIRTUAL TABLE {_WORDS} USING fts5 "
        "(text, content='', tokenize = 'unicode61 remove_diacritics 0')"
    )
    editor.execute(f"INSERT INTO {_ROWS} (turn_id) SELECT id FROM {_TURNS}")  # noqa: S608
    editor.execute(
        f"INSERT INTO {_WORDS} (rowid, text) SELECT {_ROWS}.id, {_TURNS}.text FROM {_ROWS} "  # noqa: S608
        f"JOIN {_TURNS} ON {_TURNS}.id = {_ROWS}.turn_id"
    )
    for event, what in _SQLITE.items():
        editor.execute(f"CREATE TRIGGER {_WORDS}_{event} {what}", params=None)


def _drop(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(f"DROP INDEX IF EXISTS {_WORDS}")
        return
    for trigger in sorted(TRIGGERS):
        editor.execute(f"DROP TRIGGER IF EXISTS {trigger}")
    for table in (_WORDS, _ROWS):
        editor.execute(f"DROP TABLE IF EXISTS {table}")
