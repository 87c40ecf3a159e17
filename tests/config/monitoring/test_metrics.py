"""What Prometheus is told."""

from __future__ import annotations

import asyncio
import os
import time
from datetime import timedelta
from math import inf
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import OperationalError, transaction
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from conversations.models import Session
from conversations.turns import erasing, running
from ieim.audit.selectors import VERIFIED
from ieim.audit.services import record_system
from ieim.config.monitoring import counting, gauges, measures, processes, serving
from review.models import CRISIS, ReviewItem
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review import desk

pytestmark = pytest.mark.both_databases

TOKEN = "0123456789-abcdef"
CRISIS_WORDS = "I want to kill myself tonight."


@pytest.fixture(autouse=True)
def _from_zero(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "SETTLED", timedelta(0))
    scraped()


def scraped() -> dict[str, float]:
    """Every sample, as a scrape reads it."""
    body, kind = serving.encode_metrics()
    assert kind.startswith("text/plain; version=0.0.4")
    fields: dict[str, float] = {}
    for family in text_string_to_metric_families(body.decode()):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            name = f"{sample.name}{{{labels}}}" if labels else sample.name
            assert name not in fields
            fields[name] = sample.value
    return fields


def test_stages_that_prepared_words_answered_are_counted(published: None) -> None:
    def blank(answer: dict[str, Any]) -> None:
        answer.update(judgements={"inquiry": False}, assistantReply="—", nextStep="session_end")

    desk.ask("hello", {"judgement_v1": [blank, blank]})
    assert scraped()["ieim_fallbacks_total{stage=judgement_v1}"] == 1


def test_turns_and_calls_are_counted_once_whoever_scrapes(ask: Ask) -> None:
    assert scraped()["ieim_turns_total{outcome=index}"] == 0, "told before it happens"
    script = {"agency_detect_v1": ["no json", "```{}```"]}
    with scripted_model({}) as (model, _):
        ask(VISA, model=model)
    with scripted_model(script) as (model, _):
        ask(VISA, model=model)
    for now in (scraped(), scraped()):
        assert now["ieim_turns_received_total"] == 2
        assert now["ieim_turns_total{outcome=index}"] == 1
        assert now["ieim_turns_total{outcome=needs_review}"] == 1
        assert now["ieim_findings_total{code=json.syntax}"] == 2
        assert now["ieim_model_calls_total{result=failed,stage=agency_detect_v1}"] == 2
        assert now["ieim_model_calls_total{result=passed,stage=judgement_v1}"] == 2
        assert now["ieim_model_tokens_total{kind=cached}"] > 0
        assert now["ieim_model_call_seconds_count{stage=judgement_v1}"] == 2
        assert now["ieim_turn_seconds_count{by=machine}"] == 1
        assert now["ieim_turn_seconds_bucket{by=machine,le=+Inf}"] == 1
        assert now["ieim_turns_waiting{state=needs_review}"] == 1
        assert now["ieim_review_opened_total{stage=agency_detect_v1}"] == 1
        assert all(value == 1 for name, value in now.items() if "metrics_complete" in name)


def test_what_was_not_answered_is_counted_as_what_it_is(db: None) -> None:
    events: list[tuple[str, dict[str, Any]]] = [
        ("turn.answered", {"origin": "index", "kind": "outside", "unsaid": False}),
        ("turn.answered", {"origin": "index", "kind": "service", "unsaid": True}),
        ("turn.answered", {"origin": "staff", "kind": "outside", "unsaid": False}),
        ("turn.chosen", {"outcome": "expired"}),
        ("turn.chosen", {"outcome": "chosen"}),
    ]
    for kind, payload in events:
        with transaction.atomic():
            record_system(kind=kind, payload={**payload, "turn": str(uuid4())}, actor="system")
    now = scraped()
    counted = {o: now[f"ieim_turns_total{{outcome={o}}}"] for o in ("outside", "unsaid", "left")}
    assert counted == {"outside": 1, "unsaid": 1, "left": 1}
    assert (now["ieim_turns_total{outcome=index}"], now["ieim_turns_total{outcome=staff}"]) == (
        0,
        1,
    )


def test_a_counter_does_not_fall_when_a_conversation_is_erased(ask: Ask) -> None:
    turn = ask(VISA)
    before = scraped()
    erasing.erase_session(session_id=turn.session_id, actor="citizen")
    after = scraped()
    fallen = [name for name in before if "_total" in name and after[name] < before[name]]
    assert fallen == []
    assert after["ieim_turns_received_total"] == 1


def test_what_is_too_young_is_counted_later(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "SETTLED", timedelta(hours=1))
    ask(VISA)
    assert scraped()["ieim_turns_received_total"] == 0
    monkeypatch.setattr(counting, "SETTLED", timedelta(0))
    monkeypatch.setattr(counting, "BATCH", 3)
    last = 0.0
    for _ in range(20):
        now = scraped()["ieim_model_calls_total{result=passed,stage=service_select_v1}"]
        assert now >= last
        last = now
    assert last == 1, "a batch a scrape"


def test_the_queue_is_told_by_urgency_and_a_crisis_until_somebody_has_it(ask: Ask) -> None:
    ask(CRISIS_WORDS)
    item = ReviewItem.objects.get(rank=CRISIS)
    ReviewItem.objects.update(
        opened_at=timezone.now() - timedelta(minutes=3), due_at=timezone.now() - timedelta(1)
    )
    now = scraped()
    assert now["ieim_queue_items{urgency=crisis}"] == 1
    assert now["ieim_queue_overdue{urgency=crisis}"] == 1
    assert 180 <= now["ieim_queue_oldest_seconds{urgency=crisis}"] < 240
    assert now["ieim_crisis_unseen"] == 1
    assert 180 <= now["ieim_crisis_unseen_oldest_seconds"] < 240
    item.state = "claimed"
    item.save()
    now = scraped()
    assert (now["ieim_crisis_unseen"], now["ieim_queue_items{urgency=crisis}"]) == (0, 1)


def test_nothing_of_a_citizen_is_a_label(ask: Ask) -> None:
    turn = ask(CRISIS_WORDS)
    processes.report("worker")
    body = serving.encode_metrics()[0].decode()
    session = Session.objects.get(pk=turn.session_id)
    for secret in (str(turn.pk), turn.pk.hex, str(session.pk), session.reference, "kill"):
        assert secret not in body


def test_the_number_of_queries_does_not_grow_with_what_there_is(
    ask: Ask, django_assert_max_num_queries: Any
) -> None:
    for _ in range(3):
        ask(VISA)
    with django_assert_max_num_queries(12):
        list(serving.Metrics().collect())


def test_every_process_is_told_of_by_whichever_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_slots", {})
    processes.report("web")
    processes.report("web")
    monkeypatch.setattr("os.getpid", lambda: 1)
    monkeypatch.setattr(running, "breaker_is_open", lambda: True)
    processes.report("worker")
    now = scraped()
    assert (now["ieim_processes{kind=web}"], now["ieim_processes{kind=worker}"]) == (1, 1)
    assert now["ieim_breaker_open{kind=web,process=0}"] == 0
    assert now["ieim_breaker_open{kind=worker,process=1}"] == 1


def test_requests_are_counted_by_status_and_memory_by_process() -> None:
    async def request(status: int) -> None:
        async def application(_scope: Any, _receive: Any, send: Any) -> None:
            if status:
                await send({"type": "http.response.start", "status": status})

        async def send(_message: Any) -> None:
            pass

        await measures.measure_requests(application)({}, None, send)

    processes.report("web")
    before = scraped()
    for status in (200, 204, 503, 0):
        asyncio.run(request(status))
    processes.report("web")
    now = scraped()
    name = "ieim_http_request_seconds_count{{kind=web,process=0,status={}}}"
    counts = {kind: now[name.format(kind)] - before[name.format(kind)] for kind in ("2xx", "5xx")}
    assert counts == {"2xx": 2, "5xx": 1}
    assert now["ieim_process_resident_memory_bytes{kind=web,process=0}"] > 10**7


def test_a_backup_that_never_came_is_infinitely_old_and_one_that_failed_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "IEIM_DATA_DIR", tmp_path)
    assert scraped()["ieim_backup_age_seconds"] == 0
    monkeypatch.setattr(settings, "IEIM_BACKED_UP", True)
    assert scraped()["ieim_backup_age_seconds"] == inf
    (tmp_path / "backup.done").touch()
    os.utime(tmp_path / "backup.done", (0, time.time() - 7200))
    now = scraped()
    assert 7200 <= now["ieim_backup_age_seconds"] < 7300
    assert now["ieim_backup_failed"] == 0
    (tmp_path / "backup.failed").touch()
    assert scraped()["ieim_backup_failed"] == 1


def test_a_verification_is_told_with_its_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    assert scraped()["ieim_audit_verification_age_seconds"] == 0
    monkeypatch.setattr(settings, "IEIM_SEALED", True)
    assert scraped()["ieim_audit_verification_age_seconds"] == inf
    for is_sound in (False, True):
        record_system(kind=VERIFIED, payload={"ok": is_sound}, actor="system")
        now = scraped()
        assert now["ieim_audit_verification_failed"] == (not is_sound)
        assert 0 <= now["ieim_audit_verification_age_seconds"] < 60


def test_a_source_that_is_away_leaves_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_arguments: Any) -> Any:
        raise OperationalError("no server")

    monkeypatch.setattr(gauges, "_turns", away)
    now = scraped()
    assert now["ieim_metrics_complete{part=waiting}"] == 0
    assert now["ieim_metrics_complete{part=processes}"] == 1
    assert "ieim_crisis_unseen" not in now


@pytest.mark.parametrize(
    ("token", "sent", "status"),
    [
        (TOKEN, f"Bearer {TOKEN}", 200),
        (TOKEN, f"Bearer {TOKEN}x", 401),
        (TOKEN, "", 401),
        ("", "Bearer ", 404),
    ],
)
def test_only_who_has_the_token_reads_them(
    token: str, sent: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "IEIM_METRICS_TOKEN", token)
    monkeypatch.setattr(
        serving, "encode_metrics", lambda _accept: (b"ieim_turns 1\n", "text/plain")
    )
    messages: list[dict[str, Any]] = []

    async def beyond(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": []})

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    scope = {
        "path": "/metrics",
        "method": "GET",
        "headers": [(b"authorization", sent.encode())],
    }

    async def scrape() -> None:
        await serving.serve_metrics(beyond)(scope, None, send)

    asyncio.run(scrape())
    assert messages[0]["status"] == status
    assert (b"ieim_turns" in messages[-1].get("body", b"")) == (status == 200)
