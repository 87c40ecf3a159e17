"""classify, extract and identity_assist: what a caseworker wants to know of a message.

Every label, entity and key stands on quotes from the citizen's own text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ieim.pipeline import evidence
from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.knowledge import Label
from ieim.pipeline.message.risk import UNSURE, Risk
from ieim.pipeline.personal.redaction import PLACEHOLDER
from ieim.pipeline.stages.base import Claim, Context, Inputs, Output, Stage
from ieim.pipeline.stages.slots import cut

LONGEST_MEANING = 40
"""Characters of a label's description that a model is given."""

MASK = " (mask it)"
"""What the meaning of an entity type ends with whose value has to be masked."""

INTENTS = "intents"
CLASSIFY_SETS = (INTENTS, "product_lines", "urgencies", "risk_flags")

NEAREST = 4
"""So many situations are among the intents of a message."""

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


def meaning(label: Label) -> str:
    """Return the meaning of a code: ``name: description``, of which only the beginning is given.

    A name that has the code's words among its own is left out, and a description that is a text for
    citizens.
    """
    if label.escalates:
        return label.name
    description = cut(label.description, LONGEST_MEANING)
    repeats = set(_words(label.code)) <= set(_words(label.name))
    if repeats and description and ": " not in description:
        return description
    return f"{label.name}: {description}"


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def _situations(inputs: Inputs) -> dict[str, str]:
    """Return the codes of the situations nearest to the message, each with its meaning."""
    nearest = (ranked.item for ranked in inputs.ranking.situations(limit=NEAREST))
    return {
        situation.code: f"{situation.name}: {cut(situation.description, LONGEST_MEANING)}"
        for situation in nearest
    }


def _situation_codes(context: Context) -> frozenset[str]:
    """Return the codes of the situations that a model was given with this message; a person may
    name any of the release."""
    release = context.release
    if context.request is None:
        return frozenset(situation.code for situation in release.situations.values())
    given = context.request.get("labels", {}).get(INTENTS, {})
    return frozenset(code for code in given if release.situation(code) is not None)


def _stage(
    contract: str,
    *,
    elements: Callable[[Output], Iterable[Element]],
    code: str,
    sets: Sequence[str],
    enums: Mapping[tuple[str, ...], str],
    claims: Callable[[Output], Iterable[Claim]],
    semantics: Callable[[Output, Context], Iterable[Finding]] = lambda _output, _context: (),
) -> Stage:
    """Return a contract whose elements each have a code of one of the label ``sets``, in the field
    ``code``; ``enums`` names the set whose codes go to a place of the schema."""

    def build_input(inputs: Inputs) -> dict[str, Any]:
        labels = inputs.context.release.labels
        given = {
            name: {
                label.code: meaning(label) + (MASK if label.is_masked else "")
                for label in labels.get(name, {}).values()
            }
            for name in sets
        }
        if INTENTS in given:
            given[INTENTS] |= _situations(inputs)
        return {"labels": given}

    def labels(output: Output, context: Context) -> Iterable[Finding]:
        of_message = _situation_codes(context)
        for path, label_set, element in elements(output):
            labels = context.labels.get(label_set, frozenset())
            if element[code] not in (labels | of_message if label_set == INTENTS else labels):
                message = f"This is not a label of the set {label_set} of this turn."
                yield Finding(Code.LABEL_UNKNOWN, pointer(*path, code), message)
        if "primary_intent" in output and output["primary_intent"] not in {
            intent["label"] for intent in output["intents"]
        }:
            message = "The primary intent is not among the intents."
            yield Finding(Code.LABEL_UNKNOWN, "/primary_intent", message)

    return Stage(
        id=contract,
        build_input=build_input,
        state_slice=lambda _output: {},
        has_session=False,
        has_ranking=contract == "classify",
        labels=labels,
        claims=claims,
        semantics=semantics,
        enums=lambda payload: {slot: list(payload["labels"][enums[slot]]) for slot in enums},
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
    for path, _, entity in _entities(output):
        value_path = pointer(*path, "value_redacted")
        snippets, value = entity["evidence_snippets"], entity["value_redacted"]
        yield Claim(pointer(*path), snippets, value, value_path, may_be_masked=True)


def _unmasked(output: Output, context: Context) -> Iterable[Finding]:
    types = context.release.labels.get("entity_types", {})
    for path, _, entity in _entities(output):
        value = entity["value_redacted"]
        in_full = evidence.contains_value(context.seen, value, masks=False)
        label = types.get(entity["entity_type"])
        if label and label.is_masked and in_full and not PLACEHOLDER.search(value):
            message = "A value of this type identifies somebody and has to be masked."
            yield Finding(Code.VALUE_UNMASKED, pointer(*path, "value_redacted"), message)


def _key_claims(output: Output) -> Iterable[Claim]:
    for path, _, key in _keys(output):
        value_path = pointer(*path, "key_value")
        yield Claim(pointer(*path), key["evidence_snippets"], key["key_value"], value_path)


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
    semantics=_unmasked,
)
IDENTITY_ASSIST = _stage(
    "identity_assist",
    elements=_keys,
    code="key_type",
    sets=["key_types"],
    enums={("properties", "keys", "items", "properties", "key_type"): "key_types"},
    claims=_key_claims,
)


class ReadFlag(NamedTuple):
    """A risk flag as it could be read, its ``confidence`` as it is written, empty where it has
    none."""

    code: str
    confidence: str
    quotes: Sequence[str]

    @property
    def is_sure(self) -> bool:
        """Whether it counts as sure, as it does where its confidence is no number."""
        try:
            return not float(self.confidence) < UNSURE
        except ValueError:
            return True


_FLAGS = re.compile(r"""["']risk_flags["']\s*:\s*\[?""")
_SEPARATOR = re.compile(r"[\s,]*")
# Numbers stay as they are written: a confidence may be a text as well.
_DECODER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)
_ENDINGS = ("", "}", '"}', "]}", '"]}')
"""What may be missing of a flag at which an answer was cut off."""
_MOST_CHARACTERS = 256 * 1024
_MOST_LISTS = 20
_MOST_FLAGS = 100
_MOST_QUOTES = 20
_MOST_DIGITS = 20


def readable_flags(raw: str, codes: Collection[str]) -> Iterator[ReadFlag]:
    """Yield the risk flags that can be read in a classify answer, whatever else is wrong with it.

    Those are the JSON objects with a ``label`` among ``codes``, or the codes alone, that a field
    ``risk_flags`` holds: also within a fence, beside prose, in single quotes, or in an answer
    that was cut off.
    """
    raw, end = raw[:_MOST_CHARACTERS], 0
    for match in islice(_FLAGS.finditer(raw), _MOST_LISTS):
        if match.start() < end:
            continue
        end = match.end()
        for _ in range(_MOST_FLAGS):
            separator = _SEPARATOR.match(raw, end)
            end = separator.end() if separator else end
            element, end = _element(raw, end)
            if element is None:
                break
            code = element.get("label")
            if isinstance(code, str) and code in codes:
                quotes = element.get("evidence_snippets")
                quotes = quotes if isinstance(quotes, list) else [quotes]
                quotes = [quote for quote in quotes[:_MOST_QUOTES] if isinstance(quote, str)]
                confidence = element.get("confidence")
                written = "" if confidence is None else str(confidence)[:_MOST_DIGITS]
                yield ReadFlag(code, written, quotes)


def _element(raw: str, start: int) -> tuple[dict[str, Any] | None, int]:
    """Return the element at a place of a list and where it ends; None where there is none."""
    whole = (raw + ending for ending in _ENDINGS)
    for text in (*whole, raw[: raw.rfind(",")] + "}", raw.replace("'", '"')):
        try:
            element, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        return element if isinstance(element, dict) else {"label": element}, end
    return None, start


def signs(raw: str, context: Context) -> list[Risk]:
    """Return the signs of danger in a classify answer that failed the gate, each code once.

    Each counts as the same flag of an answer that passed, and points at the first of its quotes
    that stands in the message, else at the whole message.
    """
    by_code: dict[str, Risk] = {}
    for flag in readable_flags(raw, context.labels.get("risk_flags", frozenset())):
        start, end = 0, len(context.user_prompt)
        located = (evidence.locate(context.seen, quote) for quote in flag.quotes)
        if span := next(filter(None, located), None):
            start, end = context.original(span.start, span.end)
        sign = Risk(flag.code, start, end, "model" if flag.is_sure else "unsure")
        if flag.code not in by_code or (by_code[flag.code].weak and not sign.weak):
            by_code[flag.code] = sign
    return list(by_code.values())
