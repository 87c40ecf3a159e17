"""The database's own full-text index over the citizens' words.

An item has a row with its message's words as they are searched: case and accents folded,
and scripts that separate no words cut into single characters. So "jose" finds José and the other
way round, and a part of a Chinese message finds it. PostgreSQL has a GIN index over these rows;
SQLite has an FTS5 table, which triggers keep in step with them. Nothing is stemmed, because
citizens write in many languages, and a search word finds every word that begins with it.

The row is written when the item is opened, and goes with it when the conversation is erased.
"""

from __future__ import annotations

from uuid import UUID

from django.apps.registry import Apps
from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import BooleanField, IntegerField, QuerySet
from django.db.models.expressions import RawSQL

from ieim.search import analysis
from review.models import ReviewItem, SearchText

_TEXTS, _WORDS = "review_searchtext", "review_searchword"
_INSERT = f"INSERT INTO {_WORDS} (rowid, words) VALUES (NEW.id, NEW.words);"  # noqa: S608 - our names
_FORGET = (
    f"INSERT INTO {_WORDS} ({_WORDS}, rowid, words) "  # noqa: S608 - names of our own tables
    "VALUES ('delete', OLD.id, OLD.words);"
)
_SQLITE = {
    "insert": f"AFTER INSERT ON {_TEXTS} BEGIN {_INSERT} END",
    "update": f"AFTER UPDATE ON {_TEXTS} BEGIN {_FORGET} {_INSERT} END",
    "delete": f"AFTER DELETE ON {_TEXTS} BEGIN {_FORGET} END",
}
TRIGGERS = {f"{_WORDS}_{event}" for event in _SQLITE}
"""The names of SQLite's triggers."""


def searched(text: str) -> str:
    """Return a text as it is searched."""
    return " ".join(analysis.words(text))


def query_of(typed: str) -> str:
    """Return what was typed as a query in the database's language; empty without any word."""
    # What was typed without a space between has to stand so: it is a phrase.
    phrases = [phrase for part in typed.split() if (phrase := searched(part))]
    if connection.vendor == "postgresql":
        return " & ".join(f"'{phrase}':*" for phrase in phrases)
    return " ".join(f'"{phrase}"*' for phrase in phrases)


def item_ids(query: str, limit: int) -> list[UUID]:
    """Return the ids of up to ``limit`` items whose message a query of :func:`query_of` finds."""
    if connection.vendor == "postgresql":
        matching = SearchText.objects.filter(RawSQL(_MATCHES, [query], BooleanField()))  # noqa: S611 - our own names
    else:
        rowids = RawSQL(_MATCHING["sqlite"], [query])  # noqa: S611 - our own names
        matching = SearchText.objects.filter(pk__in=rowids)
    return list(matching.values_list("item_id", flat=True)[:limit])


def walk(items: QuerySet[ReviewItem], query: str) -> QuerySet[ReviewItem]:
    """Return the items whose message a query finds, so that an ordered index is still walked.

    For words that are in many messages: the first of the list are then soon found.
    """
    # In this form, each database keeps to the order that it is given and looks each item up.
    matching = RawSQL(_MATCHING[connection.vendor], [query], BooleanField())  # noqa: S611 - our own names
    if connection.vendor == "postgresql":
        return items.filter(matching)
    row = RawSQL(_ROW, [], output_field=IntegerField())  # noqa: S611 - our own names
    return items.alias(searched=row).filter(searched__in=matching)


_MATCHES = "to_tsvector('simple', words) @@ to_tsquery('simple', %s)"
_MATCHING = {
    "postgresql": (
        f"EXISTS (SELECT 1 FROM {_TEXTS} WHERE item_id = review_reviewitem.id "  # noqa: S608 - our names
        f"AND {_MATCHES} OFFSET 0)"
    ),
    "sqlite": f"SELECT rowid FROM {_WORDS} WHERE {_WORDS} MATCH %s",  # noqa: S608 - our names
}
_ROW = f"SELECT id FROM {_TEXTS} WHERE {_TEXTS}.item_id = review_reviewitem.id"  # noqa: S608 - our names


def create(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Create the index over the existing rows: a repeatable step of a migration."""
    drop(apps, editor)
    if editor.connection.vendor == "postgresql":
        words = "to_tsvector('simple', words)"
        editor.execute(f"CREATE INDEX {_WORDS} ON {_TEXTS} USING gin ({words})")
        return
    editor.execute(
        f"CREATE VIRTUAL TABLE {_WORDS} USING fts5 (words, content='{_TEXTS}', content_rowid='id', "
        "tokenize = \"unicode61 remove_diacritics 0 categories 'L* M* N* Co'\")"
    )
    editor.execute(f"INSERT INTO {_WORDS} ({_WORDS}) VALUES ('rebuild')")  # noqa: S608 - our names
    for event, body in _SQLITE.items():
        editor.execute(f"CREATE TRIGGER {_WORDS}_{event} {body}", params=None)


def drop(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Drop the index if it exists."""
    if editor.connection.vendor == "postgresql":
        editor.execute(f"DROP INDEX IF EXISTS {_WORDS}")
        return
    for trigger in sorted(TRIGGERS):
        editor.execute(f"DROP TRIGGER IF EXISTS {trigger}")
    editor.execute(f"DROP TABLE IF EXISTS {_WORDS}")
