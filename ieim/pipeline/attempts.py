"""The stages of one turn: at most two attempts each, within the budgets, judged by the gate.

Speculative calls: while a stage waits for its answer, the stages that follow its likeliest answer
are called already. Such a call is used only where the stage then makes the same request to the
byte, so that no decision depends on it; else it is discarded, and stored with its tokens. A call
that failed costs none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ieim.pipeline import budget
from ieim.pipeline import contract as contracts
from ieim.pipeline import request as requests
from ieim.pipeline.budget import Count, Spent
from ieim.pipeline.choosing import abstains
from ieim.pipeline.contract import Contract
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.gate import gate
from ieim.pipeline.knowledge import Release
from ieim.pipeline.message import risk
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.ports import Model, ModelAnswer, ModelRequest, ModelUnavailable, Query, Shortlist
from ieim.pipeline.reply import fallback, template
from ieim.pipeline.stages import triage
from ieim.pipeline.stages.base import MAX_ATTEMPTS, Context, Inputs, Stage
from ieim.pipeline.tasks import Executor, InlineExecutor, Steps, Task, TaskGroup
from ieim.pipeline.topology import CLASSIFY, STAGES, TRIAGE
from ieim.pipeline.work import AttemptRecord, Options, Output, Stopped, Store, Turn

Done = tuple[Output, Output]
"""The output and the state merge of a stage that passed."""

MAX_TRIES = 3
"""Calls for one attempt: a timeout, a reset, 429 or 5xx is tried again at most twice."""
SPECULATION_RESERVE = 10
"""No speculative call is made unless the budgets have room for so many of it: one that is discarded
must not be what stops the turn."""
LONGEST_PAUSE = 5.0
"""Seconds that a worker waits for the next try; a longer Retry-After parks the turn."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What runs the stages of turns over one release: a model, a search, and options.

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
    executor: Executor = field(default_factory=InlineExecutor)


@dataclass(frozen=True, slots=True)
class Call:
    """A call under way; ``future`` is its answer, ``started`` in seconds of the engine's clock."""

    request: ModelRequest
    count: Count
    started: float
    future: Future[Any]


class TurnStages:
    """Runs the stages of one turn in the calling thread. A stage that the store has is not called
    again. ``first`` is the context of the first stage, and of all triage; ``query`` is what is
    searched for."""

    def __init__(
        self, engine: Engine, turn: Turn, store: Store, first: Context, query: Query
    ) -> None:
        self._engine, self._options, self._query = engine, engine.options, query
        self._turn, self._store, self._first = turn, store, first
        self._tasks = TaskGroup(engine.executor)
        self._triage: dict[str, Task[Done | Stopped]] = {}
        self._running: dict[str, Call] = {}
        self._speculative: dict[str, Call] = {}

    def run(self, stage_id: str, context: Context) -> Done | Stopped:
        """Return the output and the state merge of a stage, or what stopped it.

        Raises :class:`ieim.pipeline.ports.ModelUnavailable` where no answer can be had.
        """
        return self._tasks.run(self._stage(stage_id, context))

    def start_classify(self) -> None:
        """Start classify beside the flow, once."""
        if CLASSIFY not in self._triage:
            self._triage[CLASSIFY] = self._tasks.start(self._classify())

    def start_triage(self) -> None:
        """Start what has not been started of triage beside the flow: a person will look."""
        self.start_classify()
        for stage in TRIAGE:
            self._start(stage.id)

    def run_triage(self) -> None:
        """Return when all of triage has ended, or cannot be had: who gets the turn sees the
        facts."""
        self.start_triage()
        self.finish()

    def _start(self, contract: str) -> Task[Done | Stopped]:
        if contract not in self._triage:
            self._triage[contract] = self._tasks.start(self._stage(contract, self._first))
        return self._triage[contract]

    def _classify(self) -> Steps[Done | Stopped]:
        result = yield from self._stage(CLASSIFY, self._first)
        output = None if isinstance(result, Stopped) else result[0]
        faint = all(sign.source == "faint" for sign in self.reread(output))
        if output is None or output["risk_flags"] or not faint:
            self.start_triage()  # each of the three opens an item
        return result

    def reread(self, output: Output | None) -> Sequence[Risk]:
        """Return the signs of danger once the model has said ``output``."""
        if not self._engine.model.reads:  # it is no second reader
            return self.risks
        return risk.reread(self.risks, output, self._engine.release)

    def finish(self, *, settle: float = 0.0) -> None:
        """Return when triage has ended; store the discarded calls.

        They are not waited for, but for ``settle`` seconds where they may fail like others did.
        """
        self._tasks.finish()
        if settle and self._pending():
            self._tasks.run(self._settled(settle))
        for call in self._speculative.values():
            self._discard(call)
        self._speculative.clear()

    def _pending(self) -> tuple[Future[Any], ...]:
        futures = (call.future for call in self._speculative.values())
        return tuple(future for future in futures if not future.done())

    def _settled(self, seconds: float) -> Steps[None]:
        """Wait until no speculative call is under way, for so many seconds at most."""
        over = self._engine.executor.submit(partial(self._engine.pause, seconds))
        while not over.done() and (pending := self._pending()):
            yield (over, *pending)

    def _discard(self, call: Call) -> None:
        """Store what a speculative call costs: the server's count, or the bound of its input where
        it may still be answered; nothing where it has failed."""
        answer = None
        if call.future.done():
            error = call.future.exception()
            if isinstance(error, ModelUnavailable):
                self._store.unanswered(call.request.contract, 1, error)
            if error is not None:
                return
            answer = call.future.result()
        seconds = self._engine.clock() - call.started
        self._store.discarded(call.request, answer, call.count, seconds)

    def classified(self) -> Output | None:
        """Return the output of classify once it has ended; None where it did not run or pass.

        Raises :class:`ieim.pipeline.ports.ModelUnavailable` where no answer could be had.
        """
        result = self._triage[CLASSIFY].result() if CLASSIFY in self._triage else None
        return None if result is None or isinstance(result, Stopped) else result[0]

    def require_triage(self) -> None:
        """Raise :class:`ieim.pipeline.ports.ModelUnavailable` where no answer could be had for one
        of the contracts of triage, once all have ended."""
        for task in self._triage.values():
            task.result()

    def entities(self) -> dict[str, str]:
        """Return the entities that triage has found in the message so far, by type."""
        done = self._store.done(template.EXTRACT)
        return template.entities_by_type(done[0] if done else None)

    def shown_text(self, last: str) -> str | None:
        """Return what is shown in place of the text of the ``last`` stage, None for its own."""
        return fallback.shown_text(self._store.result(last))

    @property
    def risks(self) -> Sequence[Risk]:
        """The signs of danger of the screen, and those that a model has seen so far."""
        return [*self._turn.risks, *self._store.signs()]

    def inputs(self, context: Context) -> Inputs:
        """Return what a stage builds its input from."""
        turn = self._turn
        return Inputs(
            text=context.seen,
            today=turn.today,
            history=turn.history,
            context=context,
            shortlist=self._engine.shortlist,
            limits=self._options.limits,
            query=self._query,
            runtime_directive=turn.runtime_directive,
            languages=(turn.language or self._options.written_in, self._options.written_in),
            contacts=self._options.contacts,
            again=turn.again,
        )

    def _stage(self, stage_id: str, context: Context) -> Steps[Done | Stopped]:
        stored = self._store.done(stage_id) or self._store.stopped(stage_id)
        if stored is not None:
            return stored
        contract = contracts.load(stage_id, self._options.persona)
        self._store.begin(stage_id)
        earlier = self._store.attempts(stage_id)
        until = self._engine.clock() + self._options.stage_deadline
        while True:
            used = self._store.used_response_ids()
            context = replace(context, attempt=len(earlier) + 1, used_response_ids=used)
            request = self._request(contract, context, earlier[-1] if earlier else ())
            count = self._count(contract, request)
            overruns = budget.before(count)
            if overruns:
                self._store.over_budget(stage_id, overruns, count)
                return Stopped(tuple(overruns))
            call = self._take_speculative(request)
            if call is None and self._running and budget.before(self._reserving(count)):
                # It fits only if the calls under way cost less than they may.
                yield tuple(running.future for running in self._running.values())
                continue
            self._running[stage_id] = call or self._call(request, count, until)
            try:
                if context.attempt == 1:
                    self._speculate(contract.stage, context)
                answer = yield from self._answer(stage_id, until)
            finally:
                call = self._running.pop(stage_id)
            if contract.stage.uses_entities(answer.raw):
                yield from self._start(template.EXTRACT).join()
                context = replace(context, entities=self.entities())
            record = self._judge(contract, context, call, answer)
            judgement = record.judgement
            abstained = abstains(contract.stage, judgement.output, judgement.findings)
            final = not record.is_done and (
                context.attempt >= MAX_ATTEMPTS or abstained or _is_refused(judgement.findings)
            )
            self._store.record(stage_id, record, final=final, abstained=abstained)
            if judgement.output is not None and judgement.state_merge is not None:
                return judgement.output, judgement.state_merge
            if final:
                return Stopped(judgement.findings, judgement.output if abstained else None)
            earlier = [*earlier, judgement.findings]

    def _answer(self, stage_id: str, until: float) -> Steps[ModelAnswer]:
        """Wait for the answer of a running call; call again where that may help, until the stage's
        deadline."""
        engine, number = self._engine, 0
        while True:
            number += 1
            call = self._running[stage_id]
            yield (call.future,)
            try:
                answer: ModelAnswer = call.future.result()
                return answer
            except ModelUnavailable as error:
                self._store.unanswered(stage_id, number, error)
                wait = max(engine.backoff(number), error.retry_after or 0.0)
                late = wait > LONGEST_PAUSE or engine.clock() + wait >= until
                if number == MAX_TRIES or not error.passing or late:
                    raise
            paused = engine.executor.submit(partial(engine.pause, wait))
            self._running[stage_id] = replace(call, future=paused)
            yield (paused,)
            again = self._call(call.request, call.count, until)
            self._running[stage_id] = replace(again, started=call.started)

    def _speculate(self, stage: Stage, context: Context) -> None:
        """Call the stages that follow the likeliest answers, as far as nothing is known of them and
        the budgets allow."""
        while self._options.speculative and (guess := stage.guess(self.inputs(context))):
            # The answer will have an id of its own; only how many there are counts.
            used = context.used_response_ids.union([stage.id] if stage.has_session else [])
            state = {**context.cached_state, **stage.state_slice(guess)}
            context = replace(context, cached_state=state, used_response_ids=used)
            stage = STAGES[stage.legal_next(guess, context) or ""]
            store = self._store
            stored = store.done(stage.id) or store.stopped(stage.id) or store.attempts(stage.id)
            if stored or stage.id in self._speculative:
                continue
            contract = contracts.load(stage.id, self._options.persona)
            request = self._request(contract, context, ())
            count = self._count(contract, request)
            reserve = SPECULATION_RESERVE * count.most
            if not budget.before(self._reserving(count, reserve)):
                until = self._engine.clock() + self._options.stage_deadline
                self._speculative[stage.id] = self._call(request, count, until)

    def _take_speculative(self, request: ModelRequest) -> Call | None:
        """Return the speculative call of exactly this request."""
        call = self._speculative.get(request.contract)
        if call is None or call.request != request:
            return None
        return self._speculative.pop(request.contract)

    def _call(self, request: ModelRequest, count: Count, until: float) -> Call:
        now = self._engine.clock()
        deadline = min(self._options.deadline, until - now)
        work = partial(self._engine.model.complete, request, deadline=deadline)
        return Call(request, count, now, self._engine.executor.submit(work))

    def _request(
        self, contract: Contract, context: Context, previous: Sequence[Finding]
    ) -> ModelRequest:
        limit = self._options.budget_of(contract.id).input
        per_byte = self._tokens_per_byte(contract)
        request = requests.build(
            contract,
            self.inputs(context),
            request_id=f"{self._turn.id[:8]}-{len(context.used_response_ids)}",
            temperature=self._options.of(contract.id, "temperature"),
            max_output_tokens=self._options.of(contract.id, "max_output_tokens"),
            max_input_bytes=None if limit is None else int(limit / per_byte),
            previous=previous,
        )
        return replace(request, turn=self._turn.id)

    def _tokens_per_byte(self, contract: Contract) -> float:
        return self._options.tokens_per_byte.get(contract.id, 1.0)

    def _count(self, contract: Contract, request: ModelRequest) -> Count:
        size = budget.bound(request)
        return Count(
            input=math.ceil(size * self._tokens_per_byte(contract)),
            input_bytes=size,
            output_limit=request.max_output_tokens,
            budget=self._options.budget_of(contract.id),
            spent=self._store.spent(),
        )

    def _reserving(self, count: Count, tokens: int = 0) -> Count:
        """Return ``count`` as if the calls under way had cost all that they may, and ``tokens``."""
        under_way = (*self._running.values(), *self._speculative.values())
        tokens += sum(call.count.most for call in under_way)
        spent = Spent(count.spent.session + tokens, count.spent.day + tokens)
        return replace(count, spent=spent)

    def _judge(
        self, contract: Contract, context: Context, call: Call, answer: ModelAnswer
    ) -> AttemptRecord:
        context = replace(context, request=json.loads(call.request.messages[-1].content))
        judgement = gate.judge(contract, answer, context)
        judgement = judgement.stopped_by(budget.after(call.count, answer))
        passed = judgement.output if judgement.passed else None
        judgement, result = fallback.settle(
            contract,
            judgement,
            context,
            risks=[sign for sign in self.reread(passed) if sign.source not in risk.OF_MODEL],
            key_patterns=self._options.key_patterns,
            own_words=self._options.own_words,
        )
        return AttemptRecord(
            number=context.attempt,
            contract=contract,
            request=call.request,
            answer=answer,
            judgement=judgement,
            seconds=self._engine.clock() - call.started,
            count=call.count,
            result=result,
            signs=triage.signs(answer.raw, context)
            if contract.id == CLASSIFY and not judgement.passed
            else (),
        )


def _is_refused(findings: Sequence[Finding]) -> bool:
    """Whether the model refused: asking again at temperature 0.0 would be the same question."""
    return any(finding.code is Code.MODEL_REFUSAL for finding in findings)
