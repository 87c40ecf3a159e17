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


class Reader(ScriptedModel):
    """Reads messages itself, as a language model does."""

    reads = True


def chosen(score: float) -> ScriptedModel:
    """A model that names the closest service with this score."""
    answer = valid("service_select_v1")
    answer["serviceSelection"]["score"] = score
    return Reader({"service_select_v1": [answer]})


def none_fits() -> ScriptedModel:
    """A model that finds no agency for an inquiry."""
    answer = valid("agency_detect_v1")
    answer["judgements"] |= {"agencyDetected": [], "agencyInfo": [], "agencyCount": 0}
    return Reader({"agency_detect_v1": [answer | {"nextStep": "session_end"}]})


def ends(model: ScriptedModel) -> str:
    """How a message ends at it: "asks", or the reply's kind."""
    outcome = run(model)[0]
    assert isinstance(outcome, Answered | Abstained)
    return "asks" if isinstance(outcome, Abstained) else outcome.reply.kind


def test_a_model_that_finds_nothing_is_believed_where_the_search_is_not_clear(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert ends(none_fits()) == "asks"
    monkeypatch.setattr(Inputs, "near_enough", lambda *_: False)
    assert ends(none_fits()) == "outside"
    # It has named an agency: something there is meant.
    assert [ends(chosen(0.2)), ends(chosen(0.8))] == ["asks", "service"]
