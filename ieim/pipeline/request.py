"""Building a model request: persona, directive, and the per-call JSON.

The persona is the first message of every call and byte-identical, the directive is second, the
per-call JSON last: a provider's prefix cache can hold the first two, and a citizen's or the index's
text appears in no system message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ieim.pipeline.budget import bound
from ieim.pipeline.canonical import dumps
from ieim.pipeline.contract import Contract, load
from ieim.pipeline.findings import Finding
from ieim.pipeline.portable import portable
from ieim.pipeline.ports import WORDS, Message, ModelRequest
from ieim.pipeline.stages.base import HISTORY_ITEMS, Inputs

SHORT_HISTORY_ITEMS = 2
_NAMED = ("agencyId", "name")
CANDIDATE_SLOTS = ("agencies", "KnowledgeBase_Dictionary", "service_index")


def build(
    contract: Contract,
    inputs: Inputs,
    *,
    request_id: str,
    temperature: float,
    max_output_tokens: int,
    max_input_tokens: int | None = None,
    previous: Sequence[Finding] = (),
) -> ModelRequest:
    """Return the request of ``inputs.context.attempt``.

    Candidates are left out, the worst first, until the upper bound of its tokens is within
    ``max_input_tokens``; where that is not enough, the budget stops the call. Attempt 2 is
    strictly smaller in bytes than attempt 1 of the same inputs and has temperature 0.0; it carries
    the codes and pointers of ``previous``, as many as fit.
    """
    payload = _payload(contract, inputs, request_id)
    retrieval = _retrieval(payload, inputs.shortlist.embedder)
    first = _request(contract, payload, contract.directive, temperature, max_output_tokens, 1)
    while max_input_tokens is not None and bound(first) > max_input_tokens:
        fewer = _without_worst(payload, excess=bound(first) - max_input_tokens)
        if fewer is None:
            break
        payload = fewer
        first = _request(contract, payload, contract.directive, temperature, max_output_tokens, 1)
    if inputs.context.attempt == 1:
        return replace(first, retrieval=retrieval)
    short = _shorten(contract, payload)
    findings = [{"code": f.code.value, "path": f.path} for f in previous]
    while True:
        short["previous_findings"] = findings
        second = _request(contract, short, contract.short_directive, 0.0, max_output_tokens, 2)
        if second.size < first.size or not findings:
            return replace(second, retrieval=retrieval)
        findings = findings[:-1]


def _payload(contract: Contract, inputs: Inputs, request_id: str) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "contract": contract.id,
        "attempt": 1,
        "user_prompt": inputs.text,
        "chat_context_summary": list(inputs.history)[-HISTORY_ITEMS:],
        **contract.stage.build_input(inputs),
    }
    if inputs.history and any(slot in payload for slot in CANDIDATE_SLOTS):
        payload["new_subject"] = inputs.new_subject
        payload["goes_on"] = round(inputs.goes_on, 2)
    if contract.stage.has_session:
        payload["cached_state"] = _slices(contract, inputs.context.cached_state)
        payload["request_id"] = request_id
    return payload


def _retrieval(payload: Mapping[str, Any], embedder: str) -> str:
    candidates = [each for slot in CANDIDATE_SLOTS for each in payload.get(slot, ())]
    if not candidates:
        return ""
    return embedder if any("meaning" in each for each in candidates) else WORDS


def _shorten(contract: Contract, payload: Mapping[str, Any]) -> dict[str, Any]:
    short = dict(payload)
    short["attempt"] = 2
    short["chat_context_summary"] = payload["chat_context_summary"][-SHORT_HISTORY_ITEMS:]
    for slot in CANDIDATE_SLOTS:
        if slot in short:
            short[slot] = _best_half(short[slot])
    return short


def _slices(contract: Contract, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the stage reads of the state: the rest would be paid for and read by nobody."""
    kept = ("session_id", *contract.stage.reads)
    read = {name: state[name] for name in kept if name in state}
    found = read.get("agency_detect_v1")
    if isinstance(found, Mapping) and isinstance(found.get("agencyInfo"), list):
        # Which agency an id is: the rest of it is only copied into the answer that found it.
        named = [{name: info.get(name) for name in _NAMED} for info in found["agencyInfo"]]
        read["agency_detect_v1"] = {**found, "agencyInfo": named}
    return read


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
    spare.sort(key=lambda each: (-each[0], each[1]))
    dropped: list[Mapping[str, Any]] = []
    freed = 0
    for _, _, candidate in spare:
        if freed >= excess:
            break
        dropped.append(candidate)
        freed += len(dumps(candidate).encode()) + 1
    if not dropped:
        return None
    kept = {
        slot: [c for c in payload[slot] if not any(c is gone for gone in dropped)]
        for slot in CANDIDATE_SLOTS
        if slot in payload
    }
    return {**payload, **kept}


def _best_half(candidates: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Keep the better half by rank, of each agency its own: no agency loses all it has."""
    if not candidates or "rank" not in candidates[0]:
        return list(candidates)
    return [
        candidate for group in _groups(candidates) for candidate in group[: (len(group) + 1) // 2]
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


def _request(
    contract: Contract,
    payload: Mapping[str, Any],
    directive: str,
    temperature: float,
    max_output_tokens: int,
    attempt: int,
) -> ModelRequest:
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
        response_format=_portable(contract.id, _frozen(contract.stage.enums(payload))),
    )


Frozen = tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


def _frozen(codes: Mapping[tuple[str, ...], Sequence[str]]) -> Frozen:
    return tuple((where, tuple(names)) for where, names in codes.items())


@lru_cache(maxsize=64)
def _portable(contract_id: str, codes: Frozen) -> Mapping[str, Any]:
    """Return a contract's schema as it is sent: one object for all calls with the same codes."""
    return portable(load(contract_id).schema, dict(codes))
