"""Results: what triage answers become once they passed the gate.

A model says labels with quotes; what is stored says labels with offsets, what a deterministic rule
added, and whether a key holds. Each result validates against a schema of its own, beside this file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from ieim.pipeline import evidence
from ieim.pipeline.contract import Validator
from ieim.pipeline.findings import pointer
from ieim.pipeline.gate.gate import (
    SOURCE,
    Evidence,
    EvidenceDict,
    Judgement,
    schema_findings,
)
from ieim.pipeline.knowledge import Label
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.personal.keys import Patterns, validate
from ieim.pipeline.stages.base import Context

Result = dict[str, Any]
Span = dict[str, Any]
MODEL = "model"
RULE = "rule"


def build(
    contract_id: str,
    judgement: Judgement,
    context: Context,
    risks: Sequence[Risk],
    key_patterns: Patterns,
) -> Result | None:
    """Return the result of a triage answer that passed; None for anything else.

    ``risks`` are what the screen found: a model may add a flag to them, never take one away.
    ``key_patterns`` are the deployment's own, by key type.
    """
    if not judgement.passed or judgement.output is None:
        return None
    output, spans = judgement.output, _spans_by_element(judgement.evidence)
    result: Result
    match contract_id:
        case "classify":
            result = _classify(output, spans, context, risks)
        case "extract":
            result = _extract(output, spans)
        case "identity_assist":
            result = _identity(output, spans, context, key_patterns)
        case _:
            return None
    wrong = list(schema_findings(schema(contract_id), result, limit=1))
    if wrong:
        raise RuntimeError(f"the result of {contract_id} breaks its own schema: {wrong[0]}")
    return result


@cache
def schema(contract_id: str) -> Draft202012Validator:
    """Return the compiled schema of a contract's result."""
    path = Path(__file__).parent / "contracts" / "results" / f"{contract_id}.schema.json"
    return Validator(json.loads(path.read_text(encoding="utf-8")))


Spans = Mapping[str, list[Span]]


def _spans_by_element(located: Iterable[Evidence]) -> Spans:
    """Return the spans of each element of the answer, by the element's JSON Pointer."""
    found: dict[str, list[Span]] = {}
    for each in located:
        element = each.path.partition("/evidence_snippets")[0]
        found.setdefault(element, []).append(_span(each.as_dict()))
    return found


def _span(found: EvidenceDict) -> Span:
    return {name: value for name, value in found.items() if name != "path"}


def _classify(
    output: Mapping[str, Any], spans: Spans, context: Context, risks: Sequence[Risk]
) -> Result:
    labels = context.release.labels
    flags, disputed_flags = _flags(output["risk_flags"], spans, context, risks)
    urgency = _label(output["urgency"], spans["/urgency"])
    ruled, disputed_urgency = _urgency(urgency, context, risks, labels.get("urgencies", {}))
    return {
        "intents": [
            _label(element, spans[pointer("intents", i)])
            for i, element in enumerate(output["intents"])
        ],
        "primary_intent": output["primary_intent"],
        "product_line": _label(output["product_line"], spans["/product_line"]),
        "urgency": ruled,
        "risk_flags": flags,
        "disagreements": [*disputed_flags, *disputed_urgency],
    }


def _label(element: Mapping[str, Any], spans: list[Span]) -> Result:
    return {
        "label": element["label"],
        "confidence": element["confidence"],
        "source": MODEL,
        "spans": spans,
    }


def _flags(
    said: Sequence[Mapping[str, Any]], spans: Spans, context: Context, risks: Sequence[Risk]
) -> tuple[list[Result], list[Result]]:
    """Return the flags of rules and model together, and what the model did not see."""
    by_model = {
        element["label"]: _label(element, spans[pointer("risk_flags", i)])
        for i, element in enumerate(said)
    }
    labels = context.release.labels.get("risk_flags", {})
    flags, disputed = [], []
    for risk in risks:
        seen = by_model.pop(risk.code, None)
        ruled = [_risk_span(risk, context.user_prompt)]
        flags.append(
            {
                "label": risk.code,
                "confidence": seen["confidence"] if seen else None,
                "source": risk.source,
                "spans": ruled + (seen["spans"] if seen else []),
            }
        )
        if seen is None and (risk.code not in labels or labels[risk.code].holds):
            disputed.append({"label_set": "risk_flags", "rule": risk.code, "model": None})
    return flags + list(by_model.values()), disputed


def _urgency(
    said: Result, context: Context, risks: Sequence[Risk], urgencies: Mapping[str, Label]
) -> tuple[Result, list[Result]]:
    """Return the urgency: the highest there is for a crisis that a rule found."""
    labels = context.release.labels.get("risk_flags", {})
    crises = [r for r in risks if r.code in labels and labels[r.code].escalates]
    timed = [label for label in urgencies.values() if label.effect]
    if not crises or not timed:
        return said, []
    highest = min(timed, key=lambda label: int(label.effect)).code
    if said["label"] == highest:
        return said, []
    spans = [_risk_span(risk, context.user_prompt) for risk in crises]
    ruled = {"label": highest, "confidence": None, "source": RULE, "spans": spans}
    return ruled, [{"label_set": "urgencies", "rule": highest, "model": said["label"]}]


def _risk_span(risk: Risk, text: str) -> Span:
    quote = text[risk.start : risk.end]
    found = evidence.locate(text, quote)
    return {
        "source": SOURCE,
        "start": risk.start,
        "end": risk.end,
        "quote": quote,
        "snippet_sha256": evidence.snippet_sha256(text, evidence.Span(risk.start, risk.end, 1)),
        "occurrences": found.occurrences if found else 1,
    }


def _extract(output: Mapping[str, Any], spans: Spans) -> Result:
    return {
        "entities": [
            {
                "entity_type": entity["entity_type"],
                "value_redacted": entity["value_redacted"],
                "confidence": entity["confidence"],
                "spans": spans[pointer("entities", i)],
            }
            for i, entity in enumerate(output["entities"])
        ]
    }


def _identity(
    output: Mapping[str, Any], spans: Spans, context: Context, key_patterns: Patterns
) -> Result:
    found = []
    for i, key in enumerate(output["keys"]):
        # The model saw a placeholder; staff see, and the check reads, what the citizen wrote.
        said = key["key_value"]
        value = said if context.redacted is None else context.redacted.restore(said)
        status, check = validate(key["key_type"], value, patterns=key_patterns)
        found.append(
            {
                "key_type": key["key_type"],
                "key_value": value,
                "status": status.value,
                "check": check,
                "spans": spans[pointer("keys", i)],
            }
        )
    return {"keys": found}
