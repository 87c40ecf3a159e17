"""The runner: the only control flow of a turn.

Runs the stages of :mod:`ieim.pipeline.topology` one after the other, two attempts at most each,
stores everything as it happens, and stops at the first stage that fails closed. A stage that the
store knows as done is never asked again, so a second delivery of the same turn resumes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ieim.pipeline import contract as contracts
from ieim.pipeline import gate, reply, request
from ieim.pipeline.contract import Contract
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.gate import Judgement
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Model, ModelAnswer, ModelRequest, ModelUnavailable, Shortlist
from ieim.pipeline.screen import screen
from ieim.pipeline.stages.base import Context, Inputs, selected_category
from ieim.pipeline.stages.multi_agency_answer import cited_services
from ieim.pipeline.topology import FIRST, SESSION_END, STAGES

MAX_ATTEMPTS = 2
MAX_TRIES = 3
"""Calls for one attempt: a timeout, a reset, 429 or 5xx is tried again at most twice."""
LONGEST_PAUSE = 5.0
"""Seconds that a worker waits for the next try; a longer wish of the server's parks the turn."""
Output = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """A citizen's message and what came before it.

    ``history`` holds at most 20 items, oldest first: ``{"role": "user" | "assistant", "text"}``
    and, for an answer, ``"agency"`` and ``"service"``.
    """

    id: str
    session_id: str
    text: str
    history: Sequence[Mapping[str, Any]] = ()
    runtime_directive: str | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What a deployment sets.

    ``deadline`` is in seconds for one call, ``stage_deadline`` for all calls and pauses of a stage;
    ``limits`` count candidates.
    """

    temperature: float = 0.2
    max_output_tokens: int = 2048
    deadline: float = 30.0
    stage_deadline: float = 75.0
    limits: Mapping[str, int] = field(
        default_factory=lambda: {"agencies": 12, "categories": 40, "services": 12}
    )
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Per contract: ``temperature``, ``max_output_tokens``."""

    def of(self, contract_id: str, name: str) -> Any:
        """Return an option as it holds for one contract."""
        return self.overrides.get(contract_id, {}).get(name, getattr(self, name))


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One attempt as it is stored: what was asked, what was said, what the gate found."""

    number: int
    contract: Contract
    request: ModelRequest
    answer: ModelAnswer
    judgement: Judgement
    seconds: float


class Store(Protocol):
    """Where a turn's stages are kept; every call is durable when it returns."""

    def done(self, stage: str) -> tuple[Output, Output] | None:
        """Return ``(output, state_merge)`` of a stage that is passed, approved or overridden."""
        ...

    def attempts(self, stage: str) -> Sequence[Sequence[Finding]]:
        """Return the findings of each attempt stored in the stage's present round."""
        ...

    def used_response_ids(self) -> frozenset[str]:
        """Return every response_id that the session has seen."""
        ...

    def begin(self, stage: str) -> None:
        """Note that the stage is being worked on."""
        ...

    def unanswered(self, stage: str, number: int, error: ModelUnavailable) -> None:
        """Note a call (the ``number``-th try of an attempt) to which no answer could be had."""
        ...

    def record(self, stage: str, attempt: AttemptRecord, *, final: bool) -> None:
        """Store an attempt; it passed, or with ``final`` the stage has failed closed."""
        ...


@dataclass(frozen=True, slots=True)
class Answered:
    """The turn has a reply that went through its gates."""

    reply: reply.Reply


@dataclass(frozen=True, slots=True)
class NeedsReview:
    """A stage failed closed."""

    stage: str
    findings: tuple[Finding, ...]


Outcome = Answered | NeedsReview


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs turns over one release with one model.

    ``clock`` gives monotonic seconds; ``pause`` waits for some; ``backoff`` says how many before
    the second and the third try, jitter included.
    """

    model: Model
    shortlist: Shortlist
    release: Release
    clock: Callable[[], float]
    pause: Callable[[float], None]
    backoff: Callable[[int], float]
    options: Options = field(default_factory=Options)

    def run(self, turn: Turn, store: Store) -> Outcome:
        """Run or resume ``turn``.

        Raises :class:`ieim.pipeline.ports.ModelUnavailable` when the model cannot be reached;
        everything that was stored until then stays.
        """
        context = Context(
            attempt=1,
            user_prompt=turn.text,
            cached_state={"session_id": turn.session_id},
            release=self.release,
            labels={name: frozenset(codes) for name, codes in self.release.labels.items()},
        )
        outputs: dict[str, Output] = {}
        stage_id = FIRST
        while stage_id != SESSION_END:
            done = store.done(stage_id)
            if done is None:
                judgement = self._run_stage(stage_id, turn, context, store)
                if judgement.output is None or judgement.state_merge is None:
                    return NeedsReview(stage_id, judgement.findings)
                done = judgement.output, judgement.state_merge
            outputs[stage_id], merge = done
            context = replace(context, cached_state={**context.cached_state, **merge})
            following = STAGES[stage_id].legal_next(outputs[stage_id], context)
            if following is None:
                raise RuntimeError(f"{stage_id} passed without a legal next step")
            stage_id = following
        return Answered(compose(outputs, context))

    def _run_stage(self, stage_id: str, turn: Turn, context: Context, store: Store) -> Judgement:
        contract = contracts.load(stage_id)
        store.begin(stage_id)
        earlier = store.attempts(stage_id)
        until = self.clock() + self.options.stage_deadline
        while True:
            number = len(earlier) + 1
            context = replace(context, attempt=number, used_response_ids=store.used_response_ids())
            asked = self._request(contract, turn, context, earlier[-1] if earlier else ())
            started = self.clock()
            answer = self._answer(asked, store, until)
            record = AttemptRecord(
                number=number,
                contract=contract,
                request=asked,
                answer=answer,
                judgement=gate.judge(contract, answer, context),
                seconds=self.clock() - started,
            )
            judgement = record.judgement
            final = not judgement.passed and (
                number >= MAX_ATTEMPTS or any(is_refusal(f) for f in judgement.findings)
            )
            store.record(stage_id, record, final=final)
            if judgement.passed or final:
                return judgement
            earlier = [*earlier, judgement.findings]

    def _request(
        self, contract: Contract, turn: Turn, context: Context, previous: Sequence[Finding]
    ) -> ModelRequest:
        return request.build(
            contract,
            Inputs(
                text=screen(turn.text).text,
                history=turn.history,
                context=context,
                shortlist=self.shortlist,
                limits=self.options.limits,
                runtime_directive=turn.runtime_directive,
            ),
            request_id=f"{turn.id}/{contract.id}/{len(context.used_response_ids)}",
            temperature=self.options.of(contract.id, "temperature"),
            max_output_tokens=self.options.of(contract.id, "max_output_tokens"),
            previous=previous,
        )

    def _answer(self, asked: ModelRequest, store: Store, until: float) -> ModelAnswer:
        """Call the model, again where that may help, and not beyond ``until``."""
        number = 0
        while True:
            number += 1
            try:
                left = until - self.clock()
                return self.model.complete(asked, deadline=min(self.options.deadline, left))
            except ModelUnavailable as error:
                store.unanswered(asked.contract, number, error)
                wait = max(self.backoff(number), error.retry_after or 0.0)
                late = wait > LONGEST_PAUSE or self.clock() + wait >= until
                if number == MAX_TRIES or not error.passing or late:
                    raise
            self.pause(wait)


def is_refusal(finding: Finding) -> bool:
    """Whether asking again at temperature 0.0 would only be the same question."""
    return finding.code is Code.MODEL_REFUSAL


def compose(outputs: Mapping[str, Output], context: Context) -> reply.Reply:
    """Return the reply that the gated answers of all stages make up."""
    if "multi_agency_service_answer_v1" in outputs:
        output = outputs["multi_agency_service_answer_v1"]
        cited = cited_services(output, context)
        return reply.render_answer(output["assistantReply"], cited, context.release)
    if "service_select_v1" in outputs:
        output = outputs["service_select_v1"]
        agency_id = context.answering_agency or ""
        key = (agency_id, output["serviceSelection"]["serviceKey"])
        return reply.render_service(
            output["template"]["placeholders"],
            service=context.release.services[key],
            agency=context.release.agencies[agency_id],
            category_value=selected_category(context),
            entities=context.entities,
        )
    return reply.render_guidance(outputs["judgement_v1"]["assistantReply"])
