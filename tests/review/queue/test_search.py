from __future__ import annotations

import pytest
from django.db import connection

from conversations.models import Turn
from conversations.turns.erasing import erase_session
from review.models import ReviewItem, SearchText
from review.queue import filters, fulltext
from review.queue.filters import ItemFilter
from review.services import open_item
from tests.audit.owner import triggers_lifted
from tests.review.conftest import make_turn
from tests.selection import sample

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def item_of(text: str) -> ReviewItem:
    return open_item(turn_id=make_turn(text).pk, stage="reply", codes=["schema"])


def search(typed: str) -> set[ReviewItem]:
    return set(ItemFilter.parse({"q": typed}).qs)


@pytest.mark.parametrize("few", [0, filters.FEW])
@pytest.mark.parametrize(
    ("typed", "expected"),
    sample(
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
            ("jose", {"spanish"}),
            ("JOSÉ", {"spanish"}),
            ("nunez", {"spanish"}),
            ("Jose\u0301", {"spanish"}),
            ("fuhrerschein", {"german"}),
            ("签证", {"chinese"}),
            ("延长旅游", {"chinese"}),
            ("长签", set()),
            ("证延", set()),
            ("签证 visa", {"chinese"}),
            ("パスポート", {"japanese"}),
            ("ポー", {"japanese"}),
            ("หนังสือ", {"thai"}),
            ("เดินทาง", {"thai"}),
            ("permís", {"spanish"}),
        ],
        keep=8,
    ),
)
def test_it_finds_every_word_that_begins_so(
    monkeypatch: pytest.MonkeyPatch, few: int, typed: str, expected: set[str]
) -> None:
    # Rare words are looked up one by one, common ones met on the way: both find the same.
    monkeypatch.setattr(filters, "FEW", few)
    items = {
        "lost": item_of("I have lost my Passport."),
        "new": item_of("I don't know how to get a new passport, please help"),
        "german": item_of("Wie verlängere ich meinen Führerschein?"),
        "mail": item_of("No answer to my e-mail about case A-1234"),
        "greek": item_of("Χρειάζομαι πιστοποιητικό γέννησης"),
        "spanish": item_of("Soy José Núñez y busco un permiso"),
        "chinese": item_of("我想延长旅游签证，visa到期了"),
        "japanese": item_of("新しいパスポートが必要です"),
        "thai": item_of("ขอหนังสือเดินทางใหม่"),
    }
    assert search(typed) == {items[name] for name in expected}


@pytest.mark.parametrize(
    "typed",
    ["???", "' OR 1", '"', "\\", "a & b | !c", "text:x", "NEAR(a b)", "*", "- -", ":*", "'"],
)
def test_it_takes_whatever_is_typed(typed: str) -> None:
    item_of("nothing of that kind")
    assert search(typed) == set()


def test_a_turn_without_an_item_is_in_no_index() -> None:
    make_turn("my own words")
    assert fulltext.item_ids(fulltext.query_of("words"), 9) == []


def test_it_forgets_what_is_erased() -> None:
    item = item_of("a secret illness")
    session = item.turn.session_id
    erase_session(session_id=session)
    other = open_item(turn_id=item.turn_id, stage="reply", codes=[])
    assert search("illness") == set()
    assert fulltext.item_ids(fulltext.query_of("illness"), 9) == []
    with triggers_lifted():
        other.delete()
        Turn.objects.filter(pk=item.turn_id).delete()
    assert fulltext.item_ids(fulltext.query_of("secret"), 9) == []


def test_the_index_is_still_there_after_all_migrations() -> None:
    # SQLite alters a table by building a new one: its triggers are gone then. A migration that does
    # so to the texts is followed by one that ends with fulltext.create().
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            assert {name for (name,) in cursor.fetchall()} >= fulltext.TRIGGERS
        else:
            cursor.execute(
                "SELECT indexdef FROM pg_indexes WHERE tablename = %s", [SearchText._meta.db_table]
            )
            assert any("USING gin" in definition for (definition,) in cursor.fetchall())
