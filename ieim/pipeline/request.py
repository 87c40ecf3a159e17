"""Building a model request: persona, directive, and the per-call JSON.

The persona is the first message of every call and byte-identical, the directive is second, the
per-call JSON last: a provider's prefix cache can hold the first two, and a citizen's or the index's
text appears in no system message.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from ieim.pipeline.canonical import dumps
from ieim.pipeline.contract import Contract
from ieim.pipeline.findings import Finding
from ieim.pipeline.ports import Message, ModelRequest
from ieim.pipeline.stages.base import HISTORY_ITEMS, Inputs

SHORT_HISTORY_ITEMS = 2
CANDIDATE_SLOTS = ("agencies", "KnowledgeBase_Dictionary", "service_index")


def build(
    contract: Contract,
    inputs: Inputs,
    *,
    request_id: str,
    temperature: float,
    max_output_tokens: int,
    previous: Sequence[Finding] = (),
) -> ModelRequest:
    """Return the request of ``inputs.context.attempt``.

    Attempt 2 is strictly smaller in bytes than attempt 1 of the same inputs and has temperature
    0.0; it carries the codes and pointers of ``previous``, as many as fit.
    """
    payload = _payload(contract, inputs, request_id)
    first = _request(contract, payload, contract.directive, temperature, max_output_tokens, 1)
    if inputs.context.attempt == 1:
        return first
    short = _shorten(contract, payload)
    findings = [{"code": f.code.value, "path": f.path} for f in previous]
    while True:
        short["previous_findings"] = findings
        second = _request(contract, short, contract.short_directive, 0.0, max_output_tokens, 2)
        if second.size < first.size or not findings:
            return second
        findings = findings[:-1]


def _payload(contract: Contract, inputs: Inputs, request_id: str) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "contract": contract.id,
        "attempt": 1,
        "user_prompt": inputs.text,
        "chat_context_summary": list(inputs.history)[-HISTORY_ITEMS:],
        **contract.stage.build_input(inputs),
    }
    if contract.stage.has_session:
        payload["cached_state"] = dict(inputs.context.cached_state)
        payload["request_id"] = request_id
    return payload


def _shorten(contract: Contract, payload: Mapping[str, Any]) -> dict[str, Any]:
    short = dict(payload)
    short["attempt"] = 2
    short["chat_context_summary"] = payload["chat_context_summary"][-SHORT_HISTORY_ITEMS:]
    for slot in CANDIDATE_SLOTS:
        if slot in short:
            short[slot] = _best_half(short[slot])
    if "cached_state" in short:
        kept = ("session_id", *contract.stage.reads)
        state = payload["cached_state"]
        short["cached_state"] = {name: state[name] for name in kept if name in state}
    return short


def _best_half(candidates: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Keep the better half by rank, of each agency its own: no agency loses all it has."""
    if not candidates or "rank" not in candidates[0]:
        return list(candidates)
    groups: dict[str, list[Mapping[str, Any]]] = {}
    alone = "serviceKey" not in candidates[0] and "key" not in candidates[0]
    for candidate in candidates:
        groups.setdefault("" if alone else candidate["agencyId"], []).append(candidate)
    kept: list[Mapping[str, Any]] = []
    for group in groups.values():
        ordered = sorted(group, key=lambda candidate: candidate["rank"])
        kept += ordered[: (len(ordered) + 1) // 2]
    return kept


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
        response_format=_response_format(contract, payload),
    )


def _response_format(contract: Contract, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with the runtime's own codes as enums: a help for the server only."""
    schema: dict[str, Any] = copy.deepcopy(dict(contract.schema))
    for where, codes in contract.stage.enums(payload).items():
        node = schema
        for part in where:
            node = node[part]
        if codes:
            node["enum"] = list(dict.fromkeys(codes))
    return schema
