"""What a row of the queue says, and in which order."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.chat.wording import words
from ieim.people.models import User
from ieim.people.roles import Role
from review.models import Action, Decision, ReviewItem
from review.queue.presenters import live
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


@pytest.mark.parametrize(
    ("wait", "waiting_text"),
    [
        ({"minutes": -5}, "5\xa0minutes overdue"),
        ({"seconds": -20}, "overdue"),
        ({"seconds": 20}, "due in 1\xa0minute"),
        ({"minutes": 20, "seconds": 30}, "due in 20\xa0minutes"),
        ({"hours": 3}, "due today, 15:00"),
        ({"hours": 23}, "due tomorrow, 11:00"),
        ({"days": 2, "hours": 23}, "due Sat 28 Nov, 11:00"),
    ],
)
def test_it_is_due_when_the_citizen_is_promised(
    client: Client, wait: dict[str, int], waiting_text: str
) -> None:
    item = waits("Where is the harbour?")
    now = datetime(2026, 11, 25, 12, tzinfo=timezone.get_default_timezone())
    item.due_at = now + timedelta(**wait)
    assert live(item, item.pk, User(), now).due_words == waiting_text
    if "days" in wait:
        # "You get the answer on this page by …"
        result = words("en").moment(item.due_at)
        assert "28" in result
        assert "11:00" in result


def test_what_is_done_says_what_was_decided_and_by_whom(client: Client) -> None:
    ben, item = person("ben"), waits("Where is the harbour?")
    decision = Decision.objects.create(item=item, actor=ben, action=Action.WRITE, reason="So.")
    Decision.objects.create(
        item=item, actor=person("anna"), action=Action.AGREE, reason="Yes.", about=decision
    )
    ReviewItem.objects.filter(pk=item.pk).update(state="decided", decided_at=timezone.now())
    page = client.get(f"{QUEUE}?tab=done").content.decode()
    assert ">Wrote the reply, by Ben<" in page
