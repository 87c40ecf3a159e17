"""How often one may change one's mind of an answer: as often as one may write, however it comes."""

from __future__ import annotations

import pytest

from conversations.models import Rating, Turn
from conversations.turns import running
from tests.conversations.api.integrating import Integrator, set_rates
from tests.conversations.test_rating import HTMX, SECRET, address, browser_with, events
from tests.fixtures import VISA, Ask

DANGER = "I want to kill myself"
TOO_MANY = "Too many questions have come from here in a short time."


@pytest.fixture
def turn(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> Turn:
    """An answer on which one verdict is left for now."""
    turn = ask(VISA, secret=SECRET)
    set_rates(monkeypatch, turns="1/hour")
    return turn


def test_a_change_counts_and_the_same_again_does_not(turn: Turn) -> None:
    client = browser_with(SECRET)
    for _ in range(3):
        assert client.post(address(turn), {"useful": "yes"}).status_code == 303
    refused = client.post(address(turn), {"useful": "no"})
    assert refused.status_code == 429
    assert 3500 < int(refused["Retry-After"]) <= 3600
    assert TOO_MANY in refused.content.decode()
    assert Rating.objects.get().useful is True
    assert len(events(turn)) == 1


def test_an_open_page_says_so_and_keeps_what_was_typed(turn: Turn) -> None:
    client = browser_with(SECRET)
    client.post(address(turn), {"useful": "no"})
    fields = {"useful": "no", f"text-{turn.pk}": DANGER}
    response = client.post(address(turn), fields, headers=HTMX)
    html = response.content.decode()
    assert response["HX-Reswap"] == "none"
    assert f'id="connection" hx-swap-oob="innerHTML"><span lang="en">{TOO_MANY}' in html
    # What is not taken shows its help lines all the same.
    assert html.index("Listening Line") < html.index(TOO_MANY)
    page = client.post(address(turn), fields).content.decode()
    assert page.index("Listening Line") < page.index(TOO_MANY)
    assert not turn.review_items.exists()


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_rest_says_so(published: None, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Integrator()
    client.ask(VISA)
    turn = Turn.objects.get()
    running.run_turn(turn_id=turn.pk)
    set_rates(monkeypatch, address="1/hour")
    path = f"/api/v1/turns/{turn.pk}/rating/"
    answers = [client.call("PUT", path, {"useful": useful}) for useful in (True, True, False)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].json()["type"] == "urn:ieim:problem:rate-limit"
    assert 3500 < int(answers[2]["Retry-After"]) <= 3600
