"""Putting an item away until a time, and its coming back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from conversations.turns.services import receive
from ieim.people.models import User
from ieim.people.roles import Role
from review import claims
from review.claims import ClaimRefused
from review.item.selectors import next_item
from review.models import REFUSED, Action, ReviewItem
from review.queue import selectors
from review.queue.filters import ItemFilter
from tests.fixtures import VISA
from tests.review import desk
from tests.review.people import browser, person
from tests.review.reviewing import Reviewer, path_of

pytestmark = [pytest.mark.usefixtures("published"), pytest.mark.both_databases]
SECRET = "a"
OPEN, SNOOZED = ItemFilter(), ItemFilter({"snoozed": "1"})


@pytest.fixture
def eva(published: None) -> User:
    return person("eva", Role.CASEWORKER, "immigration")


@pytest.fixture
def item(eva: User) -> ReviewItem:
    asked = desk.ask(VISA, {"service_select_v1": desk.BAD}, secret=SECRET)
    ReviewItem.objects.update(due_at=timezone.now() + timedelta(hours=3))
    return desk.take(desk.the_item(asked), eva)


def listed(user: User, filters: ItemFilter) -> list[ReviewItem]:
    return list(selectors.page(selectors.listing(user, filters, timezone.now())).items)


def away(item: ReviewItem, user: User) -> ReviewItem:
    until = timezone.now() + timedelta(hours=1)
    return claims.snooze(item_id=item.pk, actor=user, until=until)


def test_it_leaves_the_open_items_and_comes_back_by_itself(item: ReviewItem, eva: User) -> None:
    due = ReviewItem.objects.get().due_at
    away(item, eva)
    assert listed(eva, OPEN) == []
    assert selectors.counts(eva, timezone.now(), "open")["open"].items == 0
    assert next_item(eva, but=(), filters=OPEN) is None
    assert listed(eva, SNOOZED) == [item]
    page = desk.words(browser(eva).get("/review/?snoozed=1").content.decode())
    assert f"Until {timezone.localtime(timezone.now() + timedelta(hours=1)):%-d %b}" in page
    assert ReviewItem.objects.get().due_at == due
    ReviewItem.objects.update(snoozed_until=timezone.now())
    assert listed(eva, OPEN) == [item]
    assert next_item(eva, but=(), filters=OPEN) == item
    assert listed(eva, SNOOZED) == []


def test_it_comes_back_when_its_citizen_writes(item: ReviewItem, eva: User) -> None:
    away(item, eva)
    receive(session="b", text=VISA, enqueue=False)
    assert listed(eva, OPEN) == []
    receive(session=SECRET, text="Are you still there?", enqueue=False)
    assert listed(eva, OPEN) == [item]


def test_it_comes_back_when_danger_shows_meanwhile(item: ReviewItem, eva: User) -> None:
    away(item, eva)
    ReviewItem.objects.update(rank=0)
    assert listed(eva, OPEN) == [item]


def test_who_takes_it_ends_its_being_away(item: ReviewItem, eva: User) -> None:
    away(item, eva)
    claims.claim(item_id=item.pk, actor=eva)
    claims.release(item_id=item.pk, actor=eva)
    assert listed(eva, OPEN) == [item]


@pytest.mark.parametrize("rank", [0, 1, REFUSED])
def test_what_is_urgent_is_not_put_away(item: ReviewItem, eva: User, rank: int) -> None:
    ReviewItem.objects.update(rank=rank)
    with pytest.raises(ClaimRefused, match="is not put away"):
        away(item, eva)
    assert "Put it away until later" not in desk.words(
        browser(eva).get(f"/review/{item.pk}/").content.decode()
    )


def test_what_waits_for_a_second_person_is_not_put_away(item: ReviewItem, eva: User) -> None:
    ReviewItem.objects.update(needs_second=True)
    desk.decide(item, eva, Action.DISMISS)
    ben = person("ben", Role.CASEWORKER, "immigration")
    claims.claim(item_id=item.pk, actor=ben)
    with pytest.raises(ClaimRefused, match="waits for others"):
        away(item, ben)


@pytest.mark.parametrize("hours", [-1, 0, 24 * 31])
def test_a_time_that_is_over_or_too_far_is_refused(item: ReviewItem, eva: User, hours: int) -> None:
    until = timezone.now() + timedelta(hours=hours)
    with pytest.raises(ClaimRefused, match="at most 30 days away"):
        claims.snooze(item_id=item.pk, actor=eva, until=until, is_confirmed=True)


def test_only_its_holder_puts_it_away(item: ReviewItem, eva: User) -> None:
    with pytest.raises(ClaimRefused, match="has this item until"):
        away(item, person("ben", Role.CASEWORKER, "immigration"))
    with pytest.raises(ReviewItem.DoesNotExist):
        away(item, person("ola", Role.CASEWORKER, "tax"))
    assert ReviewItem.objects.get().claimed_by == eva


def test_beyond_its_due_time_it_needs_a_confirmation(item: ReviewItem, eva: User) -> None:
    client, address = browser(eva), f"/review/{item.pk}/snooze/"
    refused = client.post(address, {"until": "tomorrow"}, follow=True)
    assert "Confirm that you put it away for longer." in desk.words(refused.content.decode())
    assert listed(eva, OPEN) == [item]
    client.post(address, {"until": "tomorrow", "confirmed": "1"})
    until = ReviewItem.objects.get().snoozed_until
    assert until is not None
    tomorrow = timezone.localdate() + timedelta(days=1)
    local = timezone.localtime(until)
    assert (local.date(), f"{local:%H:%M:%S}") == (tomorrow, "08:00:00")


@pytest.mark.parametrize("typed", ["", "soon", "2026-13-01T10:00"])
def test_a_time_that_cannot_be_read_is_refused(item: ReviewItem, eva: User, typed: str) -> None:
    answer = browser(eva).post(f"/review/{item.pk}/snooze/", {"at": typed}, follow=True)
    assert "Choose a date and a time." in desk.words(answer.content.decode())
    assert ReviewItem.objects.get().claimed_by == eva


def test_programs_put_it_away(item: ReviewItem, eva: User) -> None:
    program, address = Reviewer(eva), f"{path_of(item)}snooze/"
    later = (timezone.now() + timedelta(days=1)).isoformat()
    assert program.post(address, {"until": later}).status_code == 409
    assert program.post(address, {"until": "soon"}).status_code == 400
    stored = program.post(address, {"until": later, "confirmed": True})
    assert stored.status_code == 200
    assert (stored.json()["state"], stored.json()["claimed_by"]) == ("open", None)
    assert listed(eva, SNOOZED) == [item]
