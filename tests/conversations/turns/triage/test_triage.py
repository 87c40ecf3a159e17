"""Triage beside the answering stages: what it stores, what it may hold, what it never delays."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from conversations import selectors
from conversations.models import Reply, Stage, Turn
from conversations.turns import running, services
from ieim.audit.models import AuditEvent
from ieim.pipeline import evidence, results
from review.models import Priority, ReviewItem
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model

CRISIS = "I want to extend my tourist visa or I will kill myself"


def classified(text: str, **changes: Any) -> dict[str, Any]:
    """Return a classify answer for a text, valid but for ``changes``."""

    def label(code: str) -> dict[str, Any]:
        return {"label": code, "confidence": 0.9, "evidence_snippets": [text.split(" or ")[0]]}

    return {
        "intents": [label("extend")],
        "primary_intent": "extend",
        "product_line": label("visas_and_residence"),
        "urgency": label("normal"),
        "risk_flags": [],
        **changes,
    }


def flag(code: str, quote: str, confidence: float = 0.9) -> dict[str, Any]:
    return {"label": code, "confidence": confidence, "evidence_snippets": [quote]}


def result_of(turn: Turn, contract: str) -> Mapping[str, Any]:
    result: Mapping[str, Any] | None = Stage.objects.get(turn=turn, contract=contract).result
    assert result is not None
    return result


def events(turn: Turn, kind: str) -> list[dict[str, Any]]:
    audit_events = AuditEvent.objects.filter(chain=turn.session_id, kind=kind).order_by("seq")
    return [json.loads(event.payload) for event in audit_events]


def test_it_stores_what_triage_found_with_spans_of_the_citizens_text(ask: Ask) -> None:
    with scripted_model({"service_select_v1": ["no json"] * 2}) as (model, _):
        turn = ask(VISA, model=model)
    for contract in ("classify", "extract", "identity_assist"):
        result = result_of(turn, contract)
        assert not list(results.schema(contract).iter_errors(result))
    value = result_of(turn, "classify")
    spans = [*value["product_line"]["spans"], *value["urgency"]["spans"]]
    assert spans
    for span in spans:
        where = evidence.Span(span["start"], span["end"], 1)
        assert span["snippet_sha256"] == evidence.snippet_sha256(VISA, where)
        assert span["quote"] in VISA


def test_it_answers_although_triage_failed_and_asks_somebody_when_there_is_time(ask: Ask) -> None:
    with scripted_model({"classify": ["no json"] * 2}) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == "answered"
    item = ReviewItem.objects.get()
    assert (item.stage, item.priority, item.reasons) == ("classify", Priority.LOW, ["json.syntax"])
    statuses = {stage.contract: stage.status for stage in turn.stages.all()}
    assert statuses["classify"] == "needs_review"
    assert statuses["extract"] == statuses["identity_assist"] == "passed"


def test_it_does_not_ask_again_for_triage_that_failed(ask: Ask) -> None:
    with scripted_model({"classify": ["no json"] * 2, "service_select_v1": [503] * 3}) as (
        model,
        _,
    ):
        turn = ask(VISA, model=model)
    assert turn.state == "awaiting_model"
    Turn.objects.filter(pk=turn.pk).update(retry_at=turn.created_at)
    with scripted_model({}) as (model, server):
        running.run_turn(turn_id=turn.pk, model=model)
    assert server.asked == [("service_select_v1", 1)]
    assert ReviewItem.objects.count() == 1


def test_it_holds_the_reply_for_a_flag_that_only_the_model_saw(ask: Ask) -> None:
    result = classified(VISA, risk_flags=[flag("violence", "tourist visa")])
    with scripted_model({"classify": [result]}) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == "needs_review"
    assert not Reply.objects.exists()
    item = ReviewItem.objects.get()
    assert (item.stage, item.reasons, item.priority) == ("reply", ["policy.risk"], Priority.HIGH)
    start = VISA.index("tourist")
    assert turn.risks == [
        {"code": "violence", "start": start, "end": start + len("tourist visa"), "source": "model"}
    ]
    assert "call 112 now" in " ".join(selectors.turn_view(turn.pk).contact_texts)


def test_it_lets_no_model_take_a_flag_away_and_audits_that_it_tried(ask: Ask) -> None:
    with scripted_model({"classify": [classified(CRISIS)]}) as (model, _):
        turn = ask(CRISIS, model=model)
    assert turn.state == "needs_review"
    assert [result["code"] for result in turn.risks] == ["self_harm"]
    result = result_of(turn, "classify")
    (value,) = result["risk_flags"]
    assert (value["label"], value["source"], value["confidence"]) == ("self_harm", "rule", None)
    assert (result["urgency"]["label"], result["urgency"]["source"]) == ("emergency", "rule")
    (event,) = events(turn, "triage.disagreement")
    assert event["rule_wins"] == [
        {"label_set": "risk_flags", "rule": "self_harm", "model": None},
        {"label_set": "urgencies", "rule": "emergency", "model": "normal"},
    ]
    assert "kill" not in json.dumps(event)


def test_it_has_nothing_to_audit_when_model_and_rule_agree(ask: Ask) -> None:
    value = classified(
        CRISIS,
        risk_flags=[flag("self_harm", "I will kill myself")],
        urgency=flag("emergency", "I will kill myself"),
    )
    with scripted_model({"classify": [value]}) as (model, _):
        turn = ask(CRISIS, model=model)
    assert events(turn, "triage.disagreement") == []
    assert [risk["source"] for risk in turn.risks] == ["rule"]
    (result,) = result_of(turn, "classify")["risk_flags"]
    assert (result["source"], str(result["confidence"])) == ("rule", "0.90")


def test_no_label_below_its_threshold_holds_the_reply(ask: Ask) -> None:
    unsure = {"label": "extend", "confidence": 0.59, "evidence_snippets": ["extend"]}
    with scripted_model({"classify": [classified(VISA, intents=[unsure])]}) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == "answered"
    assert not ReviewItem.objects.exists()


def test_it_waits_for_the_model_when_only_triage_cannot_be_had(ask: Ask) -> None:
    with scripted_model({"classify": [503] * 3}) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == "awaiting_model"
    Turn.objects.filter(pk=turn.pk).update(retry_at=turn.created_at)
    with scripted_model({}) as (model, server):
        running.run_turn(turn_id=turn.pk, model=model)
    assert server.asked == [("classify", 1)]
    turn.refresh_from_db()
    assert turn.state == "answered"
    assert not ReviewItem.objects.exists()


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_it_asks_for_classify_and_the_next_stage_at_the_same_time(published: None) -> None:
    """Each waits until the other has been asked: one after the other would never end."""
    together = ("agency_detect_v1", "classify")
    all_asked = threading.Barrier(len(together))

    class Meeting:
        name = "meeting"
        reads = False

        def complete(self, request: Any, *, deadline: float) -> Any:
            if request.contract in together:
                all_asked.wait(30)
            return model.complete(request, deadline=deadline)

    with scripted_model({}) as (model, _):
        turn = services.receive(session="s", text=VISA, enqueue=False)[0]
        running.run_turn(turn_id=turn.pk, model=Meeting())
    turn.refresh_from_db()
    assert turn.state == "answered"
    assert {stage.status for stage in turn.stages.all()} == {"passed"}
    assert turn.stages.count() == 5


def test_it_costs_one_call_to_be_greeted(ask: Ask) -> None:
    with scripted_model({}) as (model, server):
        turn = ask("Hello!", model=model)
    assert turn.state == "answered"
    assert turn.reply.body["kind"] == "guidance"
    assert server.asked == [("judgement_v1", 1)]


def test_it_asks_for_triage_of_what_is_no_inquiry_but_at_risk(ask: Ask) -> None:
    with scripted_model({}) as (model, server):
        turn = ask("I will kill myself", model=model)
    assert turn.state == "needs_review"
    assert {"classify", "extract", "identity_assist"} < {contract for contract, _ in server.asked}


def test_it_tells_a_person_how_urgent_a_message_is_that_nobody_could_judge(ask: Ask) -> None:
    with scripted_model({"judgement_v1": ["no json"] * 2}) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == "needs_review"
    assert result_of(turn, "classify")["urgency"]["label"]


def test_it_gives_a_person_what_failed_although_triage_cannot_be_had(ask: Ask) -> None:
    script: dict[str, list[Any]] = {"agency_detect_v1": ["no json"] * 2, "classify": [503] * 3}
    with scripted_model(script) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == "needs_review"
    assert ReviewItem.objects.get().stage == "agency_detect_v1"


def test_a_model_that_is_not_sure_of_a_flag_shows_its_help_and_holds_nothing(ask: Ask) -> None:
    result = classified(VISA, risk_flags=[flag("minor_at_risk", "tourist visa", 0.35)])
    with scripted_model({"classify": [result]}) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == "answered"
    assert [risk["source"] for risk in turn.risks] == ["unsure"]
    assert "child" in " ".join(selectors.turn_view(turn.pk).contact_texts)
    assert ReviewItem.objects.get().reasons == ["citizen.danger"]
