"""Token budgets: estimated before a call from its bytes, and after it the server's own count.

Until a model's server has counted :data:`LEAST_COUNTED` calls the estimate is the number of UTF-8
bytes: a byte-level tokenizer never makes more tokens than bytes, and nothing has to be downloaded
to know it. From then on it is their share that the server has counted as tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ieim.pipeline.canonical import dumps
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.ports import ModelAnswer, ModelRequest

LEAST_COUNTED = 10
"""A server has to have counted so many calls of a model before its ratio is believed."""
PER_MESSAGE = 16
"""Tokens that a chat template puts around one message, at most."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits in tokens: the input of one call, all calls of a session, all calls of a day (UTC).

    None is no limit. What one call may put out is ``max_output_tokens``.
    """

    input: int | None = None
    session: int | None = None
    day: int | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens used so far, by the servers' count, or by the bound where a server gave none."""

    session: int = 0
    day: int = 0


@dataclass(frozen=True, slots=True)
class Count:
    """One call against its budgets: ``input`` is the estimate of what is sent, in tokens, and
    ``input_bytes`` its upper bound."""

    input: int
    output_limit: int
    budget: Budget
    spent: Spent
    input_bytes: int = 0

    @property
    def most(self) -> int:
        """The tokens that the call can cost."""
        return self.input + self.output_limit

    def as_dict(self) -> dict[str, int | None]:
        """Return the count as the audit keeps it."""
        return {
            "input_bound": self.input,
            "input_bytes": self.input_bytes,
            "input_limit": self.budget.input,
            "output_limit": self.output_limit,
            "session_spent": self.spent.session,
            "session_limit": self.budget.session,
            "day_spent": self.spent.day,
            "day_limit": self.budget.day,
        }


def tokens_per_byte(calls: Iterable[tuple[str, str, int, int]]) -> dict[str, float]:
    """Return by contract how many tokens a byte of its requests is at most, as the server of its
    model has counted; nothing for a contract whose model has counted too few calls.

    ``calls`` are contract, model, bytes and tokens of what was sent, the latest first: the model of
    a contract is the one that answered it last.
    """
    ratios: dict[str, list[float]] = {}
    models: dict[str, str] = {}
    for contract, model, size, tokens in calls:
        models.setdefault(contract, model)
        ratios.setdefault(model, []).append(tokens / size)
    counted = {c: ratios[m] for c, m in models.items() if len(ratios[m]) >= LEAST_COUNTED}
    return {contract: max(measured) for contract, measured in counted.items()}


def bound(request: ModelRequest) -> int:
    """Return an upper bound of the tokens that a request is, its response format included."""
    schema = dumps(request.response_format) if request.response_format is not None else ""
    return request.size + len(schema.encode()) + PER_MESSAGE * len(request.messages)


def before(count: Count) -> list[Finding]:
    """Return the overruns that a call would be; it may be made when there are none."""
    budget, spent = count.budget, count.spent
    call = count.most
    findings = []
    if budget.input is not None and count.input > budget.input:
        sentence = f"The question and its candidates are up to {count.input} tokens"
        findings.append(_over(Code.BUDGET_INPUT, sentence, budget.input))
    if budget.session is not None and spent.session + call > budget.session:
        sentence = f"The conversation has used {spent.session} tokens, and this call needs {call}"
        findings.append(_over(Code.BUDGET_SESSION, sentence, budget.session))
    if budget.day is not None and spent.day + call > budget.day:
        sentence = f"All conversations of the day have used {spent.day}, and this call needs {call}"
        findings.append(_over(Code.BUDGET_DAY, sentence, budget.day))
    return findings


def after(count: Count, answer: ModelAnswer) -> list[Finding]:
    """Return the overruns that the server's own count shows; none where it gave no count."""
    findings = []
    sent, received = answer.prompt_tokens, answer.completion_tokens
    if sent is not None and count.budget.input is not None and sent > count.budget.input:
        sentence = f"The server counted {sent} tokens of input"
        findings.append(_over(Code.BUDGET_INPUT, sentence, count.budget.input))
    if received is not None and received > count.output_limit:
        sentence = f"The server counted {received} tokens of output"
        findings.append(_over(Code.BUDGET_OUTPUT, sentence, count.output_limit))
    return findings


def _over(code: Code, sentence: str, limit: int) -> Finding:
    return Finding(code, "", f"{sentence}; the limit is {limit}.")
