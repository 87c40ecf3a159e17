"""Items that failed alike are one row of the queue."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from ieim.people.roles import Role
from review.batches import alike
from review.models import CRISIS, REFUSED, ReviewItem
from review.queue import selectors
from review.queue.filters import ItemFilter
from review.services import open_item
from tests.fixtures import VISA
from tests.review import desk
from tests.review.conftest import make_turn
from tests.review.people import belong, browser, person
from tests.review.test_plans import plans

QUEUE = reverse("review:queue")
WRONG = "The model’s answer has too little or too much in it."


@pytest.fixture
def client(db: None) -> Client:
    return browser(person("eva", Role.SUPERVISOR))


def stopped(number: int, text: str = "Where is the harbour?", *agencies: str) -> list[ReviewItem]:
    items = [
        open_item(turn_id=make_turn(text).pk, stage="reply", codes=["schema"])
        for _ in range(number)
    ]
    return [belong(item, *agencies) if agencies else item for item in items]


def rows(client: Client, query: str = "") -> list[str]:
    """The titles of the rows of a list."""
    html = client.get(f"{QUEUE}?{query}").content.decode()
    return re.findall(r'queue-row__link"[^>]*>([^<]*)</a>', html)


def test_five_alike_are_one_row_and_four_are_not(client: Client) -> None:
    (key,) = {item.alike for item in stopped(4)}
    assert rows(client) == ["Where is the harbour?"] * 4
    stopped(1, "Where is the ferry?")
    assert rows(client) == [f"5 alike: {WRONG}"]
    assert "Where is the ferry?" in rows(client, "single=1")
    assert len(rows(client, f"alike={key}")) == 5
    html = client.get(QUEUE).content.decode()
    assert 'queue-tabs__count">5<' in html
    assert "5 in the last hour, 0 in the hour before" in html
    assert "new item" not in client.get(f"{QUEUE}?alike={key}").content.decode()


def test_an_open_page_has_no_news_of_what_its_groups_have(client: Client) -> None:
    stopped(6)
    match = re.search(r'id="queue-news" hx-get="([^"]+)"', client.get(QUEUE).content.decode())
    assert match is not None
    assert client.get(match[1].replace("&amp;", "&")).status_code == 204


def test_scope_filters_and_search_hold_within_a_group(client: Client) -> None:
    theirs = stopped(5, "Where is the harbour?", "housing")
    stopped(6, "Where is the ferry?", "vehicles")
    assert rows(client) == [f"11 alike: {WRONG}"]
    assert rows(client, "agency=housing") == [f"5 alike: {WRONG}"]
    assert rows(client, "q=ferry") == [f"6 alike: {WRONG}"]
    ben = browser(person("ben", Role.CASEWORKER, "housing"))
    assert rows(ben) == [f"5 alike: {WRONG}"]
    assert len(rows(ben, f"alike={theirs[0].alike}")) == 5


@pytest.mark.parametrize("rank", [CRISIS, REFUSED])
def test_what_shows_danger_or_was_refused_is_never_in_a_group(client: Client, rank: int) -> None:
    items = stopped(6)
    ReviewItem.objects.filter(pk=items[0].pk).update(rank=rank)
    assert sorted(rows(client)) == [f"5 alike: {WRONG}", "Where is the harbour?"]
    user = person("ben")
    key = items[0].alike or ""
    assert items[0] not in alike.members(user, ItemFilter(), key)


def test_a_group_is_of_what_the_model_answered_where_the_release_has_it(published: None) -> None:
    def unsure(answer: dict[str, object]) -> None:
        selection = answer["serviceSelection"]
        assert isinstance(selection, dict)
        selection["score"] = 0.41

    turn = desk.ask(VISA, {"service_select_v1": [unsure, unsure]})
    key = desk.the_item(turn, "service_select_v1").alike or ""
    stage, reason, codes, release = key.split("|")
    assert (stage, reason, release) == ("service_select_v1", "score.minimum", "1")
    assert codes == "immigration.extend-tourist-visa"

    def invents(answer: dict[str, object]) -> None:
        answer["serviceSelection"] = {"serviceKey": "I <b>made</b> this up", "score": 1}

    turn = desk.ask(VISA, {"service_select_v1": [invents, invents]})
    assert "made" not in (desk.the_item(turn, "service_select_v1").alike or "")


@pytest.mark.parametrize("earlier", [3, 2])
def test_it_counts_what_came_in_this_hour_and_the_one_before(db: None, earlier: int) -> None:
    items, now = stopped(6), timezone.now()
    for item in items[:earlier]:
        ReviewItem.objects.filter(pk=item.pk).update(opened_at=now - timedelta(minutes=90))
    (group,) = alike.groups(ReviewItem.objects.all(), now)
    assert (group.number, group.recent, group.earlier) == (6, 6 - earlier, earlier)


def test_groups_are_read_from_an_index(client: Client) -> None:
    listed = selectors.listing(person("ben"), ItemFilter(), timezone.now())
    with CaptureQueriesContext(connection) as made:
        alike.groups(listed.branches[0], timezone.now())
    assert len(made) == 1
    text = "\n".join(plans(made))
    assert any(index in text for index in ("review_queue", "review_agencies"))  # by their state
