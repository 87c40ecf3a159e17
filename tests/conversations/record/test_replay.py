"""A stored turn judged again: the same decisions, or a clear word about what has changed."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from conversations.models import Attempt, Turn
from conversations.record.replay import replay
from ieim.llm.offline import OfflineModel
from ieim.pipeline.gate import gate
from ieim.pipeline.ports import ModelAnswer, ModelRequest
from tests.audit.owner import triggers_lifted
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review import desk

BABY = "We had a baby. How do we register the birth and claim child benefit?"


def command(turn: Turn, *options: str) -> str:
    out = io.StringIO()
    call_command("replay", str(turn.pk), *options, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize("text", [VISA, BABY, "hello there", "Where do tigers get permits?"])
def test_it_decides_the_same_again(ask: Ask, text: str) -> None:
    result = replay(ask(text))
    assert result.same
    assert result.changes == ()


@pytest.mark.parametrize("text", [VISA, BABY, "hello there"])
def test_it_has_the_same_hash_for_the_same_conversation(ask: Ask, text: str) -> None:
    first, second = ask(text), ask(text)
    assert replay(first).stored_sha256 == replay(second).stored_sha256


@pytest.mark.parametrize("raw", ["no json", '{"a": "\\ud800"}', "\x00", "[1e400]"])
def test_it_judges_failed_attempts_again(ask: Ask, raw: str) -> None:
    with scripted_model({"agency_detect_v1": [raw]}) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == "answered"
    assert Attempt.objects.filter(stage__turn=turn, number=2).exists()
    assert replay(turn).same


@pytest.mark.parametrize("contract", ["judgement_v1", "classify", "extract", "identity_assist"])
def test_it_decides_the_same_again_where_an_output_budget_stopped_it(
    ask: Ask, contract: str
) -> None:
    class Wordy(OfflineModel):
        def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
            answer = super().complete(request, deadline=deadline)
            long = request.contract == contract
            return replace(answer, prompt_tokens=10, completion_tokens=9_999 if long else 5)

    turn = ask(VISA, model=Wordy())
    desk.look_for_facts(turn, Wordy())
    stage = turn.stages.get(contract=contract)
    assert [finding["code"] for finding in stage.findings] == ["budget.output"]
    result = replay(turn)
    assert result.changes == ()
    assert result.same


def test_it_knows_the_ids_that_earlier_turns_used(ask: Ask) -> None:
    ask(VISA, secret="a")
    assert replay(ask("and how much does it cost?", secret="a")).same


def test_it_says_what_has_changed(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = ask(VISA)
    monkeypatch.setattr(gate, "MINIMUM_SCORE", gate.MINIMUM_SCORE + 1)
    result = replay(turn)
    assert not result.same
    assert any("was passed, is now score.minimum" in change for change in result.changes)
    with pytest.raises(CommandError, match="not the same"):
        command(turn)


def test_it_says_when_a_prompt_has_changed_though_the_decision_has_not(ask: Ask) -> None:
    turn = ask(VISA)
    with triggers_lifted():
        Attempt.objects.filter(stage__contract="judgement_v1").update(prompt_sha256="0" * 64)
    result = replay(turn)
    assert result.same
    assert result.changes == ("judgement_v1, attempt 1: the prompt has changed since.",)


def test_it_prints_both_hashes(ask: Ask) -> None:
    turn = ask(VISA)
    data = json.loads(command(turn, "--json"))
    assert data["same"] is True
    assert data["stored_sha256"] == data["replayed_sha256"]
    assert data["stored_sha256"] in command(turn)


def test_it_knows_no_other_turn(db: None) -> None:
    with pytest.raises(CommandError, match="There is no turn"):
        call_command("replay", str(uuid4()))
