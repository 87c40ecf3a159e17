"""Asking a model for a draft: at most two attempts within the budget, judged by the gate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ieim.pipeline import budget
from ieim.pipeline import contract as contracts
from ieim.pipeline.budget import Count, Spent
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.gate import gate
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Model
from ieim.pipeline.request import of_payload
from ieim.pipeline.stages.base import MAX_ATTEMPTS, Context, Output
from ieim.pipeline.work import Options


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft that passed, or None with the findings of the last attempt.

    Tokens are of all attempts: the server's own count, or their bound where it gave none.
    """

    output: Output | None
    findings: tuple[Finding, ...]
    attempts: int
    prompt_tokens: int
    completion_tokens: int


def draft(
    contract_id: str,
    payload: Mapping[str, Any],
    *,
    release: Release,
    model: Model,
    options: Options,
    day_spent: int,
    check: Callable[[Output], Iterable[Finding]],
) -> Drafted:
    """Return what ``model`` drafts of ``payload``, judged by its contract and then by ``check``.

    ``release`` has the names that are told apart; ``day_spent`` are the tokens of the day so far.

    Raises:
        ModelUnavailable: no answer could be had.
    """
    contract = contracts.load(contract_id, options.persona)
    limits = replace(options.budget_of(contract_id), session=None)
    result = Drafted(None, (), 0, 0, 0)
    for attempt in range(1, MAX_ATTEMPTS + 1):
        again = {"previous_findings": [{"code": f.code, "path": f.path} for f in result.findings]}
        body = {"contract": contract_id, "attempt": attempt, **payload}
        request = of_payload(
            contract,
            body if attempt == 1 else {**body, **again},
            contract.directive if attempt == 1 else contract.short_directive,
            options.of(contract_id, "temperature") if attempt == 1 else 0.0,
            options.of(contract_id, "max_output_tokens"),
            attempt,
        )
        size = budget.bound(request)
        spent = Spent(day=day_spent + result.prompt_tokens + result.completion_tokens)
        count = Count(size, request.max_output_tokens, limits, spent, size)
        if overruns := budget.before(count):
            return replace(result, findings=tuple(overruns))
        answer = model.complete(request, deadline=options.deadline)
        context = Context(attempt, "", {}, release, request=payload)
        judgement = gate.judge(contract, answer, context)
        judgement = judgement.stopped_by(budget.after(count, answer))
        if judgement.passed and judgement.output is not None:
            judgement = judgement.stopped_by(check(judgement.output))
        sent, received = answer.prompt_tokens, answer.completion_tokens
        result = Drafted(
            judgement.output if judgement.passed else None,
            judgement.findings,
            attempt,
            result.prompt_tokens + (size if sent is None else sent),
            result.completion_tokens + (count.output_limit if received is None else received),
        )
        refused = any(finding.code is Code.MODEL_REFUSAL for finding in result.findings)
        if result.output is not None or refused:
            break
    return result
