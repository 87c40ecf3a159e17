"""What a row of the queue says, and in which order."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from ieim.people.roles import Role
from review.models import ReviewItem
from review.services import open_item
from tests.review.conftest import make_turn
from tests.review.people import browser, person

QUEUE = reverse("review:queue")


@pytest.fixture
def client(db: None) -> Client:
    return browser(person("eva", Role.SUPERVISOR))


def waits(text: str) -> ReviewItem:
    """An open item of a message."""
    return open_item(turn_id=make_turn(text).pk, stage="reply", codes=["schema", "reply.empty"])


def test_it_begins_with_the_citizens_words_and_then_says_why_it_stopped(client: Client) -> None:
    waits("Where is the harbour?")
    page = client.get(QUEUE).content.decode()
    assert re.findall(r'queue-row__link"[^>]*>([^<]*)</a>', page) == ["Where is the harbour?"]
    why = page.partition("Where is the harbour?")[2]
    assert re.findall(r'queue-row__reason">([^<]*)<', why) == [
        "The model’s answer has too little or too much in it."
    ]


def test_it_begins_with_the_step_where_no_words_are_left(client: Client) -> None:
    waits("  ")
    page = client.get(QUEUE).content.decode()
    assert re.findall(r'queue-row__link"[^>]*>([^<]*)</a>', page) == ["The reply as a whole"]
