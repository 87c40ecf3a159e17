"""What no service is about: told so, with the agencies by name, and nothing to choose from."""

from __future__ import annotations

import pytest

from conversations import selectors
from conversations.models import Turn
from conversations.record.replay import replay
from ieim.knowledge import selectors as knowledge
from ieim.pipeline.reply.reply import OUTSIDE
from ieim.pipeline.stages.base import Inputs
from ieim.pipeline.work import Abstained, Answered
from tests.conversations.test_rating import browser_with
from tests.fixtures import VISA, Ask
from tests.pipeline.build import valid
from tests.pipeline.drive import ScriptedModel, run

SECRET = "a"


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every service is further away than what is about a message."""
    monkeypatch.setattr(Inputs, "near_enough", lambda *_: False)


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


@pytest.mark.parametrize(("score", "kind"), [(0.2, "outside"), (0.8, "service")])
def test_it_is_not_said_over_a_sure_model(far: None, score: float, kind: str) -> None:
    answer = valid("service_select_v1")
    answer["serviceSelection"]["score"] = score
    outcome = run(ScriptedModel({"service_select_v1": [answer]}))[0]
    assert isinstance(outcome, Answered)
    assert outcome.reply.kind == kind


def test_an_unsure_model_asks_back_where_something_is_near() -> None:
    answer = valid("service_select_v1")
    answer["serviceSelection"]["score"] = 0.2
    assert isinstance(run(ScriptedModel({"service_select_v1": [answer]}))[0], Abstained)
