"""Token budgets: counted before a call by an upper bound, after it by the server's own count.

The bound is the number of UTF-8 bytes: a byte-level tokenizer never makes more tokens than bytes,
and nothing has to be downloaded to know it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ieim.pipeline.canonical import dumps
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.ports import ModelAnswer, ModelRequest

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
    """One call against its budgets: ``input`` is the bound of what is sent, in tokens."""

    input: int
    output_limit: int
    budget: Budget
    spent: Spent

    def as_dict(self) -> dict[str, int | None]:
        """Return the count as the audit keeps it."""
        return {
            "input_bound": self.input,
            "input_limit": self.budget.input,
            "output_limit": self.output_limit,
            "session_spent": self.spent.session,
            "session_limit": self.budget.session,
            "day_spent": self.spent.day,
            "day_limit": self.budget.day,
        }


def bound(request: ModelRequest) -> int:
    """Return an upper bound of the tokens that a request is, its response format included."""
    schema = dumps(request.response_format) if request.response_format is not None else ""
    return request.size + len(schema.encode()) + PER_MESSAGE * len(request.messages)


def before(count: Count) -> list[Finding]:
    """Return the overruns that a call would be; it may be made when there are none."""
    budget, spent = count.budget, count.spent
    call = count.input + count.output_limit
    found = []
    if budget.input is not None and count.input > budget.input:
        sentence = f"The question and its candidates are up to {count.input} tokens"
        found.append(_over(Code.BUDGET_INPUT, sentence, budget.input))
    if budget.session is not None and spent.session + call > budget.session:
        sentence = f"The conversation has used {spent.session} tokens, and this call needs {call}"
        found.append(_over(Code.BUDGET_SESSION, sentence, budget.session))
    if budget.day is not None and spent.day + call > budget.day:
        sentence = f"All conversations of the day have used {spent.day}, and this call needs {call}"
        found.append(_over(Code.BUDGET_DAY, sentence, budget.day))
    return found


def after(count: Count, answer: ModelAnswer) -> list[Finding]:
    """Return the overruns that the server's own count shows; none where it gave no count."""
    found = []
    sent, received = answer.prompt_tokens, answer.completion_tokens
    if sent is not None and count.budget.input is not None and sent > count.budget.input:
        sentence = f"The server counted {sent} tokens of input"
        found.append(_over(Code.BUDGET_INPUT, sentence, count.budget.input))
    if received is not None and received > count.output_limit:
        sentence = f"The server counted {received} tokens of output"
        found.append(_over(Code.BUDGET_OUTPUT, sentence, count.output_limit))
    return found


def _over(code: Code, sentence: str, limit: int) -> Finding:
    return Finding(code, "", f"{sentence}; the limit is {limit}.")
