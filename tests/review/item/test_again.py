"""Where a decided item leads on: to the item that its question has become, and to what was said."""

from __future__ import annotations

from html import unescape

import pytest
from django.urls import reverse

from ieim.people.models import User
from review.models import Action, ReviewItem
from tests.conversations.person.asking import item_of, taken_over, wants
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import BAD, Scripted, taken_and_decided, the_item, words
from tests.review.people import browser

pytestmark = pytest.mark.usefixtures("published")


@pytest.fixture
def eva() -> User:
    return desk.person("eva")


def panel(item: ReviewItem, user: User) -> str:
    """Return the part of the item's page that says what was decided."""
    html = browser(user).get(reverse("review:item", args=[item.pk])).content.decode()
    return unescape(html.split('id="decide-title"')[1].split("</section>")[0])


def test_a_decided_item_leads_to_the_one_that_its_question_waits_in_now(eva: User) -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    first = the_item(turn)
    taken_and_decided(first, eva, Action.RETRY)
    assert "in the queue again" not in panel(first, eva)

    desk.run(turn, Scripted({"category_select_v1": BAD}))
    second = the_item(turn)
    result = panel(first, eva)
    assert f'href="{reverse("review:item", args=[second.pk])}"' in result
    assert "It is in the queue again: The model’s answer was not in the form" in words(result)

    taken_and_decided(second, eva, Action.DISMISS)
    assert "in the queue again" not in panel(first, eva)


def test_who_may_not_read_the_other_item_gets_no_link(eva: User) -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    first = the_item(turn)
    taken_and_decided(first, eva, Action.RETRY)
    desk.run(turn, Scripted({"category_select_v1": BAD}))
    taken_and_decided(the_item(turn), eva, Action.HAND_OVER, agency="revenue")
    ben = desk.person("ben", agencies=["immigration"])
    assert "in the queue again" in panel(first, eva)
    assert "in the queue again" not in panel(first, ben)


@pytest.mark.parametrize("talked", [True, False])
def test_it_leads_to_the_talk_where_somebody_had_the_conversation(talked: bool, eva: User) -> None:
    request = wants("a")
    item = desk.take(item_of(request), eva)
    if talked:
        taken_over(request, eva)
    desk.decide(item, eva, Action.DONE)
    result = panel(item, eva)
    assert (f'href="{reverse("review:talk", args=[item.pk])}"' in result) is talked


def test_who_may_not_open_the_talk_gets_no_link(eva: User) -> None:
    request = wants("a")
    item = desk.take(item_of(request), eva)
    taken_over(request, eva)
    desk.decide(item, eva, Action.DONE)
    assert "/talk/" not in panel(item, desk.person("ann", "view"))


def test_no_step_is_running_where_the_model_could_not_be_reached(eva: User) -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    turn.stages.filter(contract="category_select_v1").update(status="running")
    html = browser(eva).get(reverse("review:item", args=[the_item(turn).pk])).content.decode()
    assert "Running" not in words(html)
    assert "Not finished" in words(html)
