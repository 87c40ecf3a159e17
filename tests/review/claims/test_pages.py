from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.models import Turn
from ieim.people.models import User
from ieim.people.roles import Role
from review import claims
from review.models import Action, ReviewItem
from review.services import open_item
from tests.review import desk
from tests.review.people import browser, person


@pytest.fixture
def eva(db: None) -> User:
    return person("eva")


@pytest.fixture
def client(eva: User) -> Client:
    return browser(eva)


@pytest.fixture
def item(turn: Turn, eva: User) -> ReviewItem:
    opened = open_item(turn_id=turn.pk, stage="reply", codes=["schema"])
    return claims.claim(item_id=opened.pk, actor=eva)


def claim_status(client: Client, item: ReviewItem) -> int:
    return client.get(reverse("review:held", args=[item.pk])).status_code


def test_the_open_page_learns_whether_the_item_is_still_unsigned_item(
    client: Client, item: ReviewItem, eva: User
) -> None:
    assert claim_status(client, item) == 204
    ReviewItem.objects.filter(pk=item.pk).update(claimed_until=timezone.now())
    assert claim_status(client, item) == 409
    claims.renew(item_id=item.pk, actor=eva)
    assert claim_status(client, item) == 204
    claims.take_over(item_id=item.pk, actor=person("ben", Role.SUPERVISOR))
    assert claim_status(client, item) == 409


def test_only_a_decision_that_was_taken_lets_the_browser_forget(published: None) -> None:
    eva = desk.person("eva", *desk.ALL)
    stopped = desk.the_item(desk.ask("My visa?", {"judgement_v1": desk.BAD}), "judgement_v1")
    item, client = desk.take(stopped, eva), browser(eva)
    address, cookie = reverse("review:decide", args=[item.pk]), f"ieim-decided-{item.pk}"
    decision = {"version": item.version, "action": Action.DISMISS.value}
    assert client.post(address, decision).status_code == 422
    assert cookie not in client.cookies
    assert client.post(address, {**decision, "reason": desk.REASON}).status_code == 303
    assert client.cookies[cookie].value == str(eva.pk)


def test_a_claim_that_ran_out_is_nobodys_and_the_item_is_open(
    published: None, client: Client, item: ReviewItem
) -> None:
    page = reverse("review:item", args=[item.pk])
    watcher = browser(person("ben"))
    assert "Somebody is working on it" in watcher.get(page).content.decode()
    ReviewItem.objects.filter(pk=item.pk).update(claimed_until=timezone.now())
    text = watcher.get(page).content.decode()
    assert "Somebody is working on it" not in text
    assert "<span>Open</span>" in text


def test_a_decision_that_waits_says_until_when_so_that_its_page_is_shown_again(
    published: None, client: Client, item: ReviewItem
) -> None:
    soon = timezone.now()
    ReviewItem.objects.filter(pk=item.pk).update(state="sending", takes_effect_at=soon)
    text = client.get(reverse("review:item", args=[item.pk])).content.decode()
    assert f'data-fresh data-until="{int(soon.timestamp())}"' in text
    assert "This item is decided" not in text
