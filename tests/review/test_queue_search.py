from __future__ import annotations

import pytest
from django.db import connection

from conversations.erasing import erase_session
from conversations.models import Turn
from review import fulltext, searching
from review.models import ReviewItem
from review.services import open_item
from tests.review.conftest import make_turn

pytestmark = pytest.mark.django_db


def item_of(text: str) -> ReviewItem:
    return open_item(turn_id=make_turn(text).pk, stage="reply", codes=["schema"])


def search(typed: str) -> set[ReviewItem]:
    return set(searching.found(ReviewItem.objects.all(), typed))


@pytest.mark.parametrize("few", [0, searching.FEW])
@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("passport", {"lost", "new"}),
        ("PASSPORT lost", {"lost"}),
        ("lost passport", {"lost"}),
        ("pass", {"lost", "new"}),
        ("port", set()),
        ("führerschein", {"german"}),
        ("e-mail", {"mail"}),
        ("A-1234", {"mail"}),
        ("don't", {"new"}),
        ("πιστοποιητικό", {"greek"}),
        ("passport dog", set()),
    ],
)
def test_it_finds_every_word_that_begins_so(
    monkeypatch: pytest.MonkeyPatch, few: int, typed: str, found: set[str]
) -> None:
    # Rare words are looked up one by one, common ones met on the way: both find the same.
    monkeypatch.setattr(searching, "FEW", few)
    items = {
        "lost": item_of("I have lost my Passport."),
        "new": item_of("I don't know how to get a new passport, please help"),
        "german": item_of("Wie verlängere ich meinen Führerschein?"),
        "mail": item_of("No answer to my e-mail about case A-1234"),
        "greek": item_of("Χρειάζομαι πιστοποιητικό γέννησης"),
    }
    assert search(typed) == {items[name] for name in found}


@pytest.mark.parametrize(
    "typed",
    ["???", "' OR 1", '"', "\\", "a & b | !c", "text:x", "NEAR(a b)", "*", "- -", ":*", "'"],
)
def test_it_takes_whatever_is_typed(typed: str) -> None:
    item_of("nothing of that kind")
    assert search(typed) == set()


def test_it_follows_the_words() -> None:
    item = item_of("my old words")
    Turn.objects.filter(pk=item.turn_id).update(text="something new")
    assert search("old") == set()
    assert search("something") == {item}
    turn = Turn.objects.get(pk=item.turn_id)
    turn.language = "en"
    turn.save()
    assert search("something") == {item}


def test_it_forgets_what_is_erased() -> None:
    item = item_of("a secret illness")
    session = item.turn.session_id
    erase_session(session_id=session)
    other = open_item(turn_id=item.turn_id, stage="reply", codes=[])
    assert search("illness") == set()
    assert fulltext.some(fulltext.query_of("illness"), 9) == []
    other.delete()
    Turn.objects.filter(pk=item.turn_id).delete()
    assert fulltext.some(fulltext.query_of("secret"), 9) == []


def test_the_index_is_still_there_after_all_migrations() -> None:
    # SQLite alters a table by building a new one: its triggers are gone then. A migration that does
    # so to the turns is followed by one of this app that ends with fulltext.index_words().
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            assert {name for (name,) in cursor.fetchall()} >= fulltext.TRIGGERS
        else:
            cursor.execute(
                "SELECT indexdef FROM pg_indexes WHERE tablename = %s", [Turn._meta.db_table]
            )
            assert any("USING gin" in definition for (definition,) in cursor.fetchall())
