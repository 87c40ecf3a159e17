"""What a run works on: the turn, what a deployment sets, and where results are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Protocol

from ieim.pipeline.budget import Budget, Count, Spent
from ieim.pipeline.contract import Contract
from ieim.pipeline.findings import Finding
from ieim.pipeline.gate.gate import Judgement
from ieim.pipeline.knowledge import Service, Situation
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.personal.keys import Patterns
from ieim.pipeline.ports import ModelAnswer, ModelRequest, ModelUnavailable
from ieim.pipeline.reply import reply
from ieim.pipeline.results import Result

Output = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """A citizen's message and what came before it.

    ``today`` is the day on which it was asked, where the administration is.
    ``history`` holds at most 20 items, oldest first: ``{"role": "user" | "assistant", "text"}``
    and, for an answer, ``"agency"`` and ``"service"``. ``risks`` are what the screen found.
    ``language`` (ISO 639-1) is the citizen's, empty for the one that the knowledge is written in.
    ``decided`` says that somebody, the citizen or staff, has had a hand in its stages: nobody is
    asked any more what the message means. ``in_danger`` says that an earlier message of danger
    waits for a person: nobody is asked to choose from a list either. ``again`` says that the
    citizen asks these words as something else than what they were answered with. ``chosen`` are the
    options that the citizen has chosen: services, each by agency and key, and a situation, by an
    empty agency and its code.
    """

    id: str
    session_id: str
    text: str
    today: date = field(kw_only=True)
    history: Sequence[Mapping[str, Any]] = ()
    risks: Sequence[Risk] = ()
    runtime_directive: str | None = None
    language: str = ""
    decided: bool = False
    in_danger: bool = False
    again: bool = False
    chosen: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """What a deployment sets.

    ``deadline`` is in seconds for one call, ``stage_deadline`` for all calls and pauses of a stage;
    ``limits`` count candidates, ``budget`` counts tokens. ``languages`` are the codes (ISO 639-1)
    that the deployment answers in, beside those of the release, ``written_in`` the one of its
    knowledge; ``key_patterns`` say what its own keys look like, by key type.
    """

    temperature: float = 0.2
    max_output_tokens: int = 2048
    deadline: float = 30.0
    stage_deadline: float = 75.0
    limits: Mapping[str, int] = field(
        default_factory=lambda: {"agencies": 6, "categories": 6, "services": 5}
    )
    budget: Budget = field(default_factory=Budget)
    languages: frozenset[str] = frozenset({"en"})
    written_in: str = "en"
    key_patterns: Patterns = field(default_factory=dict)
    tokens_per_byte: Mapping[str, float] = field(default_factory=dict)
    """By contract, of models whose server has counted enough; any other byte is a token."""
    persona: str = ""
    """What the administration says of the persona (:func:`ieim.pipeline.contract.load`)."""
    speculative: bool = False
    """Whether the likeliest next stages are called beside the present one."""
    own_words: bool = False
    """Whether a model's own words are shown where they pass every check."""
    contacts: Callable[[], str] = str
    """Returns how the administration is reached, and when, as paragraphs for the citizen."""
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Per contract: ``temperature``, ``max_output_tokens``, ``max_input_tokens``."""

    def of(self, contract_id: str, name: str) -> Any:
        """Return an option as it holds for one contract."""
        default = _OF_CONTRACTS.get((contract_id, name), getattr(self, name))
        return self.overrides.get(contract_id, {}).get(name, default)

    def budget_of(self, contract_id: str) -> Budget:
        """Return the token budget as it holds for one contract."""
        override = self.overrides.get(contract_id, {})
        return replace(self.budget, input=override.get("max_input_tokens", self.budget.input))


# An entry with the quotes that it rests on is longer than a decision.
_OF_CONTRACTS: Mapping[tuple[str, str], Any] = {("draft_entry_v1", "max_output_tokens"): 4096}

Key = tuple[str, str]
"""A service's agency and key."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A stage's answer as the citizen's choice makes it; ``result`` as in an attempt's record."""

    contract: str
    output: Output
    state_merge: Output
    result: Result | None = None


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One attempt as it is stored: what was asked, what was said, what the gate found.

    The ``judgement`` is the gate's and the budget's; ``result`` is what a triage answer that passed
    was made into, or what is shown in place of a free text; None for the other stages. ``signs``
    are the signs of danger that could be read of an answer of classify that did not pass.
    """

    number: int
    contract: Contract
    request: ModelRequest
    answer: ModelAnswer
    judgement: Judgement
    seconds: float
    count: Count
    result: Result | None = None
    signs: Sequence[Risk] = ()

    @property
    def is_done(self) -> bool:
        """Whether the stage needs no more asking: it passed, or is a fallback."""
        return self.judgement.state_merge is not None

    @property
    def is_fallback(self) -> bool:
        """Whether other words answer in place of a text that failed its checks twice."""
        return self.is_done and not self.judgement.passed


@dataclass(frozen=True, slots=True)
class Stopped:
    """A stage failed closed. ``output`` is the answer of one that abstained, which honestly does
    not know; None for any other."""

    findings: tuple[Finding, ...]
    output: Output | None = None

    @property
    def abstained(self) -> bool:
        """Whether the citizen may be asked instead of a person."""
        return self.output is not None


class Store(Protocol):
    """Where a turn's stages are kept; every call is durable when it returns.

    One thread uses it: stages that go on at once take turns.
    """

    def done(self, stage: str) -> tuple[Output, Output] | None:
        """Return ``(output, state_merge)`` of a stage that is done, or was decided."""
        ...

    def result(self, stage: str) -> Result | None:
        """Return the result of a stage that is done (:attr:`AttemptRecord.result`)."""
        ...

    def stopped(self, stage: str) -> Stopped | None:
        """Return what stopped a stage that has failed closed; None when it has not."""
        ...

    def choose(self, made: Sequence[Chosen], chosen: Sequence[Key], offered: Sequence[Key]) -> None:
        """Store the results that a citizen's choice in words makes of all stages."""
        ...

    def attempts(self, stage: str) -> Sequence[Sequence[Finding]]:
        """Return the findings of each attempt stored in the stage's present round; none where it
        has not begun."""
        ...

    def signs(self) -> Sequence[Risk]:
        """Return the signs of danger that a model has seen in the turn's message so far, also in
        answers that failed."""
        ...

    def used_response_ids(self) -> frozenset[str]:
        """Return every response_id that the session has seen."""
        ...

    def spent(self) -> Spent:
        """Return the tokens that the session and the day have used so far."""
        ...

    def begin(self, stage: str) -> None:
        """Note that the stage is being worked on."""
        ...

    def unanswered(self, stage: str, number: int, error: ModelUnavailable) -> None:
        """Note a call (the ``number``-th try of an attempt) to which no answer could be had."""
        ...

    def discarded(
        self, request: ModelRequest, answer: ModelAnswer | None, count: Count, seconds: float
    ) -> None:
        """Store a speculative call that was not used, whose tokens count; ``answer`` is None where
        none had come yet."""
        ...

    def record(self, stage: str, attempt: AttemptRecord, *, final: bool, abstained: bool) -> None:
        """Store an attempt; the stage is done, or with ``final`` it has failed closed.

        With ``abstained`` no person is called yet: the citizen may be asked first.
        """
        ...

    def over_budget(self, stage: str, findings: Sequence[Finding], count: Count) -> None:
        """Fail a stage closed whose next call would overrun a budget: it is not made."""
        ...


@dataclass(frozen=True, slots=True)
class Answered:
    """The turn has a reply that went through its gates."""

    reply: reply.Reply


@dataclass(frozen=True, slots=True)
class Held:
    """The turn has such a reply, and policy wants a person to see it first."""

    reply: reply.Reply
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class NeedsReview:
    """A stage of the flow failed closed."""

    stage: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Abstained:
    """A stage of the flow does not know, or the knowledge is not in the citizen's language, and
    nothing else holds the turn: the citizen can be asked.

    ``offered`` are two to four services of the release, best first. Of their language
    ``policy.language`` is among the ``findings``; ``stage`` is :data:`topology.REPLY` where every
    stage has passed. ``several`` says that more than one may be chosen. ``situations``
    that are near are offered behind the services.
    """

    stage: str
    findings: tuple[Finding, ...]
    offered: tuple[Service, ...]
    several: bool = False
    situations: tuple[Situation, ...] = ()


Outcome = Answered | Held | NeedsReview | Abstained
