from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from conversations.models import Turn
from ieim.people.models import User
from ieim.people.roles import Role
from review import claims
from review.models import Action, Decision, ItemFlag, Priority, ReviewItem
from review.queue.selectors import PAGE_SIZE
from review.services import open_item
from review.states import ReviewState
from tests.review.conftest import make_turn
from tests.review.people import belong, browser, person

pytestmark = pytest.mark.both_databases

QUEUE = reverse("review:queue")
NOON = datetime(2026, 11, 18, 12, tzinfo=timezone.get_default_timezone())


@pytest.fixture
def eva(db: None) -> User:
    return person("eva", Role.SUPERVISOR, name="Eva Maro")


@pytest.fixture
def client(eva: User) -> Client:
    return browser(eva)


def make(
    text: str = "Where?", *agencies: str, flag: str = "", late: int = 0, **columns: Any
) -> ReviewItem:
    """An open item that is due ``late`` minutes after the others."""
    item = open_item(turn_id=make_turn(text).pk, stage="reply", codes=["schema"])
    values = {"due_at": NOON + timedelta(minutes=late), **columns}
    ReviewItem.objects.filter(pk=item.pk).update(**values)
    if flag:
        ItemFlag.objects.create(item=item, code=flag)
    return belong(item, *agencies)


def listed(client: Client, query: str = "") -> list[ReviewItem]:
    """The items of a page, in its order."""
    response = client.get(f"{QUEUE}?{query}")
    assert response.status_code == 200
    ids = re.findall(r'id="row-([0-9a-f-]+)"', response.content.decode())
    by_key = {str(item.pk): item for item in ReviewItem.objects.all()}
    return [by_key[pk] for pk in ids]


def text_of(client: Client, address: str = QUEUE) -> str:
    return client.get(address).content.decode()


def test_what_is_due_first_comes_first(client: Client) -> None:
    late, soon, between = make(late=9), make(late=1), make(late=5)
    assert listed(client) == [soon, between, late]


def test_a_row_says_what_is_wrong_and_whose_it_is(client: Client, stopped: Turn) -> None:
    (item,) = ReviewItem.objects.all()
    text = text_of(client)
    assert "answer was not in the form it must have." in text
    assert "json.syntax" not in text.partition('id="queue"')[2]
    for fact in ("Which topic?", "Immigration", "English", stopped.text, stopped.session.reference):
        assert fact in text
    assert f'href="{reverse("review:item", args=[item.pk])}"' in text
    due = timezone.localtime(item.due_at)
    assert f'title="{due:%A} {due.day} {due:%B %Y, %H:%M}' in text
    assert ">due " in text
    assert "Free" in text


def test_a_row_shows_words_and_no_markup(client: Client) -> None:
    make("<script>alert(1)</script> " + "x" * 500)
    text = text_of(client)
    assert "&lt;script&gt;alert(1)&lt;/script&gt; xxx" in text
    assert "<script>alert" not in text
    assert "x" * 200 not in text


def test_each_list_has_its_items(client: Client, eva: User) -> None:
    ben = person("ben")
    fields: dict[str, Any] = {
        "state": "claimed",
        "claimed_until": timezone.now() + timedelta(minutes=9),
    }
    free, mine, theirs = (
        make(),
        make(late=1, claimed_by=eva, **fields),
        make(late=2, claimed_by=ben, **fields),
    )
    run_out = make(late=3, claimed_by=eva, state="claimed", claimed_until=NOON)
    second = make(late=4, state="second_opinion")
    looked_at = make(late=5, claimed_by=ben, **fields)
    for item in (second, looked_at):
        Decision.objects.create(item=item, actor=eva, action=Action.RETRY, reason="why")
    handed = make(late=6, claimed_by=ben, **fields)
    Decision.objects.create(item=handed, actor=eva, action=Action.HAND_OVER, reason="why")
    doubted = make(late=7, claimed_by=ben, **fields)
    first = Decision.objects.create(item=doubted, actor=eva, action=Action.WRITE, reason="why")
    Decision.objects.create(
        item=doubted, actor=ben, action=Action.DISAGREE, reason="no", about=first
    )
    older = make(state="decided", decided_at=NOON - timedelta(days=1))
    newer = make(late=9, state="decided", decided_at=NOON)

    # What colleagues have at the moment is left out, unless one asks for it.
    assert listed(client) == [free, mine, run_out]
    assert listed(client, "held=1") == [free, mine, theirs, run_out, handed, doubted]
    assert client.get(QUEUE, {"held": "1"}).content.decode().count("Sent back") == 1
    assert listed(client, "tab=mine") == [mine]
    assert listed(client, "tab=second") == [second, looked_at]
    assert listed(client, "tab=done") == [newer, older]
    text = text_of(client, f"{QUEUE}?held=1")
    assert "Claimed by Ben" in text
    assert "Yours" in text
    assert text.count("data-claim>Go on<") == 1
    assert re.findall(r'queue-tabs__count">(\d+\+?)<', text) == ["3", "1", "2", "0"]


def test_it_offers_the_filters_whose_values_the_list_holds(client: Client) -> None:
    for _ in range(3):
        make(language="de", reason="json.syntax")
    make(language="fr", reason="score.minimum")
    make(language="es", priority=Priority.LOW)
    page = text_of(client)
    assert 'queue-tabs__count">4<' in page
    assert "facet-language" not in page
    htmx = {"HX-Request": "true"}
    page = client.get(f"{QUEUE}?facets=1", headers=htmx).content.decode()
    assert "<html" not in page
    assert page in text_of(client, f"{QUEUE}?facets=1")
    facet = page.partition('id="facet-language"')[2].partition("</div>")[0]
    assert re.findall(r'language=(\w\w)".*?facet__number">(\d)<', facet) == [
        ("de", "3"),
        ("fr", "1"),
    ]
    narrowed = text_of(client, f"{QUEUE}?language=fr")
    assert len(re.findall(r'id="row-', narrowed)) == 1
    assert 'name="language" value="fr"' in narrowed


def test_what_only_triage_failed_at_is_a_list_of_its_own(client: Client) -> None:
    waits, triage = make(), make(stage="extract", priority=Priority.LOW)
    assert listed(client, "") == [waits]
    assert listed(client, "tab=triage") == [triage]


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("agency=housing", {"agencies": ["housing"]}),
        ("agency=housing", {"agencies": ["housing", "vehicles"]}),
        ("agency=housing&tab=second", {"agencies": ["a", "housing"], "state": "second_opinion"}),
        ("stage=classify", {"stage": "classify"}),
        ("reason=reply.empty", {"reason": "reply.empty"}),
        ("urgency=high", {"urgency": "high"}),
        ("flag=fraud", {"flag": "fraud"}),
        ("language=de", {"language": "de"}),
        ("age=3-days", {"opened_at": NOON - timedelta(days=900)}),
        ("overdue=1", {"due_at": NOON - timedelta(days=900)}),
        ("q=harbour", {"text": "a shop in the harbour"}),
        ("q=harbour&agency=housing&overdue=", {"text": "the Harbour", "agencies": ["housing"]}),
    ],
)
def test_it_filters(client: Client, query: str, columns: dict[str, Any]) -> None:
    later = timezone.now() + timedelta(days=2)
    make("Where?", "vehicles", due_at=later)
    columns = {"text": "Where?", "due_at": later, **columns}
    result = make(columns.pop("text"), *columns.pop("agencies", []), **columns)
    assert listed(client, query) == [result]


def test_it_says_what_an_address_has_wrong(client: Client) -> None:
    item = make()
    wrong = ["tab=x", "age=x", "overdue=yes", f"q={'x' * 101}", f"agency={'x' * 201}"]
    wrong += ["stage=%00", "q=a%0Db", "after=x", "after=1-2", f"before={'9' * 20}-{'0' * 32}"]
    for query in wrong:
        response = client.get(f"{QUEUE}?{query}")
        text = response.content.decode()
        assert response.status_code == 400, query
        assert 'id="find-error"' in text
        assert f'id="row-{item.pk}"' in text


def test_it_says_that_nothing_is_there(client: Client) -> None:
    assert "Nothing is waiting." in text_of(client)
    assert "Nothing fits" in text_of(client, f"{QUEUE}?q=harbour")
    assert "You have claimed nothing." in text_of(client, f"{QUEUE}?tab=mine")


def test_it_asks_as_often_for_a_full_page_as_for_one_item(
    client: Client, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    def queries(query: str) -> int:
        client.get(f"{QUEUE}?{query}")  # rows that are new to somebody are recorded
        with CaptureQueriesContext(connection) as captured:
            client.get(f"{QUEUE}?{query}")
            return len(captured)

    make("harbour", flag="fraud")
    addresses = tuple(
        f"single=1&{query}" for query in ("", "q=harbour", "flag=fraud", "tab=open&agency=")
    )
    one = [queries(address) for address in addresses]
    for n in range(PAGE_SIZE + 5):
        make("harbour", flag="fraud", late=n)
    assert [queries(address) for address in addresses] == one
    assert max(one) <= 34  # one of them: what an administrator gave alone


def test_staff_of_an_agency_see_theirs_and_some_what_is_nobodys_yet(eva: User) -> None:
    nobodys, theirs = make(), make("Where?", "housing", late=1)
    shared = make("Where?", "housing", "vehicles", late=2)
    make("Where?", "vehicles", late=3)
    client = browser(person("ben", Role.CASEWORKER, "housing"))
    assert listed(client) == [theirs, shared]
    assert listed(client, "agency=vehicles") == [shared]
    assert 'queue-tabs__count">2<' in text_of(client)
    assert listed(browser(person("sofia", Role.SUPERVISOR, "housing"))) == [nobodys, theirs, shared]


def test_an_auditor_reads_and_changes_nothing(db: None) -> None:
    make()
    text = text_of(browser(person("rita", Role.AUDITOR)))
    assert "queue-row" in text
    assert "data-claim" not in text
    assert 'type="checkbox" name="item"' not in text


def news_address(client: Client, query: str = "") -> str:
    match = re.search(r'hx-get="([^"]*changes[^"]+)"', text_of(client, f"{QUEUE}?{query}"))
    assert match is not None
    return match[1].replace("&amp;", "&")


def test_an_open_page_is_told_what_is_new(client: Client, eva: User) -> None:
    first = make(late=5)
    address = news_address(client)
    assert client.get(address).status_code == 204

    claims.claim(item_id=first.pk, actor=person("ben"))
    make()
    text = text_of(client, address)
    assert "1 new item." in text
    assert f'id="holder-{first.pk}" hx-swap-oob="true" title="Claimed by Ben"' in text
    assert f'id="do-{first.pk}" hx-swap-oob="true"></div>' in text  # no button to claim it
    again = re.search(r'hx-get="([^"]+)"', text)
    assert again is not None
    assert client.get(again[1].replace("&amp;", "&")).status_code == 204

    ReviewItem.objects.filter(pk=first.pk).update(
        state=ReviewState.DECIDED.value, decided_at=timezone.now()
    )
    assert ">Decided<" in text_of(client, address)
    first.delete()
    assert "Not here any more" in text_of(client, address)


def test_what_moves_up_from_the_next_page_is_not_new(client: Client) -> None:
    items = [make(late=n) for n in range(PAGE_SIZE + 2)]
    address = news_address(client)
    items[0].delete()
    make(late=PAGE_SIZE + 9)
    assert "new item" not in text_of(client, address)


@pytest.mark.parametrize("query", ["shown=x", "start=x", "until=1-x", "tab=x"])
def test_it_refuses_news_of_no_page(client: Client, query: str) -> None:
    assert client.get(f"{reverse('review:queue_changes')}?{query}").status_code == 400
