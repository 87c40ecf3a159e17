"""What a webhook is told of, when, and of which sessions."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from django.db import transaction

from conversations.models import Delivery, Session, Subscription, Turn
from conversations.tasks import deliver
from conversations.turns import erasing, moves, resuming, running
from conversations.turns.leases import take_lease
from ieim.pipeline.reply import reply as replies
from tests.conversations.api import integrating
from tests.conversations.api.integrating import SESSIONS, Integrator
from tests.conversations.webhooks import receiving
from tests.conversations.webhooks.receiving import Receiver, work
from tests.fixtures import VISA, Ask

pytestmark = [pytest.mark.both_databases, pytest.mark.usefixtures("published", "no_rates")]
no_rates, office, queued = integrating.no_rates, receiving.office, receiving.queued

SAID = replies.render_guidance("Please call us.")
UNCLEAR = "passport"
RISK = "I will take you to court because of my tourist visa"


class Channel(Integrator):
    """An integrator whose session asks for the webhook."""

    opened = b'{"webhook": "office"}'

    def say(self, text: str) -> Turn:
        """Send a message and run its turn as a worker would."""
        assert self.ask(text).status_code == 202
        turn = Turn.objects.filter(session_id=self.id).latest("number")
        running.run_turn(turn_id=turn.pk)
        turn.refresh_from_db()
        return turn


@pytest.mark.parametrize(
    ("text", "told"), [(VISA, "answered"), (RISK, "held"), (UNCLEAR, "choice")]
)
def test_it_is_told_of_each_state_once(office: Receiver, text: str, told: str) -> None:
    channel = Channel()
    turn = channel.say(text)
    work()
    work()
    assert office.told == [told]
    body = json.loads(office.got[0][1])
    assert body.keys() == {"type", "timestamp", "data"}
    assert body["data"] == {"session": channel.id, "turn": str(turn.pk)}
    assert channel.get(f"/api/v1/turns/{turn.pk}/").status_code == 200
    assert not Delivery.objects.exists()


def test_it_is_told_nothing_that_anybody_said(office: Receiver) -> None:
    turn = Channel().say(VISA)
    work()
    [(headers, body)] = office.got
    sent = (json.dumps(headers) + body.decode()).lower()
    said = f"{VISA} {json.dumps(turn.reply.body)}".lower()
    words = {word for word in said.replace('"', " ").split() if word.isalpha() and len(word) > 4}
    assert len(words) > 20
    assert [word for word in words if word in sent] == []


def test_it_is_told_what_comes_after(office: Receiver) -> None:
    channel = Channel()
    turn = channel.say(UNCLEAR)
    address = f"/api/v1/turns/{turn.pk}/choice/"
    assert channel.call("PUT", address, {"choice": 1}).status_code == 200
    running.run_turn(turn_id=turn.pk)
    work()
    assert office.told == ["choice", "answered"]


def test_it_is_told_where_a_person_closes_with_words(office: Receiver) -> None:
    turn = Channel().say(RISK)
    with transaction.atomic():
        resuming.close(turn=turn, reply=SAID, by="staff:carla")
    work()
    assert office.told == ["held", "answered"]


def test_it_is_told_of_asking_for_a_person(office: Receiver) -> None:
    channel = Channel()
    asked = channel.call("POST", f"{channel.path}person/", {"text": "My visa", "way": "page"})
    assert asked.status_code == 201
    work()
    assert office.told == ["held"]


def test_nobody_is_told_of_other_sessions(office: Receiver, ask: Ask) -> None:
    ask(VISA)
    plain = Integrator()
    plain.ask(VISA)
    running.run_turn(turn_id=Turn.objects.get(session_id=plain.id).pk)
    assert Turn.objects.filter(state="answered").count() == 2
    assert not Delivery.objects.exists()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"webhook": "other"}, 422),
        ({"webhook": "\ud800"}, 400),
        ({"webhook": "a\x00"}, 400),
        ({"webhook": 1}, 400),
        ({"webhook": None}, 400),
        ({"webhook": ["office"]}, 400),
        ({"webhok": "office"}, 400),
        ({"webhook": "x" * 30_000}, 422),
    ],
)
def test_a_session_says_what_is_wrong_with_a_name(office: Receiver, body: Any, status: int) -> None:
    client = Integrator()
    before = Session.objects.count()
    response = client.call("POST", SESSIONS, body)
    assert response.status_code == status
    assert response["Content-Type"] == "application/problem+json"
    assert Session.objects.count() == before
    if status == 422:
        assert response.json()["type"] == "urn:ieim:problem:webhook-unknown"


def test_the_event_and_the_state_stand_or_fall_together(office: Receiver) -> None:
    channel = Channel()
    channel.ask(VISA)
    turn = take_lease(turn_id=Turn.objects.get().pk)
    assert turn is not None
    with transaction.atomic():
        moves.give_to_person(turn=turn, stage="reply", codes=["policy.risk"])
        assert Delivery.objects.count() == 1
        transaction.set_rollback(True)
    assert not Delivery.objects.exists()


def test_nothing_is_told_of_what_was_erased(office: Receiver) -> None:
    channel = Channel()
    channel.say(VISA)
    waiting = Delivery.objects.get()
    erasing.erase_session(session_id=Session.objects.get(pk=channel.id).pk)
    assert not Delivery.objects.exists()
    assert not Subscription.objects.exists()
    deliver(str(waiting.pk))
    assert office.got == []


@pytest.mark.django_db(transaction=True)
def test_an_answer_does_not_wait_for_a_receiver(office: Receiver, queued: list[str]) -> None:
    office.held = threading.Event()
    channel = Channel()
    channel.say(UNCLEAR)
    sending = threading.Thread(target=receiving.closing, args=(queued[0],))
    sending.start()
    assert office.came.wait(30)
    # The receiver has not answered yet, and the conversation goes on.
    turn = channel.say(VISA)
    assert turn.state == "answered"
    office.held.set()
    sending.join()
