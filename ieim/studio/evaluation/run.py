"""Asking the questions of cases: each through the real runner, with a store in memory."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

from conversations.selectors import HISTORY_CHARS
from conversations.turns import languages, running
from conversations.turns.services import REPLY
from ieim.knowledge import crisis
from ieim.pipeline.findings import Finding
from ieim.pipeline.knowledge import Release
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.ports import Model, ModelUnavailable, Shortlist
from ieim.pipeline.runner import Runner
from ieim.pipeline.stages.base import HISTORY_ITEMS, Context, Inputs
from ieim.pipeline.work import Abstained, Answered, Held, Options, Outcome, Turn
from ieim.search import index_for
from ieim.studio.evaluation.cases import INJECTION, Case, plain_question
from ieim.studio.evaluation.memory import MemoryStore
from ieim.studio.evaluation.outcomes import CaseResult, EndedAs, Tokens, Told

logger = logging.getLogger(__name__)

PATIENCE = 3
"""So many cases in a row without a model are an outage: the rest is not tried."""

_EXPECTED = "expected"
_OUTAGE = "the model could not be reached for the cases before it"


@dataclass(frozen=True, slots=True)
class Asked:
    """One turn that was asked: how it ended, and in ``store`` every attempt on the way.

    ``outcome`` is None where it could not be run; ``reason`` then says why, and ``unavailable``
    whether the model could not be reached.
    """

    store: MemoryStore
    outcome: Outcome | None = None
    unavailable: bool = False
    reason: str = ""


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

    def ask(self, text: str, history: Sequence[Mapping[str, str]]) -> Told:
        """Run one turn and return what came of it; never raises for what a model can do."""
        return _told(self.turn(text, history))

    def turn(
        self,
        text: str,
        history: Sequence[Mapping[str, str]] = (),
        store: MemoryStore | None = None,
    ) -> Asked:
        """Run one turn and return all of it; never raises for what a model can do."""
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
            # Nobody waits for a case: nothing is worth asking in vain.
            options=replace(self.options, ahead=False),
        )
        # The ids say nothing of the case: a model could learn from its id what is expected.
        turn = Turn(
            # As long as a real one: both are sent, and counted.
            id=str(UUID(int=0)),
            session_id=str(UUID(int=1)),
            text=text,
            history=_talk(history),
            risks=crisis.look_patiently(text, self.release.risk_examples).risks,
            runtime_directive=self.runtime_directive,
            language="" if language == languages.written_in() else language,
        )
        try:
            return Asked(store, runner.run(turn, store))
        except ModelUnavailable as error:
            return Asked(store, unavailable=True, reason=str(error))
        except Exception as error:  # An error of ours: it is one turn that was not run.
            logger.exception("a case could not be run")
            return Asked(store, reason=f"{type(error).__name__}: see the log")

    def candidates(self, case: Case) -> tuple[str, ...]:
        """Return the keys of the shortlist over the agencies that are right, best first."""
        if not case.expected.agencies:
            return ()
        inputs = Inputs(
            text=prepare(case.text).text,
            history=_talk(case.history),
            context=Context(1, case.text, {}, self.release),
            shortlist=self.shortlist,
            limits=self.options.limits,
        )
        ranked = self.shortlist.services(
            inputs.query,
            agencies=sorted(case.expected.agencies),
            limit=self.options.limits["services"],
        )
        return tuple(each.item.key for each in ranked)


def run_cases(
    cases: Sequence[Case],
    asker: Asker,
    *,
    among: Sequence[Case] | None = None,
    progress: Callable[[int], object] = lambda _done: None,
) -> list[CaseResult]:
    """Run every case, then the injected ones once more without what was injected.

    ``among`` (default: ``cases``) is where the text of an injected case is looked for;
    ``progress`` is called with 1 for each of the :func:`turns` that was asked.
    """
    line = _Line(asker, progress)
    told = [line.ask(case.text, case.history) for case in cases]
    known = {case.question: said for case, said in zip(cases, told, strict=True)}
    results = []
    for case, said in zip(cases, told, strict=True):
        found = plain_question(case, among or cases) if INJECTION in case.tags else None
        plain = None
        if found:
            question = (found[0], case.question[1])
            if question not in known:
                known[question] = line.ask(found[0], case.history)
            plain = known[question]
        if plain is not None and plain.outcome == "not_run":
            found = plain = None
        results.append(
            CaseResult(
                case=case,
                told=said,
                shortlist=asker.candidates(case) if said.candidates is None else (),
                plain=plain,
                compared=(found[1] if found else _EXPECTED) if INJECTION in case.tags else "",
            )
        )
    return results


def turns(cases: Sequence[Case], among: Sequence[Case] | None = None) -> int:
    """Return how many turns :func:`run_cases` asks."""
    known = {case.question for case in cases}
    extra = set()
    for case in cases:
        found = plain_question(case, among or cases) if INJECTION in case.tags else None
        if found and (question := (found[0], case.question[1])) not in known:
            extra.add(question)
    return len(cases) + len(extra)


class _Line:
    """The line to the model: given up when it is dead."""

    def __init__(self, asker: Asker, progress: Callable[[int], object]) -> None:
        self._asker = asker
        self._progress = progress
        self._silent = 0

    def ask(self, text: str, history: Sequence[Mapping[str, str]]) -> Told:
        if self._silent >= PATIENCE:
            return Told("not_run", unavailable=True, reason=_OUTAGE)
        told = self._asker.ask(text, history)
        self._silent = self._silent + 1 if told.unavailable else 0
        self._progress(1)
        return told


def language_of(text: str, history: Sequence[Mapping[str, str]], release: Release) -> str:
    """Return the likely language of a message, or of what the citizen said before it; or empty."""
    said = [text, *(item["text"] for item in reversed(history) if item["role"] == "user")]
    return next(filter(None, (languages.detect(each, release) for each in said)), "")


def _talk(history: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the history as a session gives it to the pipeline: its last items, each cut."""
    return [
        {**item, "text": prepare(item["text"]).text[:HISTORY_CHARS]}
        for item in history[-HISTORY_ITEMS:]
    ]


def _told(asked: Asked) -> Told:
    store, outcome = asked.store, asked.outcome
    if outcome is None:
        return Told("not_run", unavailable=asked.unavailable, reason=asked.reason)
    selection = store.said("service_select_v1").get("serviceSelection", {})
    judged = store.said("judgement_v1").get("judgements", {})
    detected = store.said("agency_detect_v1").get("judgements", {})
    analysis = store.said("semantic_analysis_v1").get("semanticAnalysis", {})
    agencies = tuple(detected.get("agencyDetected", ()))
    primary = analysis["primaryAgency"]["agencyId"] if analysis else "".join(agencies[:1])
    told = Told(
        "review",
        inquiry=judged.get("inquiry"),
        agencies=frozenset(agencies),
        service=(primary, selection["serviceKey"]) if selection else None,
        score=Decimal(selection["score"]) if selection else None,
        candidates=_candidates(store),
        tokens=_tokens(store),
    )
    if isinstance(outcome, Answered):
        cited = tuple((s.agency_id, s.service_key) for s in outcome.reply.sources)
        kind: EndedAs = "guidance" if outcome.reply.kind == "guidance" else "answered"
        return replace(told, outcome=kind, cited=cited, reply=outcome.reply)
    if isinstance(outcome, Abstained):
        offered = tuple((service.agency, service.key) for service in outcome.offered)
        told = replace(told, outcome="asked", offered=offered)
    stage = REPLY if isinstance(outcome, Held) else outcome.stage
    reason = outcome.findings[0].message if outcome.findings else ""
    return replace(told, stage=stage, codes=_codes(outcome.findings), reason=reason)


def _tokens(store: MemoryStore) -> Tokens:
    answers = [record.answer for records in store.records.values() for record in records]
    return Tokens(
        read=sum(answer.prompt_tokens or 0 for answer in answers),
        cached=sum(answer.cached_tokens or 0 for answer in answers),
        written=sum(answer.completion_tokens or 0 for answer in answers),
    )


def _codes(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(finding.code.value for finding in findings))


def _candidates(store: MemoryStore) -> tuple[str, ...] | None:
    """Return the keys that service_select_v1 chose from, best first; None when it was not asked."""
    for record in store.records.get("service_select_v1", ()):
        given = json.loads(record.request.messages[2].content)["service_index"]
        ordered = sorted(given, key=lambda slot: int(slot["rank"]))
        return tuple(str(slot["serviceKey"]) for slot in ordered)
    return None
