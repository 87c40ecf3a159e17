"""Whether an answer was useful, by REST."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from conversations.models import Rating, Turn
from conversations.turns import running
from tests.conversations.api import integrating
from tests.conversations.api.integrating import Integrator
from tests.fixtures import VISA

pytestmark = pytest.mark.usefixtures("published", "no_rates")
no_rates = integrating.no_rates


@pytest.fixture
def client() -> Integrator:
    client = Integrator()
    client.ask(VISA)
    return client


@pytest.fixture
def turn(client: Integrator) -> str:
    """The address of an answered turn."""
    stored = Turn.objects.get(session_id=client.id)
    running.run_turn(turn_id=stored.pk)
    return f"/api/v1/turns/{stored.pk}/"


def test_it_takes_a_verdict_and_shows_it(client: Integrator, turn: str) -> None:
    assert client.get(turn).json()["useful"] is None
    for useful in (True, False, False):
        response = client.call("PUT", f"{turn}rating/", {"useful": useful})
        assert response.status_code == 200
        assert response.json() == client.get(turn).json()
        assert response.json()["useful"] is useful
        assert client.get().json()["turns"][0]["useful"] is useful
        assert "no-store" in response["Cache-Control"]
    assert Rating.objects.get().useful is False


@pytest.mark.parametrize(
    ("body", "pointer", "detail"),
    [
        ({}, "/useful", "This field is required."),
        ({"useful": None}, "/useful", "This field may not be null."),
        ({"useful": "true"}, "/useful", "Send true or false, not in quotes."),
        ({"useful": 1}, "/useful", "Send true or false, not in quotes."),
        ({"useful": True, "words": "x"}, "/words", "This field is not known here."),
    ],
)
def test_it_says_what_is_wrong(
    client: Integrator, turn: str, body: dict[str, Any], pointer: str, detail: str
) -> None:
    response = client.call("PUT", f"{turn}rating/", body)
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["errors"] == [{"pointer": pointer, "detail": detail}]
    assert not Rating.objects.exists()


def test_it_refuses_a_body_that_is_no_json(client: Integrator, turn: str) -> None:
    assert client.call("PUT", f"{turn}rating/", b"useful=yes").status_code == 400
    assert client.call("POST", f"{turn}rating/", {"useful": True}).status_code == 405
    assert not Rating.objects.exists()


def test_it_rates_with_its_own_token_only(client: Integrator, turn: str) -> None:
    body = {"useful": True}
    assert Integrator().call("PUT", f"{turn}rating/", body).status_code == 404
    assert client.call("PUT", f"{turn}rating/", body, Authorization="").status_code == 401
    made_up = f"/api/v1/turns/{uuid.uuid4()}/rating/"
    assert client.call("PUT", made_up, body).status_code == 404
    assert not Rating.objects.exists()


def test_it_rates_nothing_before_there_is_an_answer(client: Integrator) -> None:
    path = f"/api/v1/turns/{Turn.objects.get().pk}/rating/"
    response = client.call("PUT", path, {"useful": True})
    assert response.status_code == 404
    assert response.json()["detail"] == "This message has no answer that can be rated."
    assert not Rating.objects.exists()
