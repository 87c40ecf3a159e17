"""Asking one stage: two attempts at most, each within its budgets, each judged by the gate."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ieim.pipeline import budget, request, results
from ieim.pipeline import contract as contracts
from ieim.pipeline.budget import Count, Spent
from ieim.pipeline.calls.ahead import Call, Calls, predicted
from ieim.pipeline.choosing import abstains
from ieim.pipeline.contract import Contract
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.gate import gate
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Model, ModelAnswer, ModelRequest, ModelUnavailable, Shortlist
from ieim.pipeline.reply import entities
from ieim.pipeline.reply.fallback import fallback_result
from ieim.pipeline.stages.base import MAX_ATTEMPTS, Context, Inputs
from ieim.pipeline.tasks import AtOnce, Beside, Steps
from ieim.pipeline.work import AttemptRecord, Options, Output, Stopped, Store, Turn

Done = tuple[Output, Output]

MAX_TRIES = 3
"""Calls for one attempt: a timeout, a reset, 429 or 5xx is tried again at most twice."""
ROOM = 10
"""Nothing is asked ahead where a budget has not room for so many calls more: what may have been
in vain must not be what stops the turn."""
LONGEST_PAUSE = 5.0
"""Seconds that a worker waits for the next try; a longer wish of the server's parks the turn."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks the stages of turns over one release of one model.

    ``clock`` gives monotonic seconds; ``pause`` waits for some; ``backoff`` says how many before
    the second and the third try, jitter included. ``beside`` is where the model is called.
    """

    model: Model
    shortlist: Shortlist
    release: Release
    clock: Callable[[], float]
    pause: Callable[[float], None]
    backoff: Callable[[int], float]
    options: Options = field(default_factory=Options)
    beside: Beside = field(default_factory=AtOnce)

    def stage(
        self, stage_id: str, turn: Turn, context: Context, store: Store, calls: Calls
    ) -> Steps[Done | Stopped]:
        """Return ``(output, state_merge)`` of a stage, asking for it where that is needed.

        Raises :class:`ieim.pipeline.ports.ModelUnavailable` when no answer can be had.
        """
        done = store.done(stage_id)
        if done is not None:
            return done
        stopped = store.stopped(stage_id)
        if stopped is not None:
            return stopped
        asked = yield from self._ask(contracts.load(stage_id), turn, context, store, calls)
        return asked

    def _ask(
        self, contract: Contract, turn: Turn, context: Context, store: Store, calls: Calls
    ) -> Steps[Done | Stopped]:
        store.begin(contract.id)
        earlier = store.attempts(contract.id)
        until = self.clock() + self.options.stage_deadline
        while True:
            number = len(earlier) + 1
            context = replace(context, attempt=number, used_response_ids=store.used_response_ids())
            asked = self._request(contract, turn, context, earlier[-1] if earlier else ())
            count = self._count(contract, asked, store)
            overruns = budget.before(count)
            if overruns:
                store.over_budget(contract.id, overruns, count)
                return Stopped(tuple(overruns))
            call = calls.take(asked)
            if call is None and calls.now and budget.before(_with(count, calls.reserved)):
                # It fits only if the calls under way cost less than they may.
                yield calls.pending
                continue
            call = call or self._call(asked, count, until)
            calls.now[contract.id] = call
            try:
                if number == 1:
                    self._look_ahead(contract, turn, context, store, calls)
                call, answer = yield from self._answer(call, store, calls, until)
            finally:
                del calls.now[contract.id]
            if contract.id == "service_select_v1" and entities.may_name(answer.raw):
                # Only a reply that repeats them waits for them.
                yield from calls.triage[entities.CONTRACT].wait()
                context = replace(context, entities=extracted(store))
            record = self._judged(contract, turn, context, call, answer)
            judgement = record.stands
            abstained = abstains(contract.stage, judgement.output, judgement.findings)
            final = not judgement.passed and (
                number >= MAX_ATTEMPTS
                or abstained
                or any(is_refusal(f) for f in judgement.findings)
            )
            store.record(contract.id, record, final=final, abstained=abstained)
            if judgement.output is not None and judgement.state_merge is not None:
                return judgement.output, judgement.state_merge
            if final:
                return Stopped(judgement.findings, judgement.output if abstained else None)
            earlier = [*earlier, judgement.findings]

    def _call(self, asked: ModelRequest, count: Count, until: float) -> Call:
        now = self.clock()
        deadline = min(self.options.deadline, until - now)
        work = partial(self.model.complete, asked, deadline=deadline)
        return Call(asked, count, now, self.beside.start(work))

    def _look_ahead(
        self, contract: Contract, turn: Turn, context: Context, store: Store, calls: Calls
    ) -> None:
        """Ask what most likely follows, as far as nothing is known of it and the budgets allow."""
        if not self.options.ahead:
            return
        for stage_id, then in predicted(contract.id, self._inputs(turn, context)):
            known = store.done(stage_id) or store.stopped(stage_id) or store.attempts(stage_id)
            if known or stage_id in calls.ahead:
                continue
            following = contracts.load(stage_id)
            asked = self._request(following, turn, then, ())
            count = self._count(following, asked, store)
            own = count.input + count.output_limit
            if not budget.before(_with(count, calls.reserved + ROOM * own)):
                until = self.clock() + self.options.stage_deadline
                calls.ahead[stage_id] = self._call(asked, count, until)

    def settle(self, store: Store, calls: Calls) -> None:
        """Note what was asked ahead and in vain. Nothing waits for an answer that no one needs."""
        for call in calls.ahead.values():
            ended = call.pending.done() and call.pending.exception() is None
            answer = call.pending.result() if ended else None
            store.unused(call.request, answer, call.count, self.clock() - call.started)
        calls.ahead.clear()

    def _judged(
        self,
        contract: Contract,
        turn: Turn,
        context: Context,
        call: Call,
        answer: ModelAnswer,
    ) -> AttemptRecord:
        asked, count = call.request, call.count
        context = replace(context, request=json.loads(asked.messages[-1].content))
        judgement = gate.judge(contract, answer, context)
        overruns = budget.after(count, answer)
        if overruns:
            judgement = judgement.stopped_by(overruns)
        return AttemptRecord(
            number=context.attempt,
            contract=contract,
            request=asked,
            answer=answer,
            judgement=judgement,
            seconds=self.clock() - call.started,
            count=count,
            result=results.build(
                contract.id, judgement, context, turn.risks, self.options.key_patterns
            ),
            instead=fallback_result(contract, judgement, context),
        )

    def _request(
        self, contract: Contract, turn: Turn, context: Context, previous: Sequence[Finding]
    ) -> ModelRequest:
        return request.build(
            contract,
            self._inputs(turn, context),
            request_id=f"{turn.id[:8]}-{len(context.used_response_ids)}",
            temperature=self.options.of(contract.id, "temperature"),
            max_output_tokens=self.options.of(contract.id, "max_output_tokens"),
            max_input_tokens=self.options.budget_of(contract.id).input,
            previous=previous,
        )

    def _inputs(self, turn: Turn, context: Context) -> Inputs:
        return Inputs(
            text=context.seen,
            history=turn.history,
            context=context,
            shortlist=self.shortlist,
            limits=self.options.limits,
            runtime_directive=turn.runtime_directive,
            languages=(turn.language or self.options.written_in, self.options.written_in),
            again=turn.again,
        )

    def _count(self, contract: Contract, asked: ModelRequest, store: Store) -> Count:
        return Count(
            input=budget.bound(asked),
            output_limit=asked.max_output_tokens,
            budget=self.options.budget_of(contract.id),
            spent=store.spent(),
        )

    def _answer(
        self, call: Call, store: Store, calls: Calls, until: float
    ) -> Steps[tuple[Call, ModelAnswer]]:
        """Wait for the model, call it again where that may help, and not beyond ``until``."""
        contract, number = call.request.contract, 0
        while True:
            number += 1
            yield (call.pending,)
            try:
                return call, call.pending.result()
            except ModelUnavailable as error:
                store.unanswered(contract, number, error)
                wait = max(self.backoff(number), error.retry_after or 0.0)
                late = wait > LONGEST_PAUSE or self.clock() + wait >= until
                if number == MAX_TRIES or not error.passing or late:
                    raise
            paused = self.beside.start(partial(self.pause, wait))
            calls.now[contract] = replace(call, pending=paused)
            yield (paused,)
            again = self._call(call.request, call.count, until)
            calls.now[contract] = call = replace(again, started=call.started)


def extracted(store: Store) -> dict[str, str]:
    """Return the entities that triage has found in a turn's message, by type."""
    done = store.done(entities.CONTRACT)
    return entities.by_type(done[0] if done else None)


def _with(count: Count, reserved: int) -> Count:
    """Return ``count`` as if calls under way had cost all that they may."""
    spent = count.spent
    spent = Spent(spent.session + reserved, spent.day + reserved)
    return replace(count, spent=spent)


def is_refusal(finding: Finding) -> bool:
    """Whether asking again at temperature 0.0 would only be the same question."""
    return finding.code is Code.MODEL_REFUSAL
