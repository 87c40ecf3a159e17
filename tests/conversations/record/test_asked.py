"""What a model was asked can be read years later, whatever the prompts are by then."""

from __future__ import annotations

import dataclasses
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from conversations.models import Artifact, Attempt, Turn
from conversations.record.calls import request_of as asked
from ieim.pipeline import contract as contracts
from tests.administration.setting import put
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model


@pytest.fixture
def turn(ask: Ask) -> Turn:
    """A turn with a stage that was asked twice."""
    with scripted_model({"agency_detect_v1": ["no json"]}) as (model, _):
        return ask(VISA, model=model)


def test_it_is_exactly_what_was_sent(turn: Turn) -> None:
    for attempt in Attempt.objects.filter(stage__turn=turn).select_related("stage"):
        result, contract = asked(attempt), contracts.load(attempt.stage.contract)
        assert result.exact
        assert result.persona == contract.persona
        short = attempt.number == 2
        assert result.directive == (contract.short_directive if short else contract.directive)
        assert json.loads(result.question)["contract"] == contract.id
        assert result.schema == contract.schema


def test_it_is_what_was_sent_then(turn: Turn, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Artifact.objects.count()
    ask(VISA)
    assert Artifact.objects.count() == before, "each is stored once"
    attempt = Attempt.objects.filter(stage__turn=turn, stage__contract="judgement_v1").get()
    old = contracts.load("judgement_v1")
    new = dataclasses.replace(old, directive="Now all is different.", prompt_sha256="0" * 64)
    monkeypatch.setattr(contracts, "load", lambda *_: new)
    assert asked(attempt).directive == old.directive


def test_it_says_when_it_is_not_what_was_sent(turn: Turn) -> None:
    attempt = Attempt.objects.filter(stage__turn=turn)[0]
    attempt.request_sha256 = "0" * 64
    assert not asked(attempt).exact


def test_the_command_prints_every_attempt(turn: Turn) -> None:
    out = StringIO()
    call_command("asked", str(turn.pk), "--json", stdout=out)
    data = json.loads(out.getvalue())
    stored = Attempt.objects.filter(stage__turn=turn)
    assert len(data) == stored.count()
    detected = [entry for entry in data if entry["stage"] == "agency_detect_v1"]
    assert [(entry["attempt"], entry["exact"]) for entry in detected] == [(1, True), (2, True)]
    assert len(detected[1]["directive"]) < len(detected[0]["directive"])
    out = StringIO()
    call_command("asked", str(turn.pk), stdout=out)
    assert "agency_detect_v1, round 1, attempt 2" in out.getvalue()
    assert detected[0]["directive"] in out.getvalue()


def test_the_command_knows_no_other_turn(db: None) -> None:
    with pytest.raises(CommandError, match="There is no turn"):
        call_command("asked", "00000000-0000-4000-8000-000000000000")


def test_every_call_begins_with_the_persona_of_the_settings(ask: Ask) -> None:
    shipped = contracts.load("classify").persona
    put(
        "persona",
        name="Ada of Northport",
        tone="calm",
        policy="Say that we close at noon.\n\nBe brief.",
    )
    with scripted_model({"agency_detect_v1": ["no json"]}) as (model, _):
        turn = ask(VISA, model=model)
    sent = [asked(result) for result in Attempt.objects.filter(stage__turn=turn)]
    assert len(sent) == 6
    assert all(result.exact for result in sent)
    (persona,) = {result.persona for result in sent}
    assert persona.startswith(shipped.rstrip())
    for entry in ("Ada of Northport", "calm", "Say that we close at noon.\n\nBe brief."):
        assert entry in persona
