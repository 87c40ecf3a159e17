"""Who waits in danger while the office is closed: no hour is promised to them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from conversations import selectors
from review.models import ReviewItem
from tests.administration.setting import put, save
from tests.conversations.person.asking import wants
from tests.conversations.test_rating import browser_with
from tests.conversations.waiting.test_waiting import held_turn
from tests.fixtures import Ask

SECRET = "a"
DANGER = "I want to kill myself"
HOURS = {"monday": "08:30-16:30", "tuesday": "08:30-16:30"}
PROMISED = "You get the answer on this page by"
CLOSED = "Nobody is here at the moment"


def test_nobody_in_danger_is_promised_an_hour_while_the_office_is_closed(
    ask: Ask, office_clock: Any
) -> None:
    save("hours", HOURS)
    put("contacts", telephone="+44 20 7946 0100")
    office_clock("2026-11-23 20:08")
    turn = ask(DANGER, secret=SECRET)
    view = selectors.turn_view(turn.pk)
    assert (view.state, view.due_at) == ("needs_review", None)
    assert view.words.moment(datetime.fromisoformat("2026-11-24T08:30+00:00")) in view.answer_by
    page = browser_with(SECRET).get("/").content.decode()
    assert "Please do not wait for us." in page
    assert PROMISED not in page
    assert CLOSED in page
    # Staff have their time as before.
    assert ReviewItem.objects.get().due_at == timezone.now() + timedelta(minutes=30)


def test_it_says_so_where_no_opening_is_in_sight(ask: Ask, office_clock: Any) -> None:
    save("hours", {**HOURS, "closed": "2026-11-01 to 2027-12-31"})
    office_clock("2026-11-23 20:08")
    turn = ask(DANGER, secret=SECRET)
    answer_by = selectors.turn_view(turn.pk).answer_by
    assert answer_by.startswith(
        "Nobody may be reading here now: the office is closed. Please do not"
    )


def test_a_request_for_a_person_that_tells_of_danger_says_the_same(
    published: None, office_clock: Any
) -> None:
    save("hours", HOURS)
    office_clock("2026-11-23 20:08")
    wants(SECRET, DANGER, way="page")
    page = browser_with(SECRET).get("/").content.decode()
    assert "Please do not wait for us." in page
    assert "At the latest on" not in page


@pytest.mark.parametrize("hours", [HOURS, {}])
def test_while_it_is_open_or_has_no_hours_they_are_told_by_when(
    ask: Ask, office_clock: Any, hours: dict[str, str]
) -> None:
    save("hours", hours)
    office_clock("2026-11-23 10:00" if hours else "2026-11-23 20:08")
    ask(DANGER, secret=SECRET)
    page = browser_with(SECRET).get("/").content.decode()
    assert PROMISED in page
    assert CLOSED not in page


def test_who_is_not_in_danger_is_told_by_when_and_that_it_is_closed(
    ask: Ask, office_clock: Any
) -> None:
    save("hours", HOURS)
    put("contacts", telephone="+44 20 7946 0100")
    office_clock("2026-11-23 20:08")
    held_turn(ask)
    page = browser_with(SECRET).get("/").content.decode()
    assert PROMISED in page
    assert CLOSED in page
