"""classify, extract and identity_assist: what a caseworker wants to know of a message.

The three contracts of ``prompt_contract.md``. Every label, entity and key stands on quotes from the
citizen's own text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.knowledge import Label
from ieim.pipeline.stages.base import Claim, Context, Inputs, Output, Score, Stage
from ieim.pipeline.stages.slots import cut

LONGEST_MEANING = 80
"""Characters of a label's description that a model is told."""

CLASSIFY_SETS = ("intents", "product_lines", "urgencies", "risk_flags")


def label_elements(output: Output) -> Iterable[tuple[tuple[str | int, ...], str, Output]]:
    """Yield ``(path, label set, element)`` for every label of a classify answer."""
    for i, element in enumerate(output["intents"]):
        yield ("intents", i), "intents", element
    yield ("product_line",), "product_lines", output["product_line"]
    yield ("urgency",), "urgencies", output["urgency"]
    for i, element in enumerate(output["risk_flags"]):
        yield ("risk_flags", i), "risk_flags", element


def meaning(label: Label) -> str:
    """Return what a code is said to mean: ``name: description``, without a name that only says the
    code again. A description can be a text for citizens, so that only its beginning is told."""
    description = cut(label.description, LONGEST_MEANING)
    says_no_more = _words(label.name) == _words(label.code)
    if says_no_more and description and ": " not in description:
        return description
    return f"{label.name}: {description}"


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def _label_slot(*sets: str) -> Any:
    def build(inputs: Inputs) -> dict[str, Any]:
        labels = inputs.context.release.labels
        return {
            "labels": {
                # The codes once, each with what it means.
                name: {label.code: meaning(label) for label in labels.get(name, {}).values()}
                for name in sets
            }
        }

    return build


def _codes(payload: Mapping[str, Any], label_set: str) -> list[str]:
    return list(payload["labels"][label_set])


def _no_state(_output: Output) -> dict[str, Any]:
    return {}


def _unknown_label(path: str, label_set: str) -> Finding:
    return Finding(
        Code.LABEL_UNKNOWN, path, f"This is not a label of the set {label_set} of this turn."
    )


def _classify_labels(output: Output, context: Context) -> Iterable[Finding]:
    for path, label_set, element in label_elements(output):
        if element["label"] not in context.labels.get(label_set, frozenset()):
            yield _unknown_label(pointer(*path, "label"), label_set)
    if output["primary_intent"] not in [element["label"] for element in output["intents"]]:
        yield Finding(
            Code.LABEL_UNKNOWN, "/primary_intent", "The primary intent is not among the intents."
        )


def _classify_scores(output: Output) -> Iterable[Score]:
    for path, _, element in label_elements(output):
        yield Score(pointer(*path, "confidence"), element["confidence"], minimum=False)


def _classify_claims(output: Output) -> Iterable[Claim]:
    for path, _, element in label_elements(output):
        yield Claim(pointer(*path), element["evidence_snippets"])


def _classify_enums(payload: Mapping[str, Any]) -> Mapping[tuple[str, ...], Sequence[str]]:
    codes = {name: _codes(payload, name) for name in CLASSIFY_SETS}
    of_item = ("items", "properties", "label")
    return {
        ("properties", "intents", *of_item): codes["intents"],
        ("properties", "primary_intent"): codes["intents"],
        ("properties", "product_line", "properties", "label"): codes["product_lines"],
        ("properties", "urgency", "properties", "label"): codes["urgencies"],
        ("properties", "risk_flags", *of_item): codes["risk_flags"],
    }


CLASSIFY = Stage(
    id="classify",
    build_input=_label_slot(*CLASSIFY_SETS),
    state_slice=_no_state,
    has_session=False,
    labels=_classify_labels,
    scores=_classify_scores,
    claims=_classify_claims,
    enums=_classify_enums,
)


def _extract_labels(output: Output, context: Context) -> Iterable[Finding]:
    known = context.labels.get("entity_types", frozenset())
    for i, entity in enumerate(output["entities"]):
        if entity["entity_type"] not in known:
            yield _unknown_label(pointer("entities", i, "entity_type"), "entity_types")


def _extract_scores(output: Output) -> Iterable[Score]:
    for i, entity in enumerate(output["entities"]):
        yield Score(pointer("entities", i, "confidence"), entity["confidence"], minimum=False)


def _extract_claims(output: Output) -> Iterable[Claim]:
    for i, entity in enumerate(output["entities"]):
        path = pointer("entities", i)
        yield Claim(
            path,
            entity["evidence_snippets"],
            entity["value_redacted"],
            f"{path}/value_redacted",
            may_be_masked=True,
        )


def _extract_enums(payload: Mapping[str, Any]) -> Mapping[tuple[str, ...], Sequence[str]]:
    where = ("properties", "entities", "items", "properties", "entity_type")
    return {where: _codes(payload, "entity_types")}


EXTRACT = Stage(
    id="extract",
    build_input=_label_slot("entity_types"),
    state_slice=_no_state,
    has_session=False,
    labels=_extract_labels,
    scores=_extract_scores,
    claims=_extract_claims,
    enums=_extract_enums,
)


def _identity_labels(output: Output, context: Context) -> Iterable[Finding]:
    known = context.labels.get("key_types", frozenset())
    for i, key in enumerate(output["keys"]):
        if key["key_type"] not in known:
            yield _unknown_label(pointer("keys", i, "key_type"), "key_types")


def _identity_claims(output: Output) -> Iterable[Claim]:
    for i, key in enumerate(output["keys"]):
        path = pointer("keys", i)
        yield Claim(path, key["evidence_snippets"], key["key_value"], f"{path}/key_value")


def _identity_enums(payload: Mapping[str, Any]) -> Mapping[tuple[str, ...], Sequence[str]]:
    where = ("properties", "keys", "items", "properties", "key_type")
    return {where: _codes(payload, "key_types")}


IDENTITY_ASSIST = Stage(
    id="identity_assist",
    build_input=_label_slot("key_types"),
    state_slice=_no_state,
    has_session=False,
    labels=_identity_labels,
    claims=_identity_claims,
    enums=_identity_enums,
)
