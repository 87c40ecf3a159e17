"""Traces: one from the request to the call of the model, and not a word in it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from websockets.sync.client import connect
from websockets.typing import Origin

from ieim.config import doctor
from tests import live
from tests.llm.raw_server import RawServer, http, raw_server
from tests.model_server import ScriptedServer, served
from tests.services import free_port

CANARY = "Quetzalcoatlus"
MAIL = "canary.bird@example.org"
WORDS = f"I want to extend my tourist visa. I am {CANARY}, {MAIL}."
SECONDS = 60.0
QUICK = {"OTEL_BSP_SCHEDULE_DELAY": "100"}


@pytest.fixture
def collector() -> Iterator[RawServer]:
    """What takes traces; all that came is in its ``requests``."""
    with raw_server(lambda connection, _: connection.sendall(http(b""))) as server:
        yield server


def endpoint(collector: RawServer) -> str:
    return collector.base_url.removesuffix("/v1")


class Spans(dict[str, list[Span]]):
    """What came, by name, with the span above each."""

    def __init__(self, collector: RawServer) -> None:
        super().__init__()
        self._by_id: dict[bytes, Span] = {}
        self.processes: dict[bytes, str] = {}
        for head, body in list(collector.requests):
            assert head.startswith("POST /v1/traces ")
            for of_process in ExportTraceServiceRequest.FromString(body).resource_spans:
                by_key = {
                    attribute.key: attribute.value.string_value
                    for attribute in of_process.resource.attributes
                }
                assert by_key["service.name"] == "the-house"
                for span in (span for scope in of_process.scope_spans for span in scope.spans):
                    self.setdefault(span.name, []).append(span)
                    self._by_id[span.span_id] = span
                    self.processes[span.span_id] = by_key["service.instance.id"]

    def above(self, span: Span) -> list[str]:
        """The names of the spans that a span is in, from the nearest to the first."""
        names = []
        while above := self._by_id.get(span.parent_span_id):
            assert above.trace_id == span.trace_id
            names.append(above.name)
            span = above
        return names


def attributes(span: Span) -> dict[str, Any]:
    return {attribute.key: _value(attribute.value) for attribute in span.attributes}


def _value(value: Any) -> Any:
    return getattr(value, value.WhichOneof("value"))


def wait_until(true: Callable[[], Any], what: str) -> Any:
    """Return what ``true`` says as soon as that is something."""
    deadline = time.monotonic() + SECONDS
    while not (result := true()):
        assert time.monotonic() < deadline, f"waited for {what}"
        time.sleep(0.05)  # between two looks
    return result


def post(base_url: str, path: str, token: str = "", **body: str) -> dict[str, Any]:
    headers = {"Content-Type": "application/json", "traceparent": f"00-{'7' * 32}-{'7' * 16}-01"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    sent = urllib.request.Request(f"{base_url}{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(sent, timeout=SECONDS) as answer:
        data: dict[str, Any] = json.loads(answer.read())
        return data


def ended(base_url: str, session: dict[str, Any], turn: dict[str, Any]) -> str:
    """Wait until a turn runs no more; returns how it ended."""
    path = f"{base_url}/api/v1/turns/{turn['id']}/"
    request = urllib.request.Request(path, headers={"Authorization": f"Bearer {session['token']}"})

    def state() -> str:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            now = str(json.loads(answer.read())["state"])
        return "" if now in ("queued", "running") else now

    return str(wait_until(state, "the end of a turn"))


@pytest.mark.both_databases
def test_one_trace_from_request_and_socket_to_the_model_and_no_word_in_it(
    tmp_path: Path, collector: RawServer
) -> None:
    heads: list[str] = []
    model = ScriptedServer({"agency_detect_v1": [f'{{"{CANARY}": 1}}', 503]})
    with served(model.answer, heads) as model_url:
        environment = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint(collector),
            "OTEL_SERVICE_NAME": "the-house",
            "OTEL_TRACES_SAMPLER": "",
            "IEIM_LOG_FORMAT": "json",
            "IEIM_LOG_LEVEL": "DEBUG",
            "IEIM_MODEL_BASE_URL": model_url,
            "IEIM_MODEL_NAME": "scripted",
            **QUICK,
        }
        with live.site(tmp_path, **environment) as site:
            session = post(site.base_url, "/api/v1/sessions/")
            path = f"/api/v1/sessions/{session['id']}/turns/"
            turn = post(site.base_url, path, session["token"], text=WORDS)
            ended(site.base_url, session, turn)
            link = session["link"].removeprefix(site.base_url)
            urllib.request.urlopen(f"{site.base_url}{link}", timeout=SECONDS).close()
            with urllib.request.urlopen(f"{site.base_url}/", timeout=SECONDS) as page:
                cookie = page.headers["Set-Cookie"].partition(";")[0]
            address = site.base_url.replace("http", "ws") + "/ws/chat/"
            headers = {"Cookie": cookie}
            with connect(
                address, origin=Origin(site.base_url), additional_headers=headers
            ) as opened:
                opened.send(json.dumps({"text": f"And what does it cost, {CANARY}?"}))
                wait_until(lambda: len(Spans(collector).get("turn", [])) == 2, "the second turn")
    spans = Spans(collector)
    first, second = sorted(spans["turn"], key=lambda span: span.start_time_unix_nano)
    task = "task conversations.tasks.run_turn"
    web = "POST /api/v1/sessions/<uuid:session_id>/turns/"
    assert spans.above(first) == [task, web]
    assert spans.above(second) == [task, "message"]
    theirs = b"\x77" * 16
    assert len({first.trace_id, second.trace_id, theirs}) == 3, "who asks begins no trace"
    ids = {"ieim.session": session["id"], "ieim.turn": turn["id"]}
    for name in (web, "turn"):
        assert ids.items() <= attributes(spans[name][0]).items()
    calls = [span for span in spans["model agency_detect_v1"] if span.trace_id == first.trace_id]
    whole = ["stage agency_detect_v1", "turn", task, web]
    assert spans.above(calls[-1]) == whole
    assert all(spans.above(call) in (whole, whole[1:]) for call in calls)
    assert attributes(calls[-1])["gen_ai.usage.output_tokens"] == 5
    if site.environment.get("REDIS_URL"):
        processes = {spans.processes[entry.span_id] for entry in (first, spans[web][0])}
        assert len(processes) == 2, "the worker is a process of its own"
    (stage,) = (s for s in spans["stage agency_detect_v1"] if s.trace_id == first.trace_id)
    events = {event.name: {e.key: e.value for e in event.attributes} for event in stage.events}
    assert not events["attempt 1"]["passed"].bool_value
    assert events["attempt 1"]["findings"].array_value.values[0].string_value
    failed = [span for span in calls if attributes(span).get("ieim.cause") == "server"]
    assert failed[0].status.code == Status.STATUS_CODE_ERROR
    assert set(attributes(failed[0])) > {"error.type", "ieim.stage", "ieim.attempt"}

    lines = "".join(log.read_text() for log in tmp_path.glob("*.log")).splitlines()
    of_call = [json.loads(line) for line in lines if '"model call' in line and turn["id"] in line]
    assert {line["trace_id"] for line in of_call} == {first.trace_id.hex()}
    sent = b"".join(body for _, body in collector.requests)
    secrets = (session["token"], link, link.strip("/").split("/")[-1], cookie.partition("=")[2])
    assert all(len(secret) > 10 for secret in secrets)
    for word in (CANARY, MAIL, "tourist", "visa", "127.0.0.1", f"{session['id']}/", *secrets):
        assert word.encode() not in sent, word
    assert str(UUID(session["id"])).encode() in sent, "what is looked for could be found"
    assert heads
    assert not any("traceparent" in head.lower() for head in heads)


def test_a_collector_that_never_answers_costs_a_line_and_no_turn(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        queue = {"OTEL_BSP_MAX_QUEUE_SIZE": "20", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "20"}
        with live.site(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=address, **QUICK, **queue) as site:
            session = post(site.base_url, "/api/v1/sessions/")
            for number in range(3):
                path = f"/api/v1/sessions/{session['id']}/turns/"
                turn = post(site.base_url, path, session["token"], text=f"{WORDS} {number}")
                assert ended(site.base_url, session, turn) == "answered"
            logs = [log.read_text() for log in tmp_path.glob("*.log")]
            about = [line for log in logs for line in log.splitlines() if "opentelemetry" in line]
            since = time.monotonic()
        assert time.monotonic() - since < live.STOP_SECONDS, "nor is it waited for at the end"
    assert "dropping Span" in "".join(about), "it was away, and spans came"
    assert len(about) <= 3 * len(logs)
    assert "Traceback" not in "".join(logs)


def test_without_an_endpoint_nothing_is_loaded(tmp_path: Path) -> None:
    # redis loads a part of the SDK by itself, wherever it is installed.
    ours = ("opentelemetry.exporter", "google.protobuf", "ieim.config.monitoring.tracing")
    code = f"import ieim.config.asgi, sys; print([name for name in {ours} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=live.ROOT,
        env={**live.base_environment(tmp_path), "OTEL_EXPORTER_OTLP_ENDPOINT": " "},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_doctor_sends_a_span(
    collector: RawServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doctor.traces().good
    assert "there are none" in doctor.traces().text
    settings.IEIM_TRACES = endpoint(collector)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", settings.IEIM_TRACES)
    monkeypatch.setenv("OTEL_SERVICE_NAME", "the-house")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    result = doctor.traces()
    assert result.good
    (span,) = Spans(collector)["doctor"]
    assert span.trace_id.hex() in result.text
    settings.IEIM_TRACES = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", settings.IEIM_TRACES)
    results = doctor.traces()
    assert not results.good
    assert "took no span. Check" in results.text
