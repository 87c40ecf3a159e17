"""Events: of which states and sessions, and in which transaction."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from django.db import transaction

from conversations.models import Delivery, Session, Subscription, Turn
from conversations.tasks import deliver
from conversations.turns import erasing, resuming, running
from ieim.pipeline.reply import reply as replies
from tests.conversations.api import integrating
from tests.conversations.api.integrating import SESSIONS, Integrator
from tests.conversations.webhooks import receiving
from tests.conversations.webhooks.receiving import (
    Receiver,
    create_delivery,
    deliver_all,
    deliver_in_thread,
)
from tests.fixtures import VISA

pytestmark = [pytest.mark.both_databases, pytest.mark.usefixtures("published", "no_rates")]
no_rates, office, queued = integrating.no_rates, receiving.office, receiving.queued

UNCLEAR = "passport"
RISK = "I will take you to court because of my tourist visa"


class Channel(Integrator):
    """An integrator whose session names the webhook."""

    opened = b'{"webhook": "office"}'


def run_turn(client: Integrator, text: str) -> Turn:
    """Send a message and run its turn."""
    assert client.ask(text).status_code == 202
    turn = Turn.objects.filter(session_id=client.id).latest("number")
    running.run_turn(turn_id=turn.pk)
    turn.refresh_from_db()
    return turn


@pytest.mark.parametrize(("text", "event"), [(RISK, "held"), (UNCLEAR, "choice")])
def test_an_event_has_ids_and_arrives_once(office: Receiver, text: str, event: str) -> None:
    channel = Channel()
    turn = run_turn(channel, text)
    deliver_all()
    deliver_all()
    [(_, body)] = office.requests
    data = {"session": channel.id, "turn": str(turn.pk)}
    assert json.loads(body) == {
        "type": event,
        "timestamp": json.loads(body)["timestamp"],
        "data": data,
    }
    assert not Delivery.objects.exists()


def test_an_event_has_no_word_of_the_turn(office: Receiver) -> None:
    turn = run_turn(Channel(), VISA)
    deliver_all()
    assert office.events == ["answered"]
    [(headers, body)] = office.requests
    request = (json.dumps(headers) + body.decode()).lower()
    text = f"{VISA} {json.dumps(turn.reply.body)}".lower().replace('"', " ")
    words = {word for word in text.split() if word.isalpha() and len(word) > 4}
    assert len(words) > 20
    assert [word for word in words if word in request] == []


def test_a_choice_and_its_answer_are_two_events(office: Receiver) -> None:
    channel = Channel()
    turn = run_turn(channel, UNCLEAR)
    path = f"/api/v1/turns/{turn.pk}/choice/"
    assert channel.call("PUT", path, {"choice": 1}).status_code == 200
    running.run_turn(turn_id=turn.pk)
    deliver_all()
    assert office.events == ["choice", "answered"]


def test_a_person_who_closes_with_words_answers(office: Receiver) -> None:
    turn = create_delivery().turn
    resuming.close(turn=turn, reply=replies.render_guidance("Please call us."), by="staff:carla")
    deliver_all()
    assert office.events == ["held", "answered"]


def test_asking_for_a_person_is_an_event(office: Receiver) -> None:
    channel = Channel()
    body = {"text": "My visa", "way": "page"}
    assert channel.call("POST", f"{channel.path}person/", body).status_code == 201
    deliver_all()
    assert office.events == ["held"]


def test_other_sessions_have_no_events(office: Receiver) -> None:
    assert run_turn(Integrator(), VISA).state == "answered"
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
def test_a_session_with_a_bad_name_is_refused(office: Receiver, body: Any, status: int) -> None:
    client = Integrator()
    response = client.call("POST", SESSIONS, body)
    assert response.status_code == status
    assert response["Content-Type"] == "application/problem+json"
    assert Session.objects.count() == 1
    if status == 422:
        assert response.json()["type"] == "urn:ieim:problem:webhook-unknown"


def test_a_rollback_of_the_state_takes_back_the_event(office: Receiver) -> None:
    turn = create_delivery().turn
    Delivery.objects.all().delete()
    with transaction.atomic():
        resuming.answer(turn=turn, reply=replies.render_guidance("Yes."), by="staff:carla")
        assert Delivery.objects.count() == 1
        transaction.set_rollback(True)
    assert not Delivery.objects.exists()


def test_erasing_a_session_takes_back_its_events(office: Receiver) -> None:
    delivery = create_delivery()
    erasing.erase_session(session_id=delivery.turn.session_id)
    assert not Delivery.objects.exists()
    assert not Subscription.objects.exists()
    deliver(str(delivery.pk))
    assert office.events == []


@pytest.mark.django_db(transaction=True)
def test_an_answer_does_not_wait_for_a_receiver(office: Receiver, queued: list[str]) -> None:
    office.gate = threading.Event()
    create_delivery()
    sender = threading.Thread(target=deliver_in_thread, args=(queued[0],))
    sender.start()
    assert office.arrived.wait(30)
    assert run_turn(Channel(), VISA).state == "answered"
    office.gate.set()
    sender.join()
