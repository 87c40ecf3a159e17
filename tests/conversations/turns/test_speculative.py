"""Speculative calls that are discarded are stored, audited and counted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.conf import settings

from conversations.models import Unused
from conversations.record.replay import replay
from conversations.turns.store import TurnStore
from ieim.audit.models import AuditEvent
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model

NOT_AN_INQUIRY: dict[str, Any] = {
    "stage": "judgement_v1",
    "stageStatus": "ready",
    "judgements": {"inquiry": False},
    "assistantReply": "What would you like to know?",
    "nextStep": "session_end",
    "telemetry": {"notes": None},
}


@pytest.fixture(autouse=True)
def _ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.IEIM_MODEL, "AHEAD", True)


def test_a_turn_is_answered_as_without_it_and_can_be_replayed(ask: Ask) -> None:
    with scripted_model({}) as (model, server):
        turn = ask(VISA, model=model)
    assert turn.state == "answered"
    assert len(server.asked) == len(set(server.asked)) == 7
    assert replay(turn).same
    assert not Unused.objects.exists()


def test_what_was_in_vain_is_audited_and_counts_against_the_budgets(ask: Ask) -> None:
    with scripted_model({"judgement_v1": [NOT_AN_INQUIRY]}) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == "answered"
    unused = {each.contract: each for each in Unused.objects.all()}
    assert unused.keys() == {"agency_detect_v1", "category_select_v1"}
    assert TurnStore(turn, count_day=True).spent() == (
        type(TurnStore(turn).spent())(*[15 + sum(each.tokens for each in unused.values())] * 2)
    )
    events = AuditEvent.objects.filter(chain=turn.session_id, kind="stage.unused")
    told = [json.loads(event.payload) for event in events]
    assert {each["stage"]: each["tokens"] for each in told} == {
        contract: each.tokens for contract, each in unused.items()
    }
    assert not turn.stages.exclude(contract="judgement_v1").exists()
