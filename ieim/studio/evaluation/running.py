"""Run questions through the pipeline over a release or a draft. Nothing is stored."""

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
from ieim.administration import selectors as administration
from ieim.knowledge import crisis
from ieim.knowledge.notices import selectors as notices
from ieim.knowledge.vectors import prepared_shortlist
from ieim.pipeline import talk, work
from ieim.pipeline.budget import Count, Spent
from ieim.pipeline.findings import Finding, all_waivable
from ieim.pipeline.knowledge import Release
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.ports import Model, ModelUnavailable, Shortlist
from ieim.pipeline.results import Result
from ieim.pipeline.runner import Runner
from ieim.pipeline.stages.base import HISTORY_ITEMS, Context, Inputs
from ieim.pipeline.stages.slots import cut
from ieim.pipeline.topology import CLASSIFY, REPLY
from ieim.search import index_for
from ieim.studio.evaluation.cases import INJECTION, Case, plain_question
from ieim.studio.evaluation.outcomes import CaseResult, EndedAs, Tokens, TurnResult

logger = logging.getLogger(__name__)

History = Sequence[Mapping[str, str]]

PATIENCE = 3
"""Turns in a row without a model that count as an outage; the rest is not tried."""

_OUTCOMES_WITHOUT_SERVICE: Mapping[str, EndedAs] = {"guidance": "guidance", "outside": "outside"}
"""The outcome of a turn whose reply names no service, by the reply's kind."""
_NOT_TRIED = TurnResult(
    "not_run",
    unavailable=True,
    reason="the model could not be reached for the cases before it",
)


class MemoryStore(work.Store):
    """The runner's store of one turn without a session, and so without earlier turns.

    What it does not override is of no interest here: calls without an answer, and speculative ones.
    """

    def __init__(self) -> None:
        self.records: dict[str, list[work.AttemptRecord]] = {}
        self.chosen: dict[str, work.Chosen] = {}
        self.unasked: dict[str, Sequence[Finding]] = {}
        """The findings that stopped a stage before its next call, by stage."""

    def done(self, stage: str) -> tuple[work.Output, work.Output] | None:
        chosen = self.chosen.get(stage)
        return None if chosen is None else (chosen.output, chosen.state_merge)

    def choose(
        self, made: Sequence[work.Chosen], chosen: Sequence[work.Key], offered: Sequence[work.Key]
    ) -> None:
        self.chosen = {choice.contract: choice for choice in made}

    def result(self, stage: str) -> Result | None:
        records = self.records.get(stage, ())
        return records[-1].result if records and records[-1].is_done else None

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

    def record(
        self, stage: str, attempt: work.AttemptRecord, *, final: bool, abstained: bool
    ) -> None:
        self.records.setdefault(stage, []).append(attempt)

    def output(self, stage: str) -> Mapping[str, Any]:
        """Return the stage's output; empty where none counts.

        This is the answer that passed, or else the first one that a person could approve unchanged
        (all its findings are waivable): a choice with too low a score is still a choice.
        """
        if stage in self.chosen:
            return self.chosen[stage].output
        for record in sorted(self.records.get(stage, ()), key=lambda record: not record.is_done):
            judgement = record.judgement
            if judgement.output is not None and (
                record.is_done or all_waivable(judgement.findings)
            ):
                return judgement.output
        return {}

    def candidates(self) -> tuple[str, ...] | None:
        """Return the keys that service_select_v1 chose from, best first; None if not called."""
        records = self.records.get("service_select_v1")
        if not records:
            return None
        slots = json.loads(records[0].request.messages[2].content)["service_index"]
        return tuple(slot["serviceKey"] for slot in sorted(slots, key=lambda s: int(s["rank"])))


@dataclass(frozen=True, slots=True)
class QuestionRun:
    """One run of a question: the pipeline's outcome, and in ``store`` every attempt.

    ``release`` is in the question's ``language`` (ISO 639-1, may be empty) as far as there are
    translations. ``outcome`` is None where the question could not be run; ``reason`` then says why,
    and ``unavailable`` whether the model could not be reached.
    """

    release: Release
    language: str
    outcome: work.Outcome | None = None
    store: MemoryStore = field(default_factory=MemoryStore)
    unavailable: bool = False
    reason: str = ""

    def result(self) -> TurnResult:
        """Return the outputs of the stages and the outcome as one value."""
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
            candidates=store.candidates(),
            tokens=Tokens(
                read=sum(answer.prompt_tokens or 0 for answer in answers),
                cached=sum(answer.cached_tokens or 0 for answer in answers),
                written=sum(answer.completion_tokens or 0 for answer in answers),
            ),
        )
        if isinstance(outcome, work.Answered):
            return replace(
                result,
                outcome=_OUTCOMES_WITHOUT_SERVICE.get(outcome.reply.kind, "answered"),
                cited=tuple((s.agency_id, s.service_key) for s in outcome.reply.sources),
                reply=outcome.reply,
            )
        if isinstance(outcome, work.Abstained):
            offered = tuple((service.agency, service.key) for service in outcome.offered)
            result = replace(result, outcome="asked", offered=offered)
        findings = outcome.findings
        return replace(
            result,
            stage=REPLY if isinstance(outcome, work.Held) else outcome.stage,
            codes=tuple(dict.fromkeys(finding.code.value for finding in findings)),
            reason=findings[0].message if findings else "",
        )


class QuestionRunner:
    """Runs questions with one model over one release, as a deployment would.

    ``search`` returns the shortlist of a release in one language. ``runtime_directive`` is what the
    agencies want everybody to know at the moment.
    """

    def __init__(
        self,
        model: Model,
        release: Release,
        options: work.Options,
        *,
        search: Callable[[Release], Shortlist] = index_for,
        runtime_directive: str | None = None,
    ) -> None:
        self.model = model
        self.release = release
        # Nobody waits for a case: no speculative calls.
        self.options = replace(options, speculative=False)
        self.search = search
        self.shortlist = search(release)
        self.runtime_directive = runtime_directive

    @classmethod
    def of_site(cls, release: Release, model: Model | None = None) -> QuestionRunner:
        """Return a runner with this site's model, persona, notices and stored vectors."""
        return cls(
            model or running.current_model(),
            release,
            running.options(persona=administration.current().persona),
            search=prepared_shortlist,
            runtime_directive=notices.runtime_directive(
                release.original or release, timezone.now()
            ),
        )

    def run(
        self, text: str, history: History = (), risks: Sequence[Risk] | None = None
    ) -> QuestionRun:
        """Run one turn; never raises for what a model can do.

        Without ``risks`` the message is screened here, which trains with the release's examples of
        danger: in a web process pass them.
        """
        language = language_of(text, history, self.release)
        view = self.release.in_language(language)
        run = QuestionRun(view, language)
        runner = Runner(
            self.model,
            self.shortlist if view is self.release else self.search(view),
            view,
            clock=time.monotonic,
            pause=time.sleep,
            backoff=running.backoff,
            options=self.options,
        )
        if risks is None:
            risks = crisis.screen_fully(text, self.release.risk_examples).risks
        turn = work.Turn(
            # Not the case's id, from which a model could learn what is expected; as long as a real
            # id, because both are sent and counted.
            id=str(UUID(int=0)),
            session_id=str(UUID(int=1)),
            text=text,
            today=timezone.localdate(),
            history=_recent(history),
            risks=risks,
            runtime_directive=self.runtime_directive,
            language="" if language == languages.written_in() else language,
        )
        try:
            return replace(run, outcome=runner.run(turn, run.store))
        except ModelUnavailable as error:
            return replace(run, unavailable=True, reason=str(error))
        except Exception as error:  # An error of ours: it is one turn that was not run.
            logger.exception("a case could not be run")
            return replace(run, reason=f"{type(error).__name__}: see the log")

    def inputs(self, text: str, history: History = ()) -> Inputs:
        """Return what a stage would search with, for rankings beside those of a run."""
        redacted = prepare(text)
        items = _recent(history)
        reading = talk.read(redacted.text, items, self.shortlist, self.release)
        return Inputs(
            text=redacted.text,
            today=timezone.localdate(),
            history=items,
            context=Context(1, text, {}, self.release, redacted=redacted),
            shortlist=self.shortlist,
            limits=self.options.limits,
            query=reading.query,
        )

    def candidates(self, case: Case) -> tuple[str, ...]:
        """Return the keys of the shortlist over the expected agencies, best first."""
        if not case.expected.agencies:
            return ()
        ranked = self.inputs(case.text, case.history).ranking.services(
            agencies=case.expected.agencies, limit=self.options.limits["services"]
        )
        return tuple(match.item.key for match in ranked)


def language_of(text: str, history: History, release: Release) -> str:
    """Return the likely language of a message, or of the citizen's earlier ones; or empty."""
    texts = [text, *(item["text"] for item in reversed(history) if item["role"] == "user")]
    return next(filter(None, (languages.detect(text, release) for text in texts)), "")


def _recent(history: History) -> list[dict[str, str]]:
    """Return the history as a session gives it to the pipeline: its last items, each cut."""
    return [
        {**item, "text": cut(prepare(item["text"]).text, HISTORY_CHARS)}
        for item in history[-HISTORY_ITEMS:]
    ]


def run_cases(
    cases: Sequence[Case],
    runner: QuestionRunner,
    *,
    among: Sequence[Case] | None = None,
    progress: Callable[[int], object] = lambda _done: None,
) -> list[CaseResult]:
    """Run every case, then the injected ones again without the injected part.

    The plain text of an injected case is looked for ``among`` these cases (default: ``cases``).
    ``progress`` is called with 1 for each turn. After :data:`PATIENCE` turns in a row without a
    model the others are not run.
    """
    failures = 0

    def ask(text: str, history: History) -> TurnResult:
        nonlocal failures
        if failures >= PATIENCE:
            return _NOT_TRIED
        result = runner.run(text, history).result()
        failures = failures + 1 if result.unavailable else 0
        progress(1)
        return result

    turns = [ask(case.text, case.history) for case in cases]
    by_question = {case.question: turn for case, turn in zip(cases, turns, strict=True)}
    results = []
    for case, turn in zip(cases, turns, strict=True):
        plain, compared = None, ""
        if INJECTION in case.tags:
            compared = "expected"
            if match := plain_question(case, among or cases):
                question = match[0], case.question[1]
                if question not in by_question:
                    by_question[question] = ask(match[0], case.history)
                if by_question[question].outcome != "not_run":
                    plain, compared = by_question[question], match[1]
        shortlist = runner.candidates(case) if turn.candidates is None else ()
        results.append(CaseResult(case, turn, shortlist, plain, compared))
    return results
