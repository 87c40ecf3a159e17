"""What no service is about: told so, with the agencies by name, and nothing to choose from."""

from __future__ import annotations

import pytest

from conversations import selectors
from conversations.models import Turn
from conversations.record.replay import replay
from ieim.knowledge import selectors as knowledge
from ieim.pipeline.reply.reply import OUTSIDE
from ieim.search import ranking
from tests.conversations.test_rating import browser_with
from tests.fixtures import VISA, Ask

SECRET = "a"


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every service is further away than what is about a message."""
    monkeypatch.setattr(ranking._Ranking, "outside", 0.9)


def test_it_reads_so_and_names_the_agencies(ask: Ask, far: None) -> None:
    turn = ask(VISA, secret=SECRET)
    assert turn.state == "answered"
    page = browser_with(SECRET).get("/").content.decode()
    assert OUTSIDE.rstrip(".") in page
    for agency in knowledge.release(1).agencies.values():
        assert agency.name in page
    assert f"?about={turn.pk}" in page  # a person is one tap away
    view = selectors.turn_view(turn.pk)
    assert (view.choice, list(view.may_help)) == (None, [])


def test_it_is_replayed_and_remembered(ask: Ask, far: None) -> None:
    turn = ask(VISA, secret=SECRET)
    assert replay(Turn.objects.get(pk=turn.pk)).same
    later = ask("And in Spain?", secret=SECRET)
    assert selectors.history(later)[-1]["text"] == OUTSIDE
