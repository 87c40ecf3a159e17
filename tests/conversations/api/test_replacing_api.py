"""Something else by REST."""

from __future__ import annotations

from uuid import uuid4

import pytest

from conversations.models import Turn
from conversations.turns import running
from tests.conversations.api import integrating
from tests.conversations.api.integrating import Integrator, set_rates
from tests.conversations.turns.test_replacing import NAME, PASSPORT, talk_goes_on
from tests.fixtures import VISA

__all__ = ["talk_goes_on"]  # a fixture

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
    response = client.call("POST", f"{turn}something-else/")
    new = response.json()
    assert response.status_code == 202
    assert response["Location"] == f"/api/v1/turns/{new['id']}/"
    assert (new["number"], new["text"], new["state"]) == (3, PASSPORT, "queued")
    assert turn.endswith(f"{new['replaces']}/")
    finish()
    same = client.call("POST", f"{turn}something-else/")
    assert (same.status_code, same.json()["id"]) == (200, new["id"])
    assert client.get(turn).json()["replaced_by"] == new["id"]
    assert client.get(response["Location"]).json()["state"] == "asking"
    unheard = client.call("POST", f"{response['Location']}something-else/")
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
        result = client.call("POST", f"/api/v1/turns/{pk}/something-else/")
        assert result.status_code == 404
        assert result["Content-Type"] == "application/problem+json"
    assert client.call("GET", f"{turn}something-else/").status_code == 405
    assert client.call("DELETE", client.path).status_code == 204
    assert client.call("POST", f"{turn}something-else/").status_code == 401
