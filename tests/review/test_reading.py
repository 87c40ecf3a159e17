"""Reading what a citizen wrote is recorded: of the conversation, or of lists in the staff's chain.

Every way by which staff read it is here; ``docs/privacy.md`` lists them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conversations.reactions import rate
from conversations.turns import erasing
from ieim.audit.models import PEOPLE_CHAIN, AuditEvent
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.models import GoldenQuestion
from ieim.studio.trying import services as golden
from review.models import ReviewItem
from tests.fixtures import VISA
from tests.review import desk
from tests.review.people import browser, person

LISTS = ("review.listed", "review.feedback_listed", "golden.listed")


@pytest.fixture
def item(published: None) -> ReviewItem:
    return desk.the_item(desk.ask(VISA, {"service_select_v1": desk.BAD}), "service_select_v1")


@pytest.fixture
def eva(published: None) -> User:
    return person("eva")


def listed() -> list[tuple[str, str, Any]]:
    """Who was shown what in lists: kind, actor, payload."""
    events = AuditEvent.objects.filter(kind__in=LISTS).order_by("id")
    assert {event.chain for event in events} <= {PEOPLE_CHAIN}
    return [(event.kind, event.actor, json.loads(event.payload)) for event in events]


def read(item: ReviewItem) -> list[str]:
    """Who opened an item."""
    events = AuditEvent.objects.filter(chain=item.turn.session_id, kind="review.read")
    return list(events.order_by("seq").values_list("actor", flat=True))


def test_who_reads_an_item_is_recorded_once_an_hour_and_never_the_words(item: ReviewItem) -> None:
    for name in ("eva", "ada"):
        client = browser(person(name))
        assert client.get(f"/review/{item.pk}/").status_code == 200
        assert client.get(f"/api/v1/review/items/{item.pk}/").status_code == 200
    assert read(item) == ["staff:eva", "staff:ada"]
    words = AuditEvent.objects.filter(payload__contains=item.turn.text)
    assert not words.exists()


def test_who_may_not_read_it_leaves_no_trace_in_it(item: ReviewItem) -> None:
    client = browser(person("nobody", Role.CASEWORKER, "elsewhere"))
    for path in ("", "talk/"):
        assert client.get(f"/review/{item.pk}/{path}").status_code == 404
    client.get("/review/")
    assert not AuditEvent.objects.filter(kind="review.read").exists()
    assert listed() == []


@pytest.mark.parametrize(
    "open_",
    [
        lambda client, item: client.get(f"/review/{item.pk}/talk/"),
        lambda client, item: client.post(
            f"/review/{item.pk}/preview/",
            {"action": "dismiss", "version": item.version, "reason": "It is a test."},
        ),
    ],
    ids=["talk", "preview"],
)
def test_its_other_pages_are_readings_too(
    item: ReviewItem, eva: User, open_: Callable[[Client, ReviewItem], Any]
) -> None:
    client = browser(eva)
    client.post(f"/review/{item.pk}/claim/")
    item.refresh_from_db()
    for _ in range(2):
        assert item.turn.text in open_(client, item).content.decode()
    assert read(item) == ["staff:eva"]


@pytest.mark.parametrize("address", ["/review/", "/api/v1/review/items/"])
def test_a_page_of_rows_is_one_event_with_what_is_new_on_it(
    item: ReviewItem, eva: User, address: str
) -> None:
    second = desk.the_item(desk.ask(f"{VISA} again", {"category_select_v1": desk.BAD}))
    client = browser(eva)
    for _ in range(3):
        assert client.get(address).status_code == 200
    ((kind, actor, payload),) = listed()
    assert (kind, actor) == ("review.listed", "staff:eva")
    assert set(payload) == {"items"}
    assert set(payload["items"]) == {str(item.pk), str(second.pk)}
    third = desk.the_item(desk.ask(f"{VISA} once more", {"category_select_v1": desk.BAD}))
    assert client.get(address).status_code == 200
    assert listed()[1:] == [("review.listed", "staff:eva", {"items": [str(third.pk)]})]


def test_the_list_beside_an_item_is_recorded_too(item: ReviewItem, eva: User) -> None:
    other = desk.the_item(desk.ask(f"{VISA} says Zebulon", {"category_select_v1": desk.BAD}))
    page = browser(eva).get(f"/review/{desk.take(item, eva).pk}/?list=q%3DZebulon")
    assert "says Zebulon" in page.content.decode()
    assert listed() == [("review.listed", "staff:eva", {"items": [str(other.pk)]})]


def test_a_page_that_was_seen_costs_no_statement_and_polls_write_nothing(
    item: ReviewItem, eva: User
) -> None:
    client = browser(eva)
    written = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as made:
            text = client.get("/review/").content.decode()
        written.append([q["sql"] for q in made if "audit_" in q["sql"]])
    assert [sum("INSERT" in sql for sql in statements) for statements in written] == [1, 0]
    assert written[1] == []
    cache.clear()
    client.get("/review/changes/", {"shown": item.pk.hex})
    assert item.turn.text[:20] in text
    assert len(listed()) == 1


def test_after_an_hour_it_is_a_reading_again(
    item: ReviewItem, eva: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ieim.people.reading.AGAIN", 0)  # seconds: over at once
    for _ in range(2):
        browser(eva).get("/review/")
    assert len(listed()) == 2


def test_what_could_not_be_recorded_is_not_shown(
    item: ReviewItem, eva: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = browser(eva)
    client.raise_request_exception = False
    with monkeypatch.context() as broken:
        broken.setattr("ieim.audit.canonical.MAX_PAYLOAD_BYTES", 10)
        for address in ("/review/", f"/review/{item.pk}/"):
            page = client.get(address)
            assert page.status_code == 500
            assert item.turn.text[:20] not in page.content.decode()
    client.get("/review/")
    client.get(f"/review/{item.pk}/")
    assert (len(listed()), read(item)) == (1, ["staff:eva"])


def test_feedback_is_a_list_by_turn(published: None, eva: User) -> None:
    turn = desk.ask(VISA, {})
    text = "It was the wrong office."
    rate(session_id=turn.session_id, turn_id=turn.pk, useful=False, text=text)
    for _ in range(2):
        assert "the wrong office" in browser(eva).get("/review/feedback/").content.decode()
    assert listed() == [("review.feedback_listed", "staff:eva", {"turns": [str(turn.pk)]})]


@pytest.mark.parametrize("page", ["/knowledge/try/questions/", "remove"])
def test_golden_questions_are_a_list_by_name(published: None, page: str) -> None:
    question = keep("A citizen asked this")
    who = User.objects.create_superuser("root")
    address = {"remove": f"/knowledge/try/questions/{question.name}/remove/"}.get(page, page)
    for _ in range(2):
        assert "A citizen asked this" in browser(who).get(address).content.decode()
    assert listed() == [("golden.listed", "staff:root", {"questions": [question.name]})]


def keep(text: str) -> GoldenQuestion:
    expected = {"inquiry": False, "agencies": [], "service": None, "acceptable_services": []}
    by = person("edgar", Role.EDITOR)
    return golden.store_written(text=text, expected=expected, note="", by=by)[0]


def test_nothing_of_an_erased_conversation_can_be_guessed_from_a_list(
    item: ReviewItem, eva: User
) -> None:
    session = item.turn.session
    browser(eva).get("/review/", {"q": session.reference})
    erasing.erase_session(session_id=session.pk)
    ((_, _, payload),) = listed()
    assert payload == {"items": [str(item.pk)]}
    assert not ReviewItem.objects.filter(pk=item.pk).exists()
