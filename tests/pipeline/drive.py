"""A scripted model and a store in memory: enough to drive the runner without a database."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ieim.pipeline.budget import Count, Spent
from ieim.pipeline.findings import Finding
from ieim.pipeline.knowledge import Release
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.ports import ModelAnswer, ModelRequest, ModelUnavailable, Shortlist
from ieim.pipeline.results import Result
from ieim.pipeline.runner import Runner
from ieim.pipeline.tasks import Executor, InlineExecutor
from ieim.pipeline.topology import ANSWERING
from ieim.pipeline.work import (
    AttemptRecord,
    Chosen,
    Key,
    Options,
    Outcome,
    Output,
    Stopped,
    Turn,
)
from tests.pipeline.build import RELEASE, SESSION, TEXT, TODAY, valid
from tests.pipeline.searching import FakeSearch


class ScriptedModel:
    """Gives the scripted answers of each contract in order, its right answer after them."""

    name = "scripted"
    reads = False

    def __init__(self, script: Mapping[str, Sequence[Any]] | None = None) -> None:
        self.script = {contract: list(answers) for contract, answers in (script or {}).items()}
        self.requests: list[ModelRequest] = []
        self.pauses: list[float] = []

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        self.requests.append(request)
        waiting = self.script.get(request.contract)
        answer = waiting.pop(0) if waiting else right_answer(request)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, ModelAnswer) else ModelAnswer(json.dumps(answer))

    @property
    def flow(self) -> list[ModelRequest]:
        """What the stages of the flow asked."""
        return [request for request in self.requests if request.contract in ANSWERING]

    def asked(self) -> list[tuple[str, int]]:
        """Return the contract and the attempt of each request of the flow."""
        return [(request.contract, request.attempt) for request in self.flow]

    def triaged(self) -> list[tuple[str, int]]:
        """Return the contract and the attempt of each request of triage."""
        results = [(request.contract, request.attempt) for request in self.requests]
        return [entry for entry in results if entry[0] not in ANSWERING]


def payload(request: ModelRequest) -> dict[str, Any]:
    """Return the per-call JSON."""
    read: dict[str, Any] = json.loads(request.messages[2].content)
    return read


def right_answer(request: ModelRequest) -> dict[str, Any]:
    """Return the valid answer for a request, with its own response_id and notes."""
    return mended(request.contract, payload(request), request.attempt)


def mended(contract: str, asked: Mapping[str, Any], attempt: int) -> dict[str, Any]:
    # As a model says it that was given placeholders.
    result = json.dumps(valid(contract))
    for segment in prepare(TEXT).segments:
        value = TEXT[segment.start : segment.end]
        result = result.replace(value, segment.placeholder)
        result = result.replace(value.replace("-", ""), segment.placeholder)
    answer: dict[str, Any] = json.loads(result)
    if "request_id" in asked:
        answer["response_id"] = asked["request_id"]
    if attempt == 2 and "telemetry" in answer:
        answer["telemetry"]["notes"] = "mended"
    return answer


class MemoryStore:
    """The runner's store as plain lists."""

    def __init__(self) -> None:
        self.records: list[tuple[str, AttemptRecord]] = []
        self.chosen: dict[str, tuple[Output, Output]] = {}
        self.failed: list[str] = []
        self.stops: dict[str, Stopped] = {}
        self.used = Spent()
        self.tries: list[tuple[str, int]] = []
        self.unused: list[tuple[str, ModelAnswer | None]] = []

    def choose(self, made: Sequence[Chosen], chosen: Sequence[Key], offered: Sequence[Key]) -> None:
        self.chosen = {entry.contract: (entry.output, entry.state_merge) for entry in made}
        self.results = {entry.contract: entry.result for entry in made}

    def done(self, stage: str) -> tuple[Output, Output] | None:
        if stage in self.chosen:
            return self.chosen[stage]
        for name, record in self.records:
            output, merge = record.judgement.output, record.judgement.state_merge
            if name == stage and output is not None and merge is not None:
                return output, merge
        return None

    def result(self, stage: str) -> Result | None:
        if stage in self.chosen:
            return self.results[stage]
        passed = [r for name, r in self.records if name == stage and r.is_done]
        return passed[-1].result if passed else None

    def stopped(self, stage: str) -> Stopped | None:
        return self.stops.get(stage)

    def spent(self) -> Spent:
        return self.used

    def over_budget(self, stage: str, findings: Sequence[Finding], count: Count) -> None:
        self.stops[stage] = Stopped(tuple(findings))

    def attempts(self, stage: str) -> Sequence[Sequence[Finding]]:
        return [record.judgement.findings for name, record in self.records if name == stage]

    def signs(self) -> Sequence[Risk]:
        return [sign for _, record in self.records for sign in record.signs]

    def used_response_ids(self) -> frozenset[str]:
        outputs = [record.judgement.output or {} for _, record in self.records]
        return frozenset(o["response_id"] for o in outputs if "response_id" in o)

    def begin(self, stage: str) -> None:
        pass

    def unanswered(self, stage: str, number: int, error: ModelUnavailable) -> None:
        self.tries.append((stage, number))

    def discarded(
        self, request: ModelRequest, answer: ModelAnswer | None, count: Count, seconds: float
    ) -> None:
        self.unused.append((request.contract, answer))

    def record(self, stage: str, attempt: AttemptRecord, *, final: bool, abstained: bool) -> None:
        self.records.append((stage, attempt))
        if final:
            self.failed.append(stage)
            output = attempt.judgement.output if abstained else None
            self.stops[stage] = Stopped(attempt.judgement.findings, output)


def run(
    model: ScriptedModel,
    store: MemoryStore | None = None,
    *,
    options: Options | None = None,
    shortlist: Shortlist | None = None,
    executor: Executor | None = None,
    release: Release = RELEASE,
    **turn: Any,
) -> tuple[Outcome, MemoryStore]:
    """Run one turn over the test release, or over another one."""
    store = store or MemoryStore()
    ticks = itertools.count()
    pauses: list[float] = model.pauses
    runner = Runner(
        model=model,
        shortlist=shortlist or FakeSearch(release),
        release=release,
        clock=lambda: float(next(ticks)),
        pause=pauses.append,
        backoff=float,
        options=options or Options(),
        executor=executor or InlineExecutor(),
    )
    message = Turn(**{"id": "t-1", "session_id": SESSION, "text": TEXT, "today": TODAY, **turn})
    return runner.run(message, store), store


def high_script() -> dict[str, list[Any]]:
    """Return the script that leads down the high branch."""
    detect = valid("agency_detect_v1")
    parks = RELEASE.agencies["parks"]
    detect["judgements"]["agencyDetected"].append("parks")
    detect["judgements"]["agencyInfo"].append(
        {
            "agencyId": parks.id,
            "name": parks.name,
            "path": parks.path,
            "description": parks.description,
        }
    )
    detect["judgements"].update(agencyCount=2, complexity="high")
    detect.update(nextStep="semantic_analysis_v1", response_id="h-1")
    select = valid("service_select_v1")
    select.update(nextStep="multi_agency_service_answer_v1", response_id="h-2")
    return {"agency_detect_v1": [detect], "service_select_v1": [select]}
