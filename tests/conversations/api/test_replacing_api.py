"""Something else by REST and on the JSON socket."""

from __future__ import annotations

from uuid import uuid4

import pytest
from channels.db import database_sync_to_async

from conversations.models import Turn
from conversations.turns import services
from conversations.turns.running import running
from tests.conversations.api import integrating
from tests.conversations.api.integrating import Integrator, json_socket, set_rates
from tests.conversations.test_replacing import NAME, PASSPORT
from tests.fixtures import VISA

pytestmark = pytest.mark.usefixtures("published", "no_rates")
no_rates = integrating.no_rates


def finish() -> Turn:
    turn = Turn.objects.order_by("created_at").last()
    assert turn is not None
    running.run_turn(turn_id=turn.pk)
    return turn


def talked() -> tuple[Integrator, str]:
    client = Integrator()
    for text in (VISA, PASSPORT):
        client.ask(text)
        turn = finish()
    return client, str(turn.pk)


@pytest.fixture
def client() -> Integrator:
    return talked()[0]


@pytest.fixture
def turn(client: Integrator) -> str:
    """The address of a turn whose answer goes on with the visa."""
    return f"/api/v1/turns/{Turn.objects.get(session_id=client.id, number=2).pk}/"


def test_a_reply_says_what_it_is_still_about(client: Integrator, turn: str) -> None:
    first, second = client.get().json()["turns"]
    assert (first["reply"]["still_about"], second["reply"]["still_about"]) == ("", NAME)
    assert (second["replaces"], second["replaced_by"]) == (None, None)


def test_it_asks_again_once(client: Integrator, turn: str) -> None:
    made = client.call("POST", f"{turn}something-else/")
    new = made.json()
    assert made.status_code == 202
    assert made["Location"] == f"/api/v1/turns/{new['id']}/"
    assert (new["number"], new["text"], new["state"]) == (3, PASSPORT, "queued")
    assert turn.endswith(f"{new['replaces']}/")
    finish()
    same = client.call("POST", f"{turn}something-else/")
    assert (same.status_code, same.json()["id"]) == (200, new["id"])
    assert client.get(turn).json()["replaced_by"] == new["id"]
    assert client.get(made["Location"]).json()["state"] == "asking"
    unheard = client.call("POST", f"{made['Location']}something-else/")
    assert (unheard.status_code, unheard.json()["type"]) == (409, "urn:ieim:problem:not-answered")


def test_it_takes_one_message_at_a_time(client: Integrator, turn: str) -> None:
    client.ask(VISA)
    response = client.call("POST", f"{turn}something-else/")
    assert (response.status_code, response.json()["type"]) == (409, "urn:ieim:problem:turn-pending")


def test_it_is_limited_as_messages_are(
    client: Integrator, turn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_rates(monkeypatch, turns="1/minute")
    assert client.call("POST", f"{turn}something-else/").status_code == 202
    response = client.call("POST", f"{turn}something-else/")
    assert (response.status_code, response.json()["type"]) == (429, "urn:ieim:problem:rate-limit")
    assert int(response["Retry-After"]) > 0


def test_it_is_not_there_for_others_or_for_other_answers(client: Integrator, turn: str) -> None:
    first = Turn.objects.get(session_id=client.id, number=1)
    assert Integrator().call("POST", f"{turn}something-else/").status_code == 404
    for pk in (first.pk, uuid4()):
        gone = client.call("POST", f"/api/v1/turns/{pk}/something-else/")
        assert gone.status_code == 404
        assert gone["Content-Type"] == "application/problem+json"
    assert client.call("GET", f"{turn}something-else/").status_code == 405
    assert client.call("DELETE", client.path).status_code == 204
    assert client.call("POST", f"{turn}something-else/").status_code == 401


@pytest.mark.django_db(transaction=True)
async def test_the_socket_tells_of_it_and_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "queue", lambda turn_id: None)
    client, turn = await database_sync_to_async(talked)()
    async with json_socket(client.token, after=0) as socket:
        told = await socket.read_until("reply", turn=turn)
        assert told["reply"]["still_about"] == NAME
        deltas = [f["text"] for f in socket.frames if f["type"] == "delta" and f["turn"] == turn]
        assert deltas[0] == f"Still about: {NAME}"
        for bad in ({}, {"turn": 1}, {"turn": "x"}, {"turn": str(uuid4())}):
            await socket.send({"type": "something_else", **bad})
            assert (await socket.read_until("error"))["code"] == "bad-frame"
        await socket.send({"type": "something_else", "turn": turn})
        received = await socket.read_until("stage", stage="received", replaces=turn)
        assert received["turn"] != turn
        await socket.send({"type": "something_else", "turn": received["turn"]})
        assert (await socket.read_until("error"))["code"] == "not-answered"
        await database_sync_to_async(finish)()
        assert (await socket.read_until("choice"))["turn"] == received["turn"]
        await socket.send({"type": "something_else", "turn": turn})
        await socket.send({"type": "ask", "text": VISA, "client_id": "after"})
        after = await socket.read_until("stage", stage="received", client_id="after")
        assert "replaces" not in after
        # The second tap has made no turn, and none is made while a message is worked on.
        assert await database_sync_to_async(Turn.objects.count)() == 4


@pytest.mark.django_db(transaction=True)
async def test_the_socket_says_why_it_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "queue", lambda turn_id: None)
    client, turn = await database_sync_to_async(talked)()
    async with json_socket(client.token, after=0) as socket:
        await socket.send({"type": "ask", "text": VISA})
        await socket.read_until("stage", stage="received")
        await socket.send({"type": "something_else", "turn": turn})
        assert (await socket.read_until("error"))["code"] == "turn-pending"
        set_rates(monkeypatch, turns="1/minute")
        for _ in range(2):
            await socket.send({"type": "something_else", "turn": turn})
        assert (await socket.read_until("error"))["code"] == "turn-pending"
        limited = await socket.read_until("error")
        assert (limited["code"], limited["client_id"]) == ("rate-limit", None)
        assert limited["retry_after"] > 0
