"""Calls that find out what a server takes, each a real one through the real client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final

from ieim.llm.capabilities import FORMATS, MAX_TOKENS, Capabilities, Format, MaxTokens
from ieim.llm.doctor import sample
from ieim.pipeline import contract as contracts
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.gate.gate import judge
from ieim.pipeline.ports import Model, ModelAnswer, ModelUnavailable
from ieim.pipeline.stages.base import Context
from ieim.pipeline.topology import STAGES

PROBE: Final = "judgement_v1"
"""The contract whose request is sent in several ways: the smallest."""

FEW: Final = 8
"""Tokens that no answer of a contract fits in."""

_SHAPE = frozenset(
    {
        Code.MODEL_REFUSAL,
        Code.MODEL_TRUNCATED,
        Code.MODEL_TOO_LARGE,
        Code.JSON_SYNTAX,
        Code.JSON_NOT_OBJECT,
        Code.JSON_DUPLICATE_KEY,
        Code.JSON_NUMBER,
        Code.JSON_ENCODING,
        Code.JSON_TOO_DEEP,
        Code.SCHEMA,
    }
)


@dataclass(frozen=True, slots=True)
class Call:
    """One call and what came of it; ``seconds`` are what it took.

    ``answer`` is None for a request that the server refused, and ``findings`` are the gate's.
    """

    seconds: float
    answer: ModelAnswer | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def taken(self) -> bool:
        """Whether the server answered."""
        return self.answer is not None

    @property
    def kept(self) -> bool:
        """Whether what was said has the shape of the contract."""
        return self.taken and not any(finding.code in _SHAPE for finding in self.findings)


@dataclass(slots=True)
class Asker:
    """Asks a server in one way and another.

    ``model`` makes the client for what a server takes; ``clock`` gives monotonic seconds;
    ``deadline`` is in seconds, for one call. Every method raises
    :class:`ieim.pipeline.ports.ModelUnavailable` when the server gives no answer at all.
    """

    model: Callable[[Capabilities], Model]
    clock: Callable[[], float]
    temperature: float
    max_output_tokens: int
    deadline: float
    _calls: dict[Capabilities, Call] = field(default_factory=dict)

    def contract(
        self, contract_id: str, takes: Capabilities, *, at_most: int | None = None
    ) -> Call:
        """Ask one contract, at most ``at_most`` tokens."""
        limit = at_most or self.max_output_tokens
        request, context = sample.asked(
            contract_id, temperature=self.temperature, max_output_tokens=limit
        )
        started = self.clock()
        try:
            answer = self.model(takes).complete(request, deadline=self.deadline)
        except ModelUnavailable as error:
            # Some servers fail at what they do not take, instead of saying so.
            if error.status not in (400, 422) and (error.status or 0) < 500:
                raise
            return Call(self.clock() - started)
        seconds = self.clock() - started
        return Call(seconds, answer, _judged(contract_id, answer, context))

    def probe(self, takes: Capabilities) -> Call:
        """Ask the smallest contract, once for each way of asking."""
        if takes not in self._calls:
            self._calls[takes] = self.contract(PROBE, takes)
        return self._calls[takes]

    def limited(self, takes: Capabilities) -> bool | None:
        """Whether the server holds to a limit of a few tokens; None where it takes none."""
        call = self.contract(PROBE, takes, at_most=FEW)
        if call.answer is None:
            return None
        said = call.answer.completion_tokens
        return call.answer.finish_reason == "length" or (said is not None and said <= FEW)


def _judged(contract_id: str, answer: ModelAnswer, context: Context) -> tuple[Finding, ...]:
    return judge(contracts.load(contract_id), answer, context).findings


@dataclass(frozen=True, slots=True)
class Found:
    """What the server takes, and which of it to set.

    ``formats`` are the calls by response format; ``limits`` say by the field's name whether a limit
    of tokens is held to, None where the field is refused; the others whether the field is taken.
    """

    best: Capabilities
    formats: dict[Format, Call]
    limits: dict[MaxTokens, bool | None]
    temperature: bool
    store: bool
    cache_key: bool


def find_out(asker: Asker, configured: Capabilities) -> Found | None:
    """Return what the server takes; None when it takes no way of asking at all."""
    base = _working(asker, configured)
    if base is None:
        return None
    limits = {name: asker.limited(replace(base, max_tokens_field=name)) for name in MAX_TOKENS}
    base = replace(base, max_tokens_field=_best_limit(limits, configured.max_tokens_field))
    warm = asker.probe(replace(base, send_temperature=True)).taken
    base = replace(base, send_temperature=configured.send_temperature and warm)
    store = asker.probe(replace(base, store=False)).taken
    cache_key = asker.probe(replace(base, cache_key=True)).taken
    formats = {name: asker.probe(replace(base, response_format=name)) for name in FORMATS}
    best = replace(
        base,
        response_format=_best_format(formats, configured.response_format),
        store=configured.store if store else None,
        cache_key=configured.cache_key and cache_key,
    )
    return Found(best, formats, limits, warm, store, cache_key)


def _working(asker: Asker, configured: Capabilities) -> Capabilities | None:
    """Return the first way of asking that the server answers: as configured, then with less."""
    fields = sorted(MAX_TOKENS, key=lambda name: name != configured.max_tokens_field)
    formats = dict.fromkeys((configured.response_format, "none"))
    ways = [configured]
    for shape, name, warm in product(formats, fields, (configured.send_temperature, False)):
        ways.append(
            Capabilities(response_format=shape, max_tokens_field=name, send_temperature=warm)
        )
    return next((way for way in dict.fromkeys(ways) if asker.probe(way).taken), None)


def _best_limit(limits: dict[MaxTokens, bool | None], configured: MaxTokens) -> MaxTokens:
    order = sorted(limits, key=lambda name: name != configured)
    held = [name for name in order if limits[name]]
    taken = [name for name in order if limits[name] is not None]
    return (held or taken or order)[0]


def _best_format(formats: dict[Format, Call], configured: Format) -> Format:
    """Return the strictest format that keeps the shape; as configured where that does."""
    order = sorted(formats, key=lambda name: name != configured)
    kept = [name for name in order if formats[name].kept]
    taken = [name for name in order if formats[name].taken]
    return (kept or taken or order)[0]


def ask_all(asker: Asker, takes: Capabilities) -> dict[str, Call | ModelUnavailable]:
    """Ask every contract once; a call without an answer is the error that it ended with."""
    calls: dict[str, Call | ModelUnavailable] = {}
    for contract_id in STAGES:
        try:
            calls[contract_id] = asker.contract(contract_id, takes)
        except ModelUnavailable as error:
            calls[contract_id] = error
    return calls
