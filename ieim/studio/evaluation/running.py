"""Runs questions through the real pipeline, with a store in memory."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils import timezone

from conversations.selectors import HISTORY_CHARS
from conversations.turns import languages, running
from ieim.knowledge import crisis
from ieim.pipeline import talk
from ieim.pipeline.budget import Count, Spent
from ieim.pipeline.findings import Finding, all_waivable
from ieim.pipeline.knowledge import Release
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.ports import Model, ModelAnswer, ModelRequest, ModelUnavailable, Shortlist
from ieim.pipeline.results import Result
from ieim.pipeline.runner import Runner
from ieim.pipeline.stages.base import HISTORY_ITEMS
from ieim.pipeline.stages.slots import cut
from ieim.pipeline.topology import CLASSIFY, REPLY
from ieim.pipeline.work import (
    Abstained,
    Answered,
    AttemptRecord,
    Chosen,
    Held,
    Key,
    Options,
    Outcome,
    Output,
    Stopped,
    Turn,
)
from ieim.search import index_for
from ieim.studio.evaluation.cases import INJECTION, Case, plain_question
from ieim.studio.evaluation.outcomes import CaseResult, EndedAs, Tokens, TurnResult

logger = logging.getLogger(__name__)

PATIENCE = 3
"""So many cases in a row without a model are an outage: the rest is not tried."""

_ENDED: Mapping[str, EndedAs] = {"guidance": "guidance", "outside": "outside"}
"""How a turn ended whose reply gives no service, by the reply's kind."""
_EXPECTED = "expected"
_OUTAGE = "the model could not be reached for the cases before it"
_NOT_TRIED = TurnResult("not_run", unavailable=True, reason=_OUTAGE)


class MemoryStore:
    """The runner's store of one turn without a session, and so without earlier turns."""

    def __init__(self) -> None:
        self.records: dict[str, list[AttemptRecord]] = {}
        self.chosen: dict[str, Chosen] = {}
        self.unasked: dict[str, Sequence[Finding]] = {}
        """The findings that stopped a stage before its next call, by stage."""

    def done(self, stage: str) -> tuple[Output, Output] | None:
        found = self.chosen.get(stage)
        return None if found is None else (found.output, found.state_merge)

    def choose(self, made: Sequence[Chosen], chosen: Sequence[Key], offered: Sequence[Key]) -> None:
        self.chosen = {each.contract: each for each in made}

    def result(self, stage: str) -> Result | None:
        records = self.records.get(stage, ())
        return records[-1].result if records and records[-1].is_done else None

    def stopped(self, stage: str) -> Stopped | None:
        return None

    def spent(self) -> Spent:
        return Spent()

    def over_budget(self, stage: str, findings: Sequence[Finding], count: Count) -> None:
        self.unasked[stage] = findings

    def attempts(self, stage: str) -> Sequence[Sequence[Finding]]:
        return [record.judgement.findings for record in self.records.get(stage, ())]

    def signs(self) -> Sequence[Risk]:
        return [sign for record in self.records.get(CLASSIFY, ()) for sign in record.signs]

    def used_response_ids(self) -> frozenset[str]:
        outputs = [r.judgement.output or {} for records in self.records.values() for r in records]
        return frozenset(o["response_id"] for o in outputs if isinstance(o.get("response_id"), str))

    def begin(self, stage: str) -> None:
        """Do nothing: only attempts are of interest here."""

    def unanswered(self, stage: str, number: int, error: ModelUnavailable) -> None:
        """Do nothing: a call without an answer is tried again, or the case is not run."""

    def discarded(
        self, request: ModelRequest, answer: ModelAnswer | None, count: Count, seconds: float
    ) -> None:
        """Do nothing: no speculative calls are made."""

    def record(self, stage: str, attempt: AttemptRecord, *, final: bool, abstained: bool) -> None:
        self.records.setdefault(stage, []).append(attempt)

    def output(self, stage: str) -> Mapping[str, Any]:
        """Return the stage's output, empty where none counts.

        That is the answer that passed; or else the first that a person could approve as it stands
        (all its findings are waivable): a choice with too low a score is still a choice.
        """
        if stage in self.chosen:
            return self.chosen[stage].output
        records = sorted(self.records.get(stage, ()), key=lambda each: not each.is_done)
        for record in records:
            judgement = record.judgement
            if judgement.output is not None and (
                record.is_done or all_waivable(judgement.findings)
            ):
                return judgement.output
        return {}


@dataclass(frozen=True, slots=True)
class Run:
    """One turn that was run: the pipeline's outcome, and in ``store`` every attempt on the way.

    ``outcome`` is None where it could not be run; ``reason`` then says why, and ``unavailable``
    whether the model could not be reached.
    """

    outcome: Outcome | None = None
    store: MemoryStore = field(default_factory=MemoryStore)
    unavailable: bool = False
    reason: str = ""

    def result(self) -> TurnResult:
        """Return the outputs of the stages and the end of the turn."""
        store, outcome = self.store, self.outcome
        if outcome is None:
            return TurnResult("not_run", unavailable=self.unavailable, reason=self.reason)
        selection = store.output("service_select_v1").get("serviceSelection", {})
        detected = store.output("agency_detect_v1").get("judgements", {})
        analysis = store.output("semantic_analysis_v1").get("semanticAnalysis", {})
        agencies = tuple(detected.get("agencyDetected", ()))
        primary = analysis["primaryAgency"]["agencyId"] if analysis else "".join(agencies[:1])
        answers = [record.answer for records in store.records.values() for record in records]
        result = TurnResult(
            "review",
            inquiry=store.output("judgement_v1").get("judgements", {}).get("inquiry"),
            agencies=frozenset(agencies),
            service=(primary, selection["serviceKey"]) if selection else None,
            score=Decimal(selection["score"]) if selection else None,
            candidates=_candidates(store),
            tokens=Tokens(
                read=sum(answer.prompt_tokens or 0 for answer in answers),
                cached=sum(answer.cached_tokens or 0 for answer in answers),
                written=sum(answer.completion_tokens or 0 for answer in answers),
            ),
        )
        if isinstance(outcome, Answered):
            return replace(
                result,
                outcome=_ENDED.get(outcome.reply.kind, "answered"),
                cited=tuple((s.agency_id, s.service_key) for s in outcome.reply.sources),
                reply=outcome.reply,
            )
        if isinstance(outcome, Abstained):
            offered = tuple((service.agency, service.key) for service in outcome.offered)
            result = replace(result, outcome="asked", offered=offered)
        findings = outcome.findings
        return replace(
            result,
            stage=REPLY if isinstance(outcome, Held) else outcome.stage,
            codes=tuple(dict.fromkeys(finding.code.value for finding in findings)),
            reason=findings[0].message if findings else "",
        )


def _candidates(store: MemoryStore) -> tuple[str, ...] | None:
    """Return the keys that service_select_v1 chose from, best first; None when it was not asked."""
    records = store.records.get("service_select_v1")
    if not records:
        return None
    given = json.loads(records[0].request.messages[2].content)["service_index"]
    return tuple(slot["serviceKey"] for slot in sorted(given, key=lambda slot: int(slot["rank"])))


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks questions of one model over one release, as a deployment would.

    ``runtime_directive`` is what the agencies want everybody to know at the moment; ``search``
    gives the shortlist of the release in another language.
    """

    model: Model
    release: Release
    shortlist: Shortlist
    options: Options
    runtime_directive: str | None = None
    search: Callable[[Release], Shortlist] = index_for

    def ask(self, text: str, history: Sequence[Mapping[str, str]] = ()) -> TurnResult:
        """Run one turn and return its result; never raises for what a model can do."""
        return self.run(text, history).result()

    def run(
        self,
        text: str,
        history: Sequence[Mapping[str, str]] = (),
        store: MemoryStore | None = None,
        risks: Sequence[Risk] | None = None,
    ) -> Run:
        """Run one turn and return all of it; never raises for what a model can do.

        Without ``risks`` the message is screened here, which trains with the release's examples of
        danger: in a web process give them.
        """
        store = store or MemoryStore()
        language = language_of(text, history, self.release)
        view = self.release.in_language(language)
        runner = Runner(
            self.model,
            self.shortlist if view is self.release else self.search(view),
            view,
            clock=time.monotonic,
            pause=time.sleep,
            backoff=running.backoff,
            # Nobody waits for a case: no speculative calls.
            options=replace(self.options, speculative=False),
        )
        # The ids say nothing of the case: a model could learn from its id what is expected.
        turn = Turn(
            # As long as a real one: both are sent, and counted.
            id=str(UUID(int=0)),
            session_id=str(UUID(int=1)),
            text=text,
            today=timezone.localdate(),
            history=_recent(history),
            risks=crisis.look_patiently(text, self.release.risk_examples).risks
            if risks is None
            else risks,
            runtime_directive=self.runtime_directive,
            language="" if language == languages.written_in() else language,
        )
        try:
            return Run(runner.run(turn, store), store)
        except ModelUnavailable as error:
            return Run(None, store, unavailable=True, reason=str(error))
        except Exception as error:  # An error of ours: it is one turn that was not run.
            logger.exception("a case could not be run")
            return Run(None, store, reason=f"{type(error).__name__}: see the log")

    def candidates(self, case: Case) -> tuple[str, ...]:
        """Return the keys of the shortlist over the agencies that are right, best first."""
        if not case.expected.agencies:
            return ()
        text, history = prepare(case.text).text, _recent(case.history)
        query = talk.read(text, history, self.shortlist, self.release).query
        ranked = self.shortlist.rank(query).services(
            agencies=case.expected.agencies, limit=self.options.limits["services"]
        )
        return tuple(each.item.key for each in ranked)


def language_of(text: str, history: Sequence[Mapping[str, str]], release: Release) -> str:
    """Return the likely language of a message, or of the citizen's earlier ones; or empty."""
    texts = [text, *(item["text"] for item in reversed(history) if item["role"] == "user")]
    return next(filter(None, (languages.detect(each, release) for each in texts)), "")


def _recent(history: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the history as a session gives it to the pipeline: its last items, each cut."""
    return [
        {**item, "text": cut(prepare(item["text"]).text, HISTORY_CHARS)}
        for item in history[-HISTORY_ITEMS:]
    ]


def run_cases(
    cases: Sequence[Case],
    asker: Asker,
    *,
    among: Sequence[Case] | None = None,
    progress: Callable[[int], object] = lambda _done: None,
) -> list[CaseResult]:
    """Run every case, then the injected ones once more without what was injected.

    ``among`` (default: ``cases``) is where the text of an injected case is looked for;
    ``progress`` is called with 1 for each of the :func:`turns`. After :data:`PATIENCE` turns in a
    row without a model the others are not run.
    """
    silent = 0

    def ask(text: str, history: Sequence[Mapping[str, str]]) -> TurnResult:
        nonlocal silent
        if silent >= PATIENCE:
            return _NOT_TRIED
        result = asker.ask(text, history)
        silent = silent + 1 if result.unavailable else 0
        progress(1)
        return result

    turns = [ask(case.text, case.history) for case in cases]
    by_question = dict(zip((case.question for case in cases), turns, strict=True))
    results = []
    for case, turn in zip(cases, turns, strict=True):
        plain, compared = None, ""
        if INJECTION in case.tags:
            compared = _EXPECTED
            if found := plain_question(case, among or cases):
                question = (found[0], case.question[1])
                if question not in by_question:
                    by_question[question] = ask(found[0], case.history)
                if by_question[question].outcome != "not_run":
                    plain, compared = by_question[question], found[1]
        shortlist = asker.candidates(case) if turn.candidates is None else ()
        results.append(CaseResult(case, turn, shortlist, plain, compared))
    return results


def turns(cases: Sequence[Case], among: Sequence[Case] | None = None) -> int:
    """Return how many turns :func:`run_cases` runs."""
    injected = [case for case in cases if INJECTION in case.tags]
    found = [(plain_question(case, among or cases), case.question[1]) for case in injected]
    plain = {(text[0], history) for text, history in found if text}
    return len(cases) + len(plain - {case.question for case in cases})
