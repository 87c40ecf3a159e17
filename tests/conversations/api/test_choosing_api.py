"""Asking back by REST."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from conversations.models import Turn
from conversations.turns import running
from tests.conversations.api import integrating
from tests.conversations.api.integrating import Integrator
from tests.conversations.turns.test_choosing import TWO, unsure_of_service

pytestmark = pytest.mark.usefixtures("published", "no_rates")
no_rates = integrating.no_rates
WIDE = "passport"


@pytest.fixture
def client() -> Integrator:
    client = Integrator()
    client.ask(WIDE)
    return client


@pytest.fixture
def turn(client: Integrator) -> str:
    """The address of a turn whose citizen is asked to choose."""
    stored = Turn.objects.get(session_id=client.id)
    running.run_turn(turn_id=stored.pk)
    return f"/api/v1/turns/{stored.pk}/"


def finish() -> None:
    running.run_turn(turn_id=Turn.objects.get().pk)


def test_it_shows_the_options_and_takes_one(client: Integrator, turn: str) -> None:
    data = client.get(turn).json()
    assert (data["state"], data["reply"]) == ("asking", None)
    options = data["choice"]["options"]
    assert [option["number"] for option in options] == list(range(1, len(options) + 1))
    response = client.call("PUT", f"{turn}choice/", {"choice": 2})
    assert (response.status_code, response.json()["state"]) == (200, "running")
    finish()
    answered = client.get(turn).json()
    assert (answered["state"], answered["choice"]) == ("answered", None)
    assert answered["reply"]["title"] == options[1]["name"]
    assert answered["reply"]["origin"] == "citizen_choice"
    late = client.call("PUT", f"{turn}choice/", {"choice": 1})
    assert (late.status_code, late.json()["type"]) == (409, "urn:ieim:problem:choice-late")


def test_it_takes_none_of_these(client: Integrator, turn: str) -> None:
    response = client.call("PUT", f"{turn}choice/", {"choice": None})
    assert (response.status_code, response.json()["state"]) == (200, "needs_review")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"choice": "1"}, 400),
        ({"choice": True}, 400),
        ({"choice": 1.5}, 400),
        ({"choice": 1, "more": 1}, 400),
        ({"choice": []}, 400),
        ({"choice": ["1"]}, 400),
        ({"choice": [1, 2, 3, 4, 5]}, 400),
        ({"choice": [1, 2]}, 422),
        ({"choice": 9}, 422),
        ({"choice": 0}, 422),
        ({"choice": 10**40}, 422),
    ],
)
def test_it_says_what_is_wrong(
    client: Integrator, turn: str, body: dict[str, Any], status: int
) -> None:
    response = client.call("PUT", f"{turn}choice/", body)
    assert response.status_code == status
    assert response["Content-Type"] == "application/problem+json"
    assert client.get(turn).json()["state"] == "asking"


def test_it_takes_several_where_several_were_wished() -> None:
    client = Integrator()
    client.ask(TWO)
    running.run_turn(turn_id=Turn.objects.get().pk, model=unsure_of_service())
    address = f"/api/v1/turns/{Turn.objects.get().pk}/"
    choice = client.get(address).json()["choice"]
    assert choice["several"]
    response = client.call("PUT", f"{address}choice/", {"choice": [4, 1]})
    assert (response.status_code, response.json()["state"]) == (200, "running")
    finish()
    cards = client.get(address).json()["reply"]["cards"]
    assert [card["title"] for card in cards] == [
        choice["options"][number - 1]["name"] for number in (1, 4)
    ]


def test_it_is_not_there_for_others(client: Integrator, turn: str) -> None:
    other = Integrator()
    assert other.call("PUT", f"{turn}choice/", {"choice": 1}).status_code == 404
    result = client.call("PUT", f"/api/v1/turns/{uuid4()}/choice/", {"choice": 1})
    assert result.status_code == 404
