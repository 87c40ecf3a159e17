"""classify, extract and identity_assist: what a caseworker wants to know of a message.

Every label, entity and key stands on quotes from the citizen's own text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.knowledge import Label
from ieim.pipeline.stages.base import Claim, Context, Inputs, Output, Score, Stage
from ieim.pipeline.stages.slots import cut

LONGEST_MEANING = 80
"""Characters of a label's description that a model is given."""

CLASSIFY_SETS = ("intents", "product_lines", "urgencies", "risk_flags")

Element = tuple[tuple[str | int, ...], str, Output]
"""The path of an element of an answer, the label set of its code, and the element."""


def label_elements(output: Output) -> Iterable[Element]:
    """Yield every label of a classify answer."""
    for i, element in enumerate(output["intents"]):
        yield ("intents", i), "intents", element
    yield ("product_line",), "product_lines", output["product_line"]
    yield ("urgency",), "urgencies", output["urgency"]
    for i, element in enumerate(output["risk_flags"]):
        yield ("risk_flags", i), "risk_flags", element


def meaning(label: Label, *, brief: bool = False) -> str:
    """Return the meaning of a code: ``name: description``, without a name that only repeats the
    code. Of a description only the beginning is given.

    ``brief`` leaves out a name that has the code's words among its own, and a description that is a
    text for citizens.
    """
    description = cut(label.description, LONGEST_MEANING)
    if brief and label.escalates:
        return label.name
    code, name = _words(label.code), _words(label.name)
    repeats = name == code or (brief and set(code) <= set(name))
    if repeats and description and ": " not in description:
        return description
    return f"{label.name}: {description}"


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def _stage(
    contract: str,
    *,
    elements: Callable[[Output], Iterable[Element]],
    code: str,
    sets: Sequence[str],
    enums: Mapping[tuple[str, ...], str],
    claims: Callable[[Output], Iterable[Claim]],
) -> Stage:
    """Return a contract whose elements each have a code of one of the label ``sets``, in the field
    ``code``; ``enums`` names the set whose codes go to a place of the schema."""

    def build_input(inputs: Inputs) -> dict[str, Any]:
        labels = inputs.context.release.labels
        return {
            "labels": {
                name: {
                    label.code: meaning(label, brief=not inputs.reads_hints)
                    for label in labels.get(name, {}).values()
                }
                for name in sets
            }
        }

    def labels(output: Output, context: Context) -> Iterable[Finding]:
        for path, label_set, element in elements(output):
            if element[code] not in context.labels.get(label_set, frozenset()):
                message = f"This is not a label of the set {label_set} of this turn."
                yield Finding(Code.LABEL_UNKNOWN, pointer(*path, code), message)
        if "primary_intent" in output and output["primary_intent"] not in {
            intent["label"] for intent in output["intents"]
        }:
            message = "The primary intent is not among the intents."
            yield Finding(Code.LABEL_UNKNOWN, "/primary_intent", message)

    def scores(output: Output) -> Iterable[Score]:
        for path, _, element in elements(output):
            if "confidence" in element:
                yield Score(pointer(*path, "confidence"), element["confidence"], minimum=False)

    return Stage(
        id=contract,
        build_input=build_input,
        state_slice=lambda _output: {},
        has_session=False,
        labels=labels,
        scores=scores,
        claims=claims,
        enums=lambda payload: {place: list(payload["labels"][enums[place]]) for place in enums},
    )


def _entities(output: Output) -> Iterable[Element]:
    for i, element in enumerate(output["entities"]):
        yield ("entities", i), "entity_types", element


def _keys(output: Output) -> Iterable[Element]:
    for i, element in enumerate(output["keys"]):
        yield ("keys", i), "key_types", element


def _label_claims(output: Output) -> Iterable[Claim]:
    for path, label_set, element in label_elements(output):
        is_intent = label_set == "intents"
        yield Claim(pointer(*path), element["evidence_snippets"], may_be_filler=is_intent)


def _entity_claims(output: Output) -> Iterable[Claim]:
    for path, _, each in _entities(output):
        place = pointer(*path, "value_redacted")
        snippets, value = each["evidence_snippets"], each["value_redacted"]
        yield Claim(pointer(*path), snippets, value, place, may_be_masked=True)


def _key_claims(output: Output) -> Iterable[Claim]:
    for path, _, each in _keys(output):
        place = pointer(*path, "key_value")
        yield Claim(pointer(*path), each["evidence_snippets"], each["key_value"], place)


_LABEL = ("items", "properties", "label")

CLASSIFY = _stage(
    "classify",
    elements=label_elements,
    code="label",
    sets=CLASSIFY_SETS,
    enums={
        ("properties", "intents", *_LABEL): "intents",
        ("properties", "product_line", "properties", "label"): "product_lines",
        ("properties", "urgency", "properties", "label"): "urgencies",
        ("properties", "risk_flags", *_LABEL): "risk_flags",
    },
    claims=_label_claims,
)
EXTRACT = _stage(
    "extract",
    elements=_entities,
    code="entity_type",
    sets=["entity_types"],
    enums={("properties", "entities", "items", "properties", "entity_type"): "entity_types"},
    claims=_entity_claims,
)
IDENTITY_ASSIST = _stage(
    "identity_assist",
    elements=_keys,
    code="key_type",
    sets=["key_types"],
    enums={("properties", "keys", "items", "properties", "key_type"): "key_types"},
    claims=_key_claims,
)
