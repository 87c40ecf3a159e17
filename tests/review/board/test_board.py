"""The board's numbers are those of the lists that they lead to, within the lead's agencies."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from ieim.people.models import User
from review import claims
from review.board import selectors
from review.models import CRISIS, Action, Decision, ReviewItem
from review.queue.filters import ItemFilter
from review.queue.selectors import listing
from review.reading import record_read
from tests.review.board.conftest import THEIRS, Make
from tests.review.desk import take
from tests.review.people import browser


def length(user: User, query: str) -> int:
    """The length of the list of an address, as the queue has it."""
    filters = ItemFilter.parse(QueryDict(query).dict())
    return sum(b.count() for b in listing(user, filters, timezone.now()).branches)


def test_each_number_is_that_of_its_list_and_of_no_other_agency(
    make: Make, lead: User, eva: User, max_: User
) -> None:
    make(minutes=-5)
    make(minutes=30)
    make(language="de")
    ReviewItem.objects.filter(pk=make().pk).update(agency="", agencies=None)
    take(make(), eva)
    take(make(THEIRS, minutes=-5), max_)
    board: Any = selectors.board(lead, timezone.now())
    assert (board["overdue"].number, board["soon"].number, board["open"].number) == (1, 1, 5)
    people = {worker.user.username: worker for worker in board["people"]}
    assert people.keys() == {"eva", "lead"}
    assert people["eva"].held.number == 1
    bars = [bar for table in board["tables"] for bar in table["bars"]]
    assert {bar.words for bar in bars} >= {"civil-registry", "No agency yet", "German"}
    for bar in (*bars, board["overdue"], board["soon"], board["open"], people["eva"].held):
        assert length(lead, bar.query) == bar.number, bar


def test_what_somebody_decided_today_is_in_their_list_of_done(
    make: Make, lead: User, eva: User
) -> None:
    mine, others = make(), make()
    values = {"actor": eva, "action": Action.UNDO, "reason": "Too soon."}
    taken_back = Decision.objects.create(item=others, **{**values, "action": Action.RETRY})
    Decision.objects.create(item=others, about=taken_back, **values)
    for item, actor in ((mine, eva), (others, lead)):
        Decision.objects.create(
            item=item, actor=actor, action=Action.APPROVE, reason="It fits.", seconds=30
        )
        type(item).objects.filter(pk=item.pk).update(state="decided", decided_at=timezone.now())
    board: Any = selectors.board(lead, timezone.now())
    worker = next(worker for worker in board["people"] if worker.user == eva)
    assert (worker.done.number, worker.median) == (1, 30)
    assert worker.outcomes == (("Approve", 1),)
    assert length(lead, worker.done.query) == 1


def test_danger_leaves_the_top_once_its_holder_has_opened_it(
    make: Make, lead: User, eva: User
) -> None:
    item = make(THEIRS, rank=CRISIS, priority=1)
    page = browser(lead).get(reverse("review:board"))
    assert item.turn.session.reference in page.content.decode()
    record_read(item, eva)  # who only looks at it does not work on it
    assert selectors.board(lead, timezone.now())["dangers"] == [(item, None)]
    claims.assign(item_id=item.pk, to=lead, actor=lead)
    assert selectors.board(lead, timezone.now())["dangers"] == [(item, lead)]
    record_read(item, lead)
    assert selectors.board(lead, timezone.now())["dangers"] == []
    claims.assign(item_id=item.pk, to=eva, actor=lead)  # who has read it before has to read it now
    assert selectors.board(lead, timezone.now())["dangers"] == [(item, eva)]
    record_read(item, eva)
    assert selectors.board(lead, timezone.now())["dangers"] == []


def test_the_form_of_an_absence_says_what_is_held_in_crisis(
    make: Make, lead: User, eva: User
) -> None:
    item = take(make(rank=CRISIS, priority=1), eva)
    link = f'<a class="govuk-link" href="{reverse("review:item", args=[item.pk])}">'
    for user, address in ((lead, "review:board"), (eva, "review:absence")):
        page = browser(user).get(reverse(address)).content.decode()
        assert f"In crisis, and held: {link}" in page
        assert "enter a day after today" in page
    assert (
        "In crisis, and held" not in browser(lead).get(reverse("review:absence")).content.decode()
    )


def test_the_board_is_for_leads(eva: User, lead: User) -> None:
    assert browser(eva).get(reverse("review:board")).status_code == 403
    assert browser(lead).get(reverse("review:board")).status_code == 200


def test_a_program_of_the_console_reads_and_shares(make: Make, lead: User, eva: User) -> None:
    make()
    http: Client = browser(lead)
    read = http.get(reverse("review_api:board")).json()
    assert read["open"]["number"] == 1
    share, json = reverse("review_api:share"), "application/json"
    shares = http.post(share, {"number": 5, "preview": True}, json).json()["shares"]
    assert sum(shares.values()) == 1
    assert http.post(share, {"number": 5}, json).json()["shares"] == shares
    assert http.delete(share).json() == {"given_back": 1}
    until = (timezone.localdate() + timedelta(days=3)).isoformat()
    body = {"account": "eva", "until": until}
    assert http.put(reverse("review_api:absence"), body, json).status_code == 200
    assert (
        http.put(reverse("review_api:absence"), {**body, "account": "x"}, json).status_code == 404
    )
    assert http.post(share, {"number": 500}, json).status_code == 400
    people = {row["account"]: row for row in http.get(reverse("review_api:board")).json()["people"]}
    assert people["eva"]["absent_until"].startswith(until)


def test_an_open_board_asks_for_the_dangers_alone(make: Make, lead: User) -> None:
    item = make(THEIRS, rank=CRISIS, priority=1)
    part = browser(lead).get(reverse("review:board"), HTTP_HX_REQUEST="true").content.decode()
    assert item.turn.session.reference in part
    assert "<html" not in part
    assert "Who works" not in part
