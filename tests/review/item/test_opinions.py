"""Items that one person alone does not settle: signatures, and a second opinion."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from conversations.models import Reply
from ieim.people.models import User
from review.models import ReviewItem
from tests.review import desk
from tests.review.desk import BABY, BAD, the_item, words
from tests.review.item.test_decide import ANSWER, Desk

pytestmark = pytest.mark.usefixtures("published")


@pytest.fixture
def eva() -> User:
    return desk.person("eva", *desk.ALL)


def test_it_collects_the_signatures_of_all_agencies() -> None:
    turn = desk.ask(BABY, {ANSWER: BAD})
    item = the_item(turn, ANSWER)
    first = Desk(item, desk.person("eva", agencies=["civil-registry"]))
    text = {"write-text": "Please come to both offices."}
    result = words(first.page("preview", "write", text))
    assert "before Social Support Fund has signed, too. After that, the citizen gets" in result
    first.send("decide", "write", text)
    ben = desk.person("ben", agencies=["social-support"])
    client = Client()
    client.force_login(ben)
    page = client.get(reverse("review:item", args=[item.pk])).content.decode()
    assert "Please come to both offices." in page
    assert "Sign for Social Support Fund" in page
    assert "Sign for National Civil Registry" not in page
    assert "A reply is ready. It leaves when each agency has signed." in page
    assert "Nobody works on this item" not in page
    version = ReviewItem.objects.get(pk=item.pk).version
    values = {"agency": "social-support", "version": version, "sign-reason": "It is right."}
    address = reverse("review:sign", args=[item.pk])
    assert client.post(address, {**values, "sign-reason": ""}).status_code == 422
    assert client.post(address, {**values, "version": 1}).status_code == 409
    assert client.post(address, values).status_code == 303
    assert Reply.objects.get(turn=turn).body["paragraphs"] == ["Please come to both offices."]


def test_it_asks_a_second_person_where_one_is_needed(eva: User) -> None:
    risky = "I want to kill myself because my tourist visa runs out. How do I extend my visa?"
    turn = desk.ask(risky, {})
    first = Desk(the_item(turn, "reply"), eva)
    text = words(first.page("preview", "approve"))
    assert "until a second person has agreed. After that, the citizen gets this reply" in text
    confirmed = {"approve-confirmed": "yes"}
    assert first.send("decide", "approve", confirmed).status_code == 303
    assert not Reply.objects.exists()
    address = reverse("review:item", args=[first.item.pk])
    waiting = words(first.client.get(address).content.decode())
    assert "eva has decided. It takes effect when a second person agrees." in waiting
    assert "You decided this item yourself." in waiting
    assert "Claim this item" not in waiting
    # A decision is undone where it is shown; the form does not offer it.
    first.item.refresh_from_db()
    assert first.send("preview", "undo").status_code == 422
    second = Desk(the_item(turn, "reply"), desk.person("ben", *desk.ALL))
    page = second.client.get(address).content.decode()
    assert "The reply that was decided on" in page
    assert 'value="agree"' in page
    assert 'value="write"' not in page
    checked = "A caseworker checked this answer."
    assert checked in words(second.page("preview", "agree"))
    assert second.send("decide", "agree").status_code == 303
    assert desk.run(turn).state == "answered"
    assert Reply.objects.get().origin == "model_approved"


RISKY = "I want to kill myself because my tourist visa runs out. How do I extend my visa?"


def seen_by_the_second(item: ReviewItem) -> tuple[str, str]:
    """Return what the first person decided and what the model said, as the second person reads it
    before they take the item."""
    ben = desk.person("ben", *desk.ALL)
    client = Client()
    client.force_login(ben)
    html = client.get(reverse("review:item", args=[item.pk])).content.decode()
    assert "Claim this item" in html
    panel = html.split('id="decide-title"')[1].split("Claim this item")[0]
    assert "eva decided" in panel
    decided, model = re.findall(r'<dd dir="auto">(.*?)</dd>', panel, re.DOTALL)
    return words(decided), words(model)


def test_the_second_person_reads_the_text_beside_what_the_model_has(eva: User) -> None:
    turn = desk.ask(RISKY, {})
    first = Desk(the_item(turn, "reply"), eva)
    first.send("decide", "write", {"write-text": "Please call 112 now. I can help with the visa."})
    decided, model = seen_by_the_second(first.item)
    assert "Please call 112 now. I can help with the visa." in decided
    assert "Extend a tourist visa" in model


def test_the_second_person_reads_what_was_chosen_beside_what_the_model_chose(eva: User) -> None:
    turn = desk.ask(RISKY, {"category_select_v1": [unsure_topic, unsure_topic]})
    first = Desk(the_item(turn, "category_select_v1"), eva)
    topic = {"stage": "category_select_v1", "topic": "/immigration/work-visas"}
    assert first.send("decide", "override", topic).status_code == 303
    decided, model = seen_by_the_second(first.item)
    assert "Work visas" in decided
    assert "Work visas" not in model
    assert "Tourist and visitor visas (0.3" in model
    second = Desk(first.item, desk.person("ada", *desk.ALL))
    assert "Work visas" in words(second.page("preview", "agree"))


def unsure_topic(answer: dict[str, Any]) -> None:
    """Let a model choose a topic of which it is not sure."""
    for candidate in answer["categorySelection"]["candidates"].values():
        candidate["score"] = 0.3
    answer["telemetry"]["notes"] = "scored again"


def test_the_second_person_reads_that_the_citizen_gets_no_words(eva: User) -> None:
    turn = desk.ask(RISKY, {})
    first = Desk(the_item(turn, "reply"), eva)
    assert first.send("decide", "dismiss").status_code == 303
    assert seen_by_the_second(first.item)[0] == "No words for the citizen"
