"""Building a model request: persona, directive, the per-call JSON, and the schema that is sent.

The persona is the first message of every call and byte-identical, the directive is second, the
per-call JSON last: a provider's prefix cache can hold the first two, and a citizen's or the index's
text appears in no system message.

Decoders that hold a model to a schema take different parts of JSON Schema and refuse the rest. What
is sent has only what all of them take: types, closed objects, lists, enums, references within the
schema, and the bounds of numbers and texts. Boolean schemas and least sizes are left out, and
conditions become a choice at the root, for those that take one there; the gate judges every answer
by the whole contract (docs/decisions/0026).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ieim.pipeline.budget import bound
from ieim.pipeline.canonical import dumps
from ieim.pipeline.contract import Contract, load
from ieim.pipeline.findings import Code, Finding, steps
from ieim.pipeline.knowledge import Situation
from ieim.pipeline.personal.redaction import explained
from ieim.pipeline.ports import WORDS, Message, ModelRequest
from ieim.pipeline.stages.base import HISTORY_ITEMS, NAMED, Inputs
from ieim.pipeline.stages.slots import in_brief
from ieim.pipeline.topology import CLASSIFY, FIRST

SHORT_HISTORY_ITEMS = 2
_NAMED = ("agencyId", "name")
_READ = ("agencyDetected", "complexity")
CANDIDATE_SLOTS = ("agencies", "KnowledgeBase_Dictionary", "service_index")

CHOICE: frozenset[Code] = frozenset(
    {Code.KNOWLEDGE_UNKNOWN, Code.SOURCES_UNKNOWN, Code.SCORE_MINIMUM, Code.ROUTE_SUBJECT}
)
"""Findings on what was chosen. Every other one is on how it was said, and to mend that a model
needs the candidates that it had."""

Codes = Mapping[tuple[str, ...], Sequence[str]]
"""Where in a schema the runtime's own codes go, as the steps of a path, references followed."""

_KEYWORDS = frozenset(
    {"type", "required", "additionalProperties", "minimum", "maximum", "maxLength"}
)
_TYPES: Mapping[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


def build(
    contract: Contract,
    inputs: Inputs,
    *,
    request_id: str,
    temperature: float,
    max_output_tokens: int,
    max_input_bytes: int | None = None,
    previous: Sequence[Finding] = (),
) -> ModelRequest:
    """Return the request of ``inputs.context.attempt``.

    ``cached_state`` is whole on attempt 1 where that is within ``max_input_bytes``, else, as on
    attempt 2, the slices that the stage reads. Then candidates are left out, the worst first, until
    it is within them; where that is not enough, the budget stops the call.

    Attempt 2 is strictly smaller in bytes than attempt 1 of the same inputs and has temperature
    0.0; it carries the codes and pointers of ``previous``, as many as fit. What it leaves out is
    what mending does not need: the prompt's further examples (the one that shows the form of an
    answer stands before them and stays), the history but for two items, and, where all that was
    found is on the choice (:data:`CHOICE`), the worse half of the candidates but for those that a
    finding names.
    """
    payload = _payload(contract, inputs, request_id)
    slots = {slot: in_brief(payload[slot]) for slot in CANDIDATE_SLOTS if slot in payload}
    payload |= slots
    by_meaning = any(slots.values()) and inputs.ranking.by_meaning
    retrieval = inputs.shortlist.embedder if by_meaning else WORDS if any(slots.values()) else ""
    first = of_payload(contract, payload, contract.directive, temperature, max_output_tokens, 1)
    if max_input_bytes is not None and bound(first) > max_input_bytes:
        payload = _with_slices(contract, payload)
        first = of_payload(contract, payload, contract.directive, temperature, max_output_tokens, 1)
    while max_input_bytes is not None and bound(first) > max_input_bytes:
        fewer = _without_worst(payload, excess=bound(first) - max_input_bytes)
        if fewer is None:
            break
        payload = fewer
        first = of_payload(contract, payload, contract.directive, temperature, max_output_tokens, 1)
    if inputs.context.attempt == 1:
        return replace(first, retrieval=retrieval)
    short = _shorten(_with_slices(contract, payload), previous)
    findings = [{"code": f.code.value, "path": f.path} for f in previous]
    while True:
        short["previous_findings"] = findings
        second = of_payload(contract, short, contract.short_directive, 0.0, max_output_tokens, 2)
        if second.size < first.size or not findings:
            return replace(second, retrieval=retrieval)
        findings = findings[:-1]


def _payload(contract: Contract, inputs: Inputs, request_id: str) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "contract": contract.id,
        "attempt": 1,
        "user_prompt": inputs.text,
        "chat_context_summary": list(inputs.history)[-HISTORY_ITEMS:],
        "today": inputs.today.isoformat(),
        **_where_there_is(inputs),
        **contract.stage.build_input(inputs),
    }
    if contract.stage.has_ranking:
        payload |= _ranking(inputs, has_situation=contract.id in _OF_EVENTS)
    if contract.stage.has_session:
        payload["cached_state"] = dict(inputs.context.cached_state)
        payload["request_id"] = request_id
    return payload


def _agrees(situation: Situation, inputs: Inputs) -> bool:
    """Whether a situation leads to the service that the search is sure of, if it is of any. What is
    said in a talk about a service goes on with that more often than it tells of an event."""
    ranking, release = inputs.ranking, inputs.context.release
    if inputs.query.about:
        return False
    first = [(r.item.agency, r.item.key) for r in ranking.services(limit=1)]
    return ranking.first < NAMED or bool({*first} & {*release.steps(situation)})


_OF_EVENTS = frozenset({FIRST, CLASSIFY})
"""The contracts that are told which situation is the nearest."""


def _ranking(inputs: Inputs, *, has_situation: bool) -> dict[str, Any]:
    """Return what the search makes of the message, as probabilities with two decimals: that of the
    nearest ``situation`` where that is asked for, which words alone do not tell, and the agencies
    of its requests where it has several of different ones."""
    kinds, ranking = inputs.kinds, inputs.ranking
    kind = max(kinds, key=lambda name: kinds[name])
    summary: dict[str, Any] = {
        "kind": kind,
        "kind_probability": round(kinds[kind], 2),
        "first": round(ranking.first, 2),
        "four": round(ranking.four, 2),
        "outside": round(ranking.outside, 2),
        "goes_on": ranking.goes_on,
    }
    best = (part.services(limit=1) for _, part in inputs.requests)
    agencies = list(dict.fromkeys(hit.item.agency for hits in best for hit in hits))
    for nearest in ranking.situations(limit=1) if ranking.by_meaning and has_situation else ():
        if _agrees(nearest.item, inputs):
            label, probability = nearest.item.code, round(nearest.probability, 2)
            summary["situation"] = {"label": label, "probability": probability}
    return {"ranking": summary | ({"requests": agencies} if len(agencies) > 1 else {})}


def _where_there_is(inputs: Inputs) -> dict[str, Any]:
    """Return what a call is told only where there is something to tell: what redaction put in, and
    what the administration wants of every step at the moment. That is no part of a system message,
    which would then be another one for as long as a notice stands, and in no provider's cache."""
    texts = [inputs.text, *(str(item["text"]) for item in inputs.history[-HISTORY_ITEMS:])]
    extras = {
        "redacted": explained("\n".join(texts)),
        "runtime_directive": inputs.runtime_directive,
    }
    return {name: value for name, value in extras.items() if value}


def _shorten(payload: Mapping[str, Any], previous: Sequence[Finding]) -> dict[str, Any]:
    short = dict(payload)
    short["attempt"] = 2
    short["chat_context_summary"] = payload["chat_context_summary"][-SHORT_HISTORY_ITEMS:]
    if all(finding.code in CHOICE for finding in previous):
        named = {step for finding in previous for step in steps(finding.path)}
        for slot in CANDIDATE_SLOTS:
            if slot in short:
                short[slot] = _best_half(short[slot], named)
    return short


def _with_slices(contract: Contract, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a payload with the parts of the state that the stage reads."""
    if not contract.stage.has_session:
        return dict(payload)
    state = payload["cached_state"]
    names = ("session_id", *contract.stage.reads)
    read = {name: state[name] for name in names if name in state}
    detected = read.get("agency_detect_v1")
    if isinstance(detected, Mapping) and isinstance(detected.get("agencyInfo"), list):
        # Which agency an id is: the rest of it is only copied into the answer that found it.
        named = [{name: info.get(name) for name in _NAMED} for info in detected["agencyInfo"]]
        selected = {name: detected[name] for name in _READ if name in detected}
        read["agency_detect_v1"] = {**selected, "agencyInfo": named}
    return {**payload, "cached_state": read}


def _without_worst(payload: Mapping[str, Any], *, excess: int) -> dict[str, Any] | None:
    """Leave out ranked candidates of at least ``excess`` bytes, as far as there are any.

    The worst ranks go first, whatever slot they are in; the best of each agency (and of the
    agencies) stays. None when there is nothing left to leave out.
    """
    spare = [
        (candidate["rank"], slot, candidate)
        for slot in CANDIDATE_SLOTS
        for group in _groups(payload.get(slot, ()))
        for candidate in group[1:]
    ]
    spare.sort(key=lambda entry: (-entry[0], entry[1]))
    dropped: list[Mapping[str, Any]] = []
    freed = 0
    for _, _, candidate in spare:
        if freed >= excess:
            break
        dropped.append(candidate)
        freed += len(dumps(candidate).encode()) + 1
    if not dropped:
        return None
    shortened = {
        slot: [c for c in payload[slot] if not any(c is worst for worst in dropped)]
        for slot in CANDIDATE_SLOTS
        if slot in payload
    }
    return {**payload, **shortened}


def _best_half(
    candidates: Sequence[Mapping[str, Any]], named: Collection[str]
) -> list[Mapping[str, Any]]:
    """Keep the better half by rank, of each agency its own (no agency loses all it has), and those
    whose id or key is among ``named``."""
    if not candidates or "rank" not in candidates[0]:
        return list(candidates)
    return [
        candidate
        for group in _groups(candidates)
        for index, candidate in enumerate(group)
        if index < (len(group) + 1) // 2
        or not {candidate.get("key"), candidate.get("serviceKey")}.isdisjoint(named)
    ]


def _groups(candidates: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Return ranked candidates best first, each agency's on their own; agencies make one group."""
    if not candidates or "rank" not in candidates[0]:
        return []
    groups: dict[str, list[Mapping[str, Any]]] = {}
    alone = "serviceKey" not in candidates[0] and "key" not in candidates[0]
    for candidate in candidates:
        groups.setdefault("" if alone else candidate.get("agencyId", ""), []).append(candidate)
    return [sorted(group, key=lambda candidate: candidate["rank"]) for group in groups.values()]


def of_payload(
    contract: Contract,
    payload: Mapping[str, Any],
    directive: str,
    temperature: float,
    max_output_tokens: int,
    attempt: int,
) -> ModelRequest:
    """Return the request whose per-call JSON is ``payload``."""
    return ModelRequest(
        contract=contract.id,
        attempt=attempt,
        messages=(
            Message("system", contract.persona),
            Message("system", directive),
            Message("user", dumps(payload)),
        ),
        temperature=temperature,
        max_output_tokens=max_output_tokens,
        response_format=_schema(contract.id, _codes(contract.stage.enums(payload))),
    )


def _codes(codes: Codes) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    return tuple((where, tuple(names)) for where, names in codes.items())


@lru_cache(maxsize=64)
def _schema(
    contract_id: str, codes: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
) -> Mapping[str, Any]:
    """Return a contract's schema as it is sent: one object for all calls with the same codes."""
    return portable(load(contract_id).schema, dict(codes))


def portable(schema: Mapping[str, Any], codes: Codes) -> dict[str, Any]:
    """Return ``schema`` as it is sent, with ``codes`` in it.

    For a text, codes are the permitted values; for an open map they are its keys, and the
    map becomes a closed object of which no key is required. Every answer that the whole gate lets
    through, over the same codes, is valid under it. An empty list of codes changes nothing.
    """
    body = _plain(schema, schema.get("$defs", {}))
    rules = schema.get("allOf", ())
    if rules:
        # Each rule's condition names one value; together they name all values that there are.
        body["anyOf"] = [_pinned(_pinned(body, rule["if"]), rule["then"]) for rule in rules]
    for where, names in codes.items():
        if names:
            _narrow(body, where, list(dict.fromkeys(names)))
    return body


def _plain(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _plain(defs[schema["$ref"].rpartition("/")[2]], defs)
    plain = {name: value for name, value in schema.items() if name in _KEYWORDS}
    if "const" in schema or "enum" in schema:
        values = [schema["const"]] if "const" in schema else list(schema["enum"])
        plain |= {"type": _TYPES[type(values[0])], "enum": values}
    if "properties" in schema:
        # A property that may be anything exists for the gate only; no server receives it.
        plain["properties"] = {
            name: _plain(child, defs)
            for name, child in schema["properties"].items()
            if not isinstance(child, bool)
        }
    if "items" in schema:
        plain["items"] = _plain(schema["items"], defs)
    if isinstance(schema.get("additionalProperties"), Mapping):
        plain["additionalProperties"] = _plain(schema["additionalProperties"], defs)
    return plain


def _pinned(node: Mapping[str, Any], to: Mapping[str, Any]) -> dict[str, Any]:
    pinned = dict(node) | {name: to[name] for name in ("type",) if name in to}
    if "const" in to:
        pinned |= {"type": _TYPES[type(to["const"])], "enum": [to["const"]]}
    if "properties" in to:
        constants = {
            name: _pinned(node["properties"][name], node_schema)
            for name, node_schema in to["properties"].items()
        }
        pinned["properties"] = {**node["properties"], **constants}
    return pinned


def _narrow(body: dict[str, Any], where: tuple[str, ...], names: Sequence[str]) -> None:
    node = body
    for step in where:
        node = node[step]
    child = node.get("additionalProperties")
    if not isinstance(child, Mapping):
        node["enum"] = list(names)
        return
    if "properties" in child:
        # Once in the schema, however many keys there are.
        body.setdefault("$defs", {})[where[-1]] = child
        child = {"$ref": f"#/$defs/{where[-1]}"}
    node |= {
        "properties": {name: dict(child) for name in names},
        "required": [],
        "additionalProperties": False,
    }
