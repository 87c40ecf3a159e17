"""Results: what triage answers become once they passed the gate.

A model gives labels with quotes; what is stored has labels with offsets, what a deterministic rule
added, and whether a key is valid. Each result validates against a schema (``contracts/results``).
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
from ieim.pipeline.gate.gate import SOURCE, Evidence, Judgement, schema_findings
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.personal.keys import Patterns, validate
from ieim.pipeline.stages.base import Context

Result = dict[str, Any]
Spans = Mapping[str, list[dict[str, Any]]]
"""The spans of each element of an answer, by the element's JSON Pointer."""


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
    output, spans = judgement.output, _spans(judgement.evidence)
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
    wrong = next(iter(schema_findings(schema(contract_id), result, limit=1)), None)
    if wrong is not None:
        raise RuntimeError(f"the result of {contract_id} breaks its own schema: {wrong}")
    return result


@cache
def schema(contract_id: str) -> Draft202012Validator:
    """Return the compiled schema of a contract's result."""
    path = Path(__file__).parent / "contracts" / "results" / f"{contract_id}.schema.json"
    return Validator(json.loads(path.read_text(encoding="utf-8")))


def _spans(located: Iterable[Evidence]) -> Spans:
    by_path: dict[str, list[dict[str, Any]]] = {}
    for quote in located:
        span = {name: value for name, value in quote.as_dict().items() if name != "path"}
        by_path.setdefault(quote.path.partition("/evidence_snippets")[0], []).append(span)
    return by_path


def _classify(
    output: Mapping[str, Any], spans: Spans, context: Context, risks: Sequence[Risk]
) -> Result:
    flags, disputed_flags = _flags(output["risk_flags"], spans, context, risks)
    urgency, disputed_urgency = _urgency(
        _label(output["urgency"], spans, "urgency"), context, risks
    )
    return {
        "intents": [
            _label(label, spans, "intents", i) for i, label in enumerate(output["intents"])
        ],
        "primary_intent": output["primary_intent"],
        "product_line": _label(output["product_line"], spans, "product_line"),
        "urgency": urgency,
        "risk_flags": flags,
        "disagreements": [*disputed_flags, *disputed_urgency],
    }


def _label(element: Mapping[str, Any], spans: Spans, *path: str | int) -> Result:
    copied = {name: element[name] for name in ("label", "confidence")}
    return {**copied, "source": "model", "spans": spans[pointer(*path)]}


def _flags(
    elements: Sequence[Mapping[str, Any]], spans: Spans, context: Context, risks: Sequence[Risk]
) -> tuple[list[Result], list[Result]]:
    """Return the flags of rules and model together, and what the model did not see."""
    by_model = {
        element["label"]: _label(element, spans, "risk_flags", i)
        for i, element in enumerate(elements)
    }
    labels = context.release.labels.get("risk_flags", {})
    flags, disputed = [], []
    for risk in risks:
        seen = by_model.pop(risk.code, None)
        flags.append(
            {
                "label": risk.code,
                "confidence": seen["confidence"] if seen else None,
                "source": risk.source,
                "spans": [_risk_span(risk, context), *(seen["spans"] if seen else [])],
            }
        )
        if seen is None and (risk.code not in labels or labels[risk.code].holds):
            disputed.append({"label_set": "risk_flags", "rule": risk.code, "model": None})
    return flags + list(by_model.values()), disputed


def _urgency(
    urgency: Result, context: Context, risks: Sequence[Risk]
) -> tuple[Result, list[Result]]:
    """Return the urgency: the highest there is for a crisis that a rule found."""
    labels = context.release.labels.get("risk_flags", {})
    crises = [risk for risk in risks if risk.code in labels and labels[risk.code].escalates]
    timed = [
        urgency_label
        for urgency_label in context.release.labels.get("urgencies", {}).values()
        if urgency_label.effect
    ]
    if not crises or not timed:
        return urgency, []
    highest = min(timed, key=lambda label: int(label.effect)).code
    if urgency["label"] == highest:
        return urgency, []
    spans = [_risk_span(risk, context) for risk in crises]
    ruled = {"label": highest, "confidence": None, "source": "rule", "spans": spans}
    return ruled, [{"label_set": "urgencies", "rule": highest, "model": urgency["label"]}]


def _risk_span(risk: Risk, context: Context) -> dict[str, Any]:
    text = context.user_prompt
    quote = text[risk.start : risk.end]
    span = evidence.locate(text, quote)
    return {
        "source": SOURCE,
        "start": risk.start,
        "end": risk.end,
        "quote": quote,
        "snippet_sha256": evidence.snippet_sha256(text, evidence.Span(risk.start, risk.end, 1)),
        "occurrences": span.occurrences if span else 1,
    }


def _extract(output: Mapping[str, Any], spans: Spans) -> Result:
    names = ("entity_type", "value_redacted", "confidence")
    return {
        "entities": [
            {**{name: entity[name] for name in names}, "spans": spans[pointer("entities", i)]}
            for i, entity in enumerate(output["entities"])
        ]
    }


def _identity(
    output: Mapping[str, Any], spans: Spans, context: Context, key_patterns: Patterns
) -> Result:
    keys = []
    for i, key in enumerate(output["keys"]):
        # The model saw a placeholder; staff see, and the check reads, what the citizen wrote.
        value = key["key_value"]
        if context.redacted is not None:
            value = context.redacted.restore(value)
        status, check = validate(key["key_type"], value, patterns=key_patterns)
        keys.append(
            {
                "key_type": key["key_type"],
                "key_value": value,
                "status": status.value,
                "check": check,
                "spans": spans[pointer("keys", i)],
            }
        )
    return {"keys": keys}
