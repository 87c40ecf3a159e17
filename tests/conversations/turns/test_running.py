"""A turn from the message to its end, over the real client and a real socket."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from conversations import selectors
from conversations.models import Attempt, Reply, Stage, Turn
from conversations.record.replay import replay
from conversations.turns import moves, running, services
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from ieim.knowledge import vectors
from ieim.search.caching import Cache
from ieim.search.embedders import CheckedEmbedder
from review.models import ReviewItem
from tests.embedders import Ideas
from tests.fixtures import VISA, Ask, demo_bundle
from tests.knowledge.reading import taught
from tests.model_server import scripted_model
from tests.review import desk

pytestmark = pytest.mark.both_databases

LOW = ["judgement_v1", "agency_detect_v1", "category_select_v1", "service_select_v1"]


def test_it_answers_the_visa_question_with_its_source(ask: Ask) -> None:
    with scripted_model({}) as (model, server):
        turn = ask(VISA, model=model)
    assert turn.state == "answered"
    assert turn.reply.origin == "index"
    assert "visa" in turn.reply.body["title"].lower()
    assert turn.reply.body["sources"][0]["url"].startswith("https://")
    assert sorted(server.asked) == sorted((stage, 1) for stage in [*LOW, "classify"])
    assert [entry for entry in server.asked if entry[0] in LOW] == [(stage, 1) for stage in LOW]
    assert [stage.status for stage in turn.stages.all()] == ["passed"] * 5
    assert {"extend", "visa"} <= {VISA[start:end] for start, end in turn.reply.marked}


def test_it_keeps_what_the_server_had_cached(ask: Ask) -> None:
    with scripted_model({}) as (model, _):
        turn = ask(VISA, model=model)
    attempt = Attempt.objects.get(stage__turn=turn, stage__contract="judgement_v1")
    assert (attempt.prompt_tokens, attempt.cached_tokens, attempt.completion_tokens) == (10, 4, 5)
    documents = [json.loads(e.payload) for e in AuditEvent.objects.filter(kind="stage.attempt")]
    assert {payload["cached_tokens"] for payload in documents} == {4}


def test_it_opens_one_review_item_when_a_stage_fails_closed(ask: Ask) -> None:
    with scripted_model({"agency_detect_v1": ["no json", "```{}```"]}) as (model, _):
        turn = ask(model=model)
    assert turn.state == "needs_review"
    assert not Reply.objects.exists()
    item = ReviewItem.objects.get()
    assert (item.turn_id, item.stage, item.reasons) == (
        turn.pk,
        "agency_detect_v1",
        ["json.syntax"],
    )
    attempts = Attempt.objects.filter(stage__contract="agency_detect_v1")
    assert [bytes(a.raw) for a in attempts] == [b"no json", b"```{}```"]
    assert [a.findings[0]["code"] for a in attempts] == ["json.syntax", "json.syntax"]


@pytest.mark.parametrize("raw", ['{"a": "\\u0000"}', "\x00", '{"a": "\\ud800"}', "x" * 300_000])
def test_it_stores_whatever_a_model_says(ask: Ask, raw: str) -> None:
    with scripted_model({"judgement_v1": [raw, raw]}) as (model, _):
        turn = ask(model=model)
    assert turn.state == "needs_review"
    assert ReviewItem.objects.count() == 1


def test_it_resumes_without_asking_for_what_passed(ask: Ask) -> None:
    with scripted_model({"service_select_v1": [503] * 3}) as (model, _):
        turn = ask(model=model)
    assert turn.state == "awaiting_model"
    Turn.objects.filter(pk=turn.pk).update(retry_at=turn.created_at)
    with scripted_model({}) as (model, server):
        running.run_turn(turn_id=turn.pk, model=model)
    assert server.asked == [("service_select_v1", 1)]
    turn.refresh_from_db()
    assert turn.state == "answered"
    assert not ReviewItem.objects.exists()


def test_it_does_nothing_on_a_second_delivery(ask: Ask) -> None:
    turn = ask()
    events = AuditEvent.objects.count()
    with scripted_model({}) as (model, server):
        running.run_turn(turn_id=turn.pk, model=model)
    assert server.asked == []
    assert AuditEvent.objects.count() == events


def test_it_has_the_database_refuse_a_second_reply(ask: Ask) -> None:
    turn = ask()
    with pytest.raises(IntegrityError), transaction.atomic():
        Reply.objects.create(turn=turn, origin="model", body={})


def test_it_audits_every_attempt_and_the_end_in_one_chain(ask: Ask) -> None:
    turn = ask()
    kinds = list(
        AuditEvent.objects.filter(chain=turn.session_id)
        .order_by("seq")
        .values_list("kind", flat=True)
    )
    assert kinds == ["turn.received", *["stage.attempt"] * 5, "turn.answered"]
    assert verify(turn.session_id).ok


def test_it_keeps_citizens_words_out_of_the_audit(ask: Ask) -> None:
    ask("I want to extend my tourist visa, says Wilhelmina Oberländer")
    assert not AuditEvent.objects.filter(payload__contains="Oberl").exists()


def test_it_reminds_the_model_of_earlier_turns(ask: Ask) -> None:
    ask(VISA, secret="a")
    second = ask("and how much does it cost?", secret="a")
    items = selectors.history(second)
    assert [item["role"] for item in items] == ["user", "assistant"]
    assert items[0]["text"] == VISA
    assert items[1]["service"] == second.reply.body["sources"][0]["service_key"]
    assert len(selectors.history(second)) <= 20


def test_it_reminds_it_of_what_waits_for_a_person_but_not_of_danger(ask: Ask) -> None:
    model = desk.Scripted({"service_select_v1": [desk.unsure]})
    waiting = ask("How do I renew my passport?", secret="a", model=model)
    flag = {"code": "minor_at_risk", "start": 0, "end": 4}
    for source, result in (("hint", True), ("unsure", True), ("rule", False)):
        risks = [{**flag, "source": source}]
        Turn.objects.filter(pk=waiting.pk).update(state="needs_review", risks=risks)
        later = Turn(session_id=waiting.session_id, number=2)
        assert bool(selectors.history(later)) == result


def test_it_queues_a_turn_again_after_an_error_of_ours_and_then_asks_a_person(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: Any, **_options: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("ieim.pipeline.gate.gate.judge", broken)
    turn = ask()
    for runs in range(1, moves.MAX_RUNS):
        assert (turn.state, turn.runs) == ("queued", runs)
        running.run_turn(turn_id=turn.pk)
        turn.refresh_from_db()
    assert turn.state == "needs_review"
    assert ReviewItem.objects.get().reasons == ["pipeline.error"]


def test_it_stores_what_the_gate_made_of_scores_with_two_decimals(ask: Ask) -> None:
    turn = ask()
    stage = Stage.objects.get(turn=turn, contract="service_select_v1")
    assert stage.output is not None
    score = stage.output["serviceSelection"]["score"]
    assert str(score) == f"{score:.2f}"
    attempt = stage.attempts.get()
    assert json.loads(bytes(attempt.raw))["serviceSelection"]["score"] == float(score)


@pytest.mark.parametrize("down", [False, True])
def test_it_records_what_ranked_the_candidates(
    published: None, monkeypatch: pytest.MonkeyPatch, down: bool
) -> None:
    ideas = Ideas()
    careful = CheckedEmbedder(ideas, clock=time.monotonic)
    monkeypatch.setattr(vectors, "configured_embedder", lambda: careful)
    monkeypatch.setattr(vectors, "_slots", Cache(vectors._CACHE_SIZE))
    taught(careful)
    vectors.prepare(demo_bundle().release(1))
    ideas.down = down
    turn = services.receive(session=services.new_secret(), text=VISA, enqueue=False)[0]
    running.run_turn(turn_id=turn.pk)
    events = AuditEvent.objects.filter(chain=turn.session_id, kind="stage.attempt")
    payloads = [json.loads(event.payload) for event in events]
    by_key = {payload["stage"]: payload["retrieval"] for payload in payloads}
    ranked = "words" if down else "ideas/1"
    assert by_key["judgement_v1"] == ""
    assert by_key["agency_detect_v1"] == ranked
    assert replay(turn).same
