"""Correction records: complete, for good, and without a citizen's word in the audit record."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import jsonpatch
import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from conversations.models import Turn
from conversations.turns.erasing import erase_session
from ieim.audit import services as audit
from ieim.audit.models import AppendOnlyError, AuditEvent
from ieim.audit.verify import verify
from review import deciding
from review.deciding import Action, answers
from review.models import Decision
from tests.fixtures import VISA
from tests.review import desk
from tests.review.deciding.test_deciding import RISKY, SERVICE, selection
from tests.review.desk import BAD, Scripted, taken_and_decided, the_item

pytestmark = pytest.mark.usefixtures("published")


def other_service(answer: dict[str, Any]) -> None:
    answer["serviceSelection"]["serviceKey"] = "no-such-service"


def overridden(script: dict[str, Any] | None = None) -> tuple[Turn, Decision]:
    turn = desk.ask(VISA, script or {"service_select_v1": [other_service, other_service]})
    eva = desk.person("eva")
    return turn, taken_and_decided(the_item(turn), eva, Action.OVERRIDE, output=selection())


def test_it_keeps_the_patch_from_what_the_model_said() -> None:
    turn, decision = overridden()
    stage = turn.stages.get(contract="service_select_v1")
    result = answers.last_readable(stage)
    assert decision.patch is not None
    assert jsonpatch.apply_patch(result, decision.patch) == decision.output == stage.output
    changed = {operation["path"] for operation in decision.patch}
    assert "/serviceSelection/serviceKey" in changed
    assert "/session_id" not in changed


def test_it_has_no_patch_where_nothing_could_be_read() -> None:
    _, decision = overridden({"service_select_v1": BAD})
    assert decision.patch is None
    assert decision.output is not None
    assert decision.output["serviceSelection"]["serviceKey"] == SERVICE


def test_it_has_an_empty_patch_for_an_approval() -> None:
    turn = desk.ask(RISKY, {})
    assert taken_and_decided(the_item(turn), desk.person("eva"), Action.APPROVE).patch == []


def test_it_keeps_the_hashes_of_what_was_judged() -> None:
    turn, decision = overridden()
    attempt = turn.stages.get(contract="service_select_v1").attempts.get(number=2)
    assert decision.artifacts == {
        "stage": "service_select_v1",
        "attempt": f"{attempt.round}.{attempt.number}",
        "contract_sha256": attempt.contract_sha256,
        "prompt_sha256": attempt.prompt_sha256,
    }


def test_it_counts_the_seconds_since_the_claim() -> None:
    turn = desk.ask(VISA, {"service_select_v1": BAD})
    eva, item = desk.person("eva"), the_item(turn)
    with transaction.atomic():
        audit.record(
            chain=turn.session_id,
            kind="review.claimed",
            actor="staff:eva",
            payload={"item": str(item.pk)},
        )
    item = desk.take(item, eva)
    decision = deciding.decide(
        item_id=item.pk,
        actor=eva,
        version=item.version,
        action=Action.RETRY,
        reason=desk.REASON,
        payload={},
        now=timezone.now() + timedelta(seconds=42),
    )
    assert decision.seconds == 42


def test_it_audits_without_words_of_citizen_or_staff() -> None:
    turn = desk.ask("I want to extend my tourist visa, Oberländer", {"category_select_v1": BAD})
    text = "Dear Ms Oberländer, please call."
    taken_and_decided(the_item(turn), desk.person("eva"), Action.WRITE, text=text, sources=[])
    events = AuditEvent.objects.filter(chain=turn.session_id)
    assert not [event for event in events if "Oberl" in event.payload or "call" in event.payload]
    decided = events.get(kind="review.decided")
    payload = json.loads(decided.payload)
    assert (decided.actor, payload["action"]) == ("staff:eva", "write")
    assert not [name for name in payload if name.endswith("sha256")]  # it would outlive the words
    answered = events.get(kind="turn.answered")
    assert (answered.actor, json.loads(answered.payload)["origin"]) == ("staff:eva", "staff")
    assert verify(turn.session_id).ok


def test_it_never_changes_a_record() -> None:
    _, decision = overridden()
    with pytest.raises(AppendOnlyError):
        decision.save()
    with pytest.raises(IntegrityError), transaction.atomic():
        Decision.objects.filter(pk=decision.pk).update(reason="Another one")
    assert Decision.objects.get(pk=decision.pk).reason == desk.REASON


def test_it_deletes_records_when_a_session_is_erased() -> None:
    turn, _ = overridden()
    erase_session(session_id=turn.session_id)
    assert not Decision.objects.exists()


def test_it_keeps_the_evidence_of_a_triage_correction() -> None:
    turn = desk.ask(VISA, {"classify": BAD})
    quoted = {"label": "extend", "confidence": 0.9, "evidence_snippets": ["extend"]}
    output = {
        "intents": [quoted],
        "primary_intent": "extend",
        "product_line": {**quoted, "label": "visas_and_residence"},
        "urgency": {**quoted, "label": "normal"},
        "risk_flags": [],
    }
    decision = taken_and_decided(the_item(turn), desk.person("eva"), Action.OVERRIDE, output=output)
    start = VISA.index("extend")
    assert {(e["start"], e["end"]) for e in decision.evidence} == {(start, start + 6)}
    stage = turn.stages.get(contract="classify")
    assert stage.spans.count() == 3
    assert stage.result is not None
    assert stage.result["urgency"]["label"] == "normal"
    assert desk.run(turn, Scripted()).state == "answered"
