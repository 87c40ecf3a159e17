"""Calls that find out what a model server supports, and the tables of the result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final

from ieim.llm import sample
from ieim.llm.capabilities import FORMATS, MAX_TOKENS, SETTINGS, Capabilities, Format, MaxTokens
from ieim.pipeline import contract as contracts
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.gate.gate import judge
from ieim.pipeline.ports import (
    REASONING,
    TOO_LONG,
    TOOL_CALL,
    Model,
    ModelAnswer,
    ModelUnavailable,
)
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
        Code.MODEL_CONTEXT_LENGTH,
        Code.JSON_SYNTAX,
        Code.JSON_NOT_OBJECT,
        Code.JSON_DUPLICATE_KEY,
        Code.JSON_NUMBER,
        Code.JSON_ENCODING,
        Code.JSON_TOO_DEEP,
        Code.SCHEMA,
    }
)
_THINKING = re.compile(
    r"</?(?:\w+:)?(?:think|thinking|thought|reasoning|reflection)>|\[/?THINK\]|[◁]/?think[▷]|"
    r"<\|(?:channel\|>\s*analysis|(?:START|END)_THINKING\|>)",
    re.IGNORECASE,
)
"""Marks that models write around their thinking."""
_USUAL_TURN = (
    *("judgement_v1", "agency_detect_v1", "category_select_v1", "service_select_v1"),
    *("classify", "extract", "identity_assist"),
)


@dataclass(frozen=True, slots=True)
class Call:
    """One call and its result; ``seconds`` are what it took.

    ``answer`` is None for a request that the server refused, and ``findings`` are the gate's.
    """

    seconds: float
    answer: ModelAnswer | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the server answered."""
        return self.answer is not None

    @property
    def in_shape(self) -> bool:
        """Whether the answer has the shape of the contract."""
        return self.accepted and not any(finding.code in _SHAPE for finding in self.findings)

    @property
    def codes(self) -> str:
        """The codes of the findings, each once."""
        return ", ".join(dict.fromkeys(finding.code.value for finding in self.findings))


Calls = Mapping[str, Call | ModelUnavailable]


@dataclass(slots=True)
class Prober:
    """Calls a server in one way and another.

    ``model`` makes the client for some capabilities; ``clock`` gives monotonic seconds;
    ``deadline`` is in seconds, for one call. Every method raises
    :class:`ieim.pipeline.ports.ModelUnavailable` when the server gives no answer at all.
    """

    model: Callable[[Capabilities], Model]
    clock: Callable[[], float]
    temperature: float
    max_output_tokens: int
    deadline: float
    _probes: dict[Capabilities, Call] = field(default_factory=dict)

    def call(self, contract: str, capabilities: Capabilities, *, at_most: int = 0) -> Call:
        """Send the request of one contract, with at most ``at_most`` tokens to answer."""
        limit = at_most or self.max_output_tokens
        request, context = sample.request_for(
            contract, temperature=self.temperature, max_output_tokens=limit
        )
        started = self.clock()
        try:
            answer = self.model(capabilities).complete(request, deadline=self.deadline)
        except ModelUnavailable as error:
            # Some servers fail at what they do not support, instead of saying so.
            if error.status not in (400, 422) and (error.status or 0) < 500:
                raise
            return Call(self.clock() - started)
        seconds = self.clock() - started
        return Call(seconds, answer, judge(contracts.load(contract), answer, context).findings)

    def probe(self, capabilities: Capabilities) -> Call:
        """Send the smallest contract, once for each set of capabilities."""
        if capabilities not in self._probes:
            self._probes[capabilities] = self.call(PROBE, capabilities)
        return self._probes[capabilities]

    def keeps_limit(self, capabilities: Capabilities) -> bool | None:
        """Whether the server keeps to a limit of a few tokens; None where it refuses one."""
        answer = self.call(PROBE, capabilities, at_most=FEW).answer
        if answer is None:
            return None
        tokens = answer.completion_tokens
        return answer.finish_reason == "length" or (tokens is not None and tokens <= FEW)

    def call_all(self, capabilities: Capabilities) -> Calls:
        """Send every contract once; a call without an answer is the error that it ended with."""
        calls: dict[str, Call | ModelUnavailable] = {}
        for contract in STAGES:
            try:
                calls[contract] = self.call(contract, capabilities)
            except ModelUnavailable as error:
                calls[contract] = error
        return calls


@dataclass(frozen=True, slots=True)
class Support:
    """What the server supports, and the ``best`` capabilities to set.

    ``formats`` are the calls by response format; ``limits`` map a field to whether its limit of
    tokens is honoured, None where the field is refused; the others are whether it is accepted.
    """

    best: Capabilities
    formats: dict[Format, Call]
    limits: dict[MaxTokens, bool | None]
    temperature: bool
    store: bool
    cache_key: bool

    @property
    def in_shape(self) -> bool:
        """Whether the answer to the best request has the shape of its contract."""
        return self.formats[self.best.response_format].in_shape


def examine(prober: Prober, configured: Capabilities) -> Support | None:
    """Return what the server supports; None when it accepts no request at all."""
    base = _accepted(prober, configured)
    if base is None:
        return None
    limits = {name: prober.keeps_limit(replace(base, max_tokens_field=name)) for name in MAX_TOKENS}
    honoured = {name for name, keeps in limits.items() if keeps}
    accepted = {name for name, keeps in limits.items() if keeps is not None}
    order = sorted(limits, key=lambda name: name != configured.max_tokens_field)
    field_name = next(
        (name for names in (honoured, accepted) for name in order if name in names), order[0]
    )
    base = replace(base, max_tokens_field=field_name)
    warm = prober.probe(replace(base, send_temperature=True)).accepted
    base = replace(base, send_temperature=configured.send_temperature and warm)
    store = prober.probe(replace(base, store=False)).accepted
    cache_key = prober.probe(replace(base, cache_key=True)).accepted
    formats = {name: prober.probe(replace(base, response_format=name)) for name in FORMATS}
    best = replace(
        base,
        response_format=_best_format(formats, configured.response_format),
        store=configured.store if store else None,
        cache_key=configured.cache_key and cache_key,
    )
    return Support(best, formats, limits, warm, store, cache_key)


def _accepted(prober: Prober, configured: Capabilities) -> Capabilities | None:
    """Return the first request that the server answers: as configured, then with less."""
    fields = sorted(MAX_TOKENS, key=lambda name: name != configured.max_tokens_field)
    formats = dict.fromkeys((configured.response_format, "none"))
    ways = [configured]
    for shape, name, warm in product(formats, fields, (configured.send_temperature, False)):
        ways.append(Capabilities(shape, max_tokens_field=name, send_temperature=warm))
    return next(
        (variant for variant in dict.fromkeys(ways) if prober.probe(variant).accepted), None
    )


def _best_format(formats: dict[Format, Call], configured: Format) -> Format:
    """Return the strictest format that keeps the shape; as configured where that does."""
    order = sorted(formats, key=lambda name: name != configured)
    good = [name for name in order if formats[name].in_shape]
    accepted = [name for name in order if formats[name].accepted]
    return (good or accepted or order)[0]


def server_table(support: Support) -> Iterator[str]:
    """Yield the lines of the table of what the server supports."""
    rows = [("what", "the server")]
    for form, call in support.formats.items():
        wrong = f"takes it, but the answer was no good: {call.codes}"
        accepted = "takes it" if call.in_shape else wrong
        rows.append((f"response format {form}", accepted if call.accepted else "refuses it"))
    for limit, honoured in support.limits.items():
        text = {None: "refuses it", False: "takes it, but does not hold to it", True: "takes it"}
        rows.append((limit, text[honoured]))
    for name, supported in (
        ("temperature", support.temperature),
        ("store: false", support.store),
        ("prompt_cache_key", support.cache_key),
    ):
        rows.append((name, "takes it" if supported else "refuses it"))
    return table(rows)


def contract_table(calls: Calls) -> Iterator[str]:
    """Yield the lines of the table of each contract's result, and the sum of a usual turn."""
    rows = [("contract", "in", "out", "cached", "seconds", "the answer")]
    for contract, call in calls.items():
        if isinstance(call, ModelUnavailable):
            rows.append((contract, "-", "-", "-", "-", str(call)))
        else:
            rows.append((contract, *_figures([call]), f"{call.seconds:.1f}", _result(call)))
    usual = [call for name in _USUAL_TURN if isinstance(call := calls[name], Call)]
    if len(usual) == len(_USUAL_TURN):
        seconds = sum(call.seconds for call in usual)
        note = "the seven calls of a usual turn"
        rows.append(("together", *_figures(usual), f"{seconds:.1f}", note))
    return table(rows)


def advice(support: Support, configured: Capabilities) -> list[str]:
    """Return what to set, a line each; none when the settings are the best ones."""
    lines = []
    for name, setting in SETTINGS.items():
        best: Any = getattr(support.best, name)
        if best != getattr(configured, name):
            value = str(best).lower() if isinstance(best, bool) else str(best or "")
            lines.append(f"Set IEIM_MODEL_{setting}={value}")
    return lines


def warnings(support: Support) -> list[str]:
    """Return what a person has to know and no setting changes."""
    lines = []
    if support.best.store:
        lines.append(
            "IEIM_MODEL_STORE is true: the provider is told to keep what citizens write. Prefix "
            "caching does not need it."
        )
    if not any(support.limits.values()):
        lines.append("No limit of tokens is held to: an answer may be as long as the model likes.")
    if not support.in_shape:
        lines.append(
            "In no response format did the answer have the shape of its contract: this model will "
            "send most questions to a person."
        )
        lines.extend(filter(None, [_why(support.formats[support.best.response_format].answer)]))
    return lines


def _why(answer: ModelAnswer | None) -> str:
    """Return why an answer has no shape and what to do, "" where that is not known."""
    if answer is None:
        return ""
    if answer.finish_reason == TOO_LONG:
        return (
            "The request is too long for the model's context: start its server with a longer one."
        )
    thinks = _THINKING.search(answer.raw) is not None
    if thinks or (answer.extra_output == REASONING and not answer.raw.strip()):
        where = "before its JSON" if thinks else "and its content is empty (reasoning_content)"
        return (
            f"The model thinks aloud {where}: its content has to be the JSON alone. Turn its "
            "thinking off at its server (enable_thinking=false in the chat template's arguments, "
            "a reasoning effort of none), choose a model that does not think, or set the reasoning "
            "parser that fits the model (--reasoning-parser of vLLM and SGLang, --reasoning-format "
            "of llama.cpp)."
        )
    if answer.extra_output == TOOL_CALL and not answer.raw.strip():
        return (
            "The model calls a tool instead of answering, and no tool was offered: turn tool calls "
            "off at its server (--enable-auto-tool-choice of vLLM), or choose another model."
        )
    return ""


def _result(call: Call) -> str:
    if not call.accepted:
        return "the server refuses the request, or fails at it"
    if not call.findings:
        return "passes the gate"
    return f"{'right' if call.in_shape else 'wrong'} shape; {call.codes}"


def _figures(calls: Sequence[Call]) -> tuple[str, str, str]:
    answers = [call.answer for call in calls if call.answer is not None]
    return (
        _sum([answer.prompt_tokens for answer in answers]),
        _sum([answer.completion_tokens for answer in answers]),
        _sum([answer.cached_tokens for answer in answers]),
    )


def _sum(counts: Sequence[int | None]) -> str:
    reported = [count for count in counts if count is not None]
    return f"{sum(reported):,}" if reported else "-"


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table; its first row says which columns are numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = {i for i, cell in enumerate(rows[0]) if cell in ("in", "out", "cached", "seconds")}
    for row in rows:
        cells = [
            cell.rjust(widths[i]) if i in numbers else cell.ljust(widths[i])
            for i, cell in enumerate(row)
        ]
        yield "  " + "   ".join(cells).rstrip()
