"""The page of an item whose citizen said "none of these": what was refused goes out only on a
second yes."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from conversations.turns.choosing import choose
from conversations.turns.models import Choice
from ieim.people.models import User
from review import claims
from review.deciding import Refused
from review.models import Action, Decision, ReviewItem
from tests.conversations.api.test_errors import is_problem
from tests.fixtures import VISA, Ask
from tests.review import desk
from tests.review.desk import REASON, the_item, unsure
from tests.review.people import browser, person
from tests.review.reviewing import Reviewer

pytestmark = pytest.mark.usefixtures("published")
SUFFIX = "and said: none of these"


@pytest.fixture
def eva(published: None) -> User:
    return person("eva")


@pytest.fixture
def item(eva: User, ask: Ask) -> ReviewItem:
    """What the assistant has is one of those that the citizen refused."""
    model = desk.Scripted({"service_select_v1": [unsure, unsure]})
    turn = ask(VISA, secret="s", model=model)
    assert turn.state == "asking"
    choose(session_id=turn.session_id, turn_id=turn.pk, numbers=[])
    return claims.claim(item_id=the_item(turn).pk, actor=eva)


def send(client: Client, view: str, item: ReviewItem, **form: str) -> tuple[int, str]:
    data = {"version": str(item.version), "reason": REASON, "stage": item.stage, **form}
    response = client.post(reverse(f"review:{view}", args=[item.pk]), data)
    return response.status_code, response.content.decode()


def test_approving_comes_last_and_is_asked_about_once_more(item: ReviewItem, eva: User) -> None:
    client = browser(eva)
    html = client.get(reverse("review:item", args=[item.pk])).content.decode()
    order = re.findall(r'name="action" id="action-(\w+)"', html)
    assert (order[0], order[-1]) == ("write", "approve")
    status, html = send(client, "preview", item, action="approve")
    assert status == 200
    assert SUFFIX in html
    assert "Confirm and" not in html
    _, html = send(client, "preview", item, action="approve", **{"once-more": "yes"})
    assert "Is this the right answer after “None of these”?" in html
    assert "danger" not in html.partition("<main")[2]
    status, html = send(client, "decide", item, action="approve")
    assert status == 422
    assert SUFFIX in html
    assert not Decision.objects.exists()
    status, _ = send(client, "decide", item, action="approve", **{"approve-confirmed": "yes"})
    assert status == 303


def test_rest_asks_once_more_too(item: ReviewItem, eva: User) -> None:
    program = Reviewer(eva)
    approval = {"action": "approve", "reason": REASON}
    problem = is_problem(program.decide(item, approval), 422)
    assert problem["type"] == "urn:ieim:problem:refused-unconfirmed"
    assert SUFFIX in problem["detail"]
    decided = program.decide(item, {**approval, "payload": {"confirmed": True}})
    assert decided.status_code == 200, decided.content


def test_what_was_not_offered_goes_as_ever(item: ReviewItem, eva: User) -> None:
    with pytest.raises(Refused, match="none of these"):
        desk.decide(item, eva, Action.APPROVE)
    Choice.objects.update(offered=[["revenue", "tax-return"]])
    assert desk.decide(item, eva, Action.APPROVE).action == "approve"
