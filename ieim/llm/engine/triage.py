"""classify, extract and identity_assist: plain rules, each finding with a quote.

The labels are whatever the input brings; they are told apart by their names and descriptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ieim.llm.engine.lexicon import lexicon
from ieim.llm.engine.question import topic
from ieim.llm.engine.quotes import passages, quote
from ieim.llm.engine.words import stems
from ieim.pipeline.facts import Fact, Kind, facts

Label = Mapping[str, str]

_BY_NAME = 0.8
_BY_DESCRIPTION = 0.65
_BY_DEFAULT = 0.5

_ENTITIES: Mapping[Kind, frozenset[str]] = {
    "date": frozenset(stems("date")),
    "money": frozenset(stems("amount money")),
    "email": frozenset(stems("email")),
    "phone": frozenset(stems("phone telephone")),
}
_MASKED: Mapping[Kind, str] = {"email": "[EMAIL]", "phone": "[PHONE]"}
"""What identifies a person is named, not repeated."""

_ALTERNATIVES = re.compile(r"\bor\b|[,/]", re.IGNORECASE)
_REFERENCE = re.compile(r"(?<![\w/-])(?=[A-Z0-9/-]*\d)[A-Z0-9]+(?:[/-][A-Z0-9]+)*(?![\w/-])")
_SHORTEST_REFERENCE = 5


def classify(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer classify; a set in which nothing fits and which has no label for that stays empty."""
    text, labels = payload["user_prompt"], payload["labels"]
    intent = _best(text, labels["intents"])
    return {
        "intents": [intent] if intent["label"] else [],
        "primary_intent": intent["label"],
        "product_line": _best(text, labels["product_lines"]),
        "urgency": _urgency(text, labels["urgencies"]),
        "risk_flags": list(_risks(text, labels["risk_flags"])),
    }


def extract(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer extract: dates, amounts, e-mail addresses and telephone numbers."""
    text = payload["user_prompt"]
    entities = []
    for fact in facts(text):
        code = _code_for(_ENTITIES.get(fact.kind, frozenset()), payload["labels"]["entity_types"])
        snippets = quote(text, _around(text, fact))
        if code and snippets:
            entities.append(
                {
                    "entity_type": code,
                    "value_redacted": _MASKED.get(fact.kind, fact.text),
                    "confidence": _BY_NAME,
                    "evidence_snippets": snippets,
                }
            )
    return {"entities": entities}


def identity_assist(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer identity_assist: addresses and numbers, and tokens that the message calls by the name
    of a key."""
    text, labels = payload["user_prompt"], payload["labels"]["key_types"]
    keys = []
    for value, code in (*_addresses(text, labels), *_references(text, labels)):
        snippets = quote(text, [value])
        if snippets:
            keys.append({"key_type": code, "key_value": value, "evidence_snippets": snippets})
    return {"keys": keys}


def _best(text: str, labels: Sequence[Label]) -> dict[str, Any]:
    """Return the label whose name, or else whose description, shares most with the message."""
    parts = passages(text)
    for field, confidence in (("name", _BY_NAME), ("description", _BY_DESCRIPTION)):
        scored = [
            (len(set(topic(label[field])) & set(topic(part))), label["code"], part)
            for label in labels
            for part in parts
        ]
        most = max(scored, key=lambda entry: entry[0], default=(0, "", ""))
        snippets = quote(text, [most[2]])
        if most[0] and snippets:
            return _element(most[1], confidence, snippets)
    return _element(_default(labels), _BY_DEFAULT, quote(text, parts))


def _urgency(text: str, labels: Sequence[Label]) -> dict[str, Any]:
    words = lexicon()
    hurried = [part for part in passages(text) if words.urgent & set(stems(part))]
    code = _code_for(words.urgent_labels, labels)
    if code and (snippets := quote(text, hurried)):
        return _element(code, _BY_DESCRIPTION, snippets)
    return _element(_default(labels), _BY_DEFAULT, quote(text, passages(text)))


def _risks(text: str, labels: Sequence[Label]) -> Iterator[dict[str, Any]]:
    """Yield the flags whose name, or one of its alternatives, stands whole in one clause."""
    for label in labels:
        names = [set(stems(name)) for name in _ALTERNATIVES.split(label["name"])]
        parts = [
            part
            for part in passages(text)
            if any(name and name <= set(stems(part)) for name in names)
        ]
        if snippets := quote(text, parts):
            yield _element(label["code"], _BY_NAME, snippets)


def _element(code: str, confidence: float, snippets: list[str]) -> dict[str, Any]:
    return {"label": code, "confidence": confidence, "evidence_snippets": snippets}


def _default(labels: Sequence[Label]) -> str:
    return _code_for(lexicon().ordinary_labels, labels)


def _code_for(meaning: frozenset[str], labels: Sequence[Label]) -> str:
    """Return the first code that means this, empty when there is none."""
    return next((label["code"] for label in labels if meaning & _called(label)), "")


def _called(label: Label) -> set[str]:
    return {*stems(label["code"].replace("_", " ")), *stems(label["name"].replace("-", ""))}


def _around(text: str, fact: Fact) -> Iterator[str]:
    """Yield the fact, then the line and the text around it: a bare figure may say too little."""
    yield fact.text
    start = text.rfind(" ", 0, max(fact.start - 1, 0)) + 1
    yield text[start : fact.end]
    yield from (part for part in passages(text) if fact.text in part)


def _addresses(text: str, labels: Sequence[Label]) -> Iterator[tuple[str, str]]:
    for fact in facts(text):
        if fact.kind in _MASKED and (code := _code_for(_ENTITIES[fact.kind], labels)):
            yield fact.text, code


def _references(text: str, labels: Sequence[Label]) -> Iterator[tuple[str, str]]:
    """Yield tokens with digits, each with the key type that is named in the same clause."""
    for part in passages(text):
        words = set(stems(part))
        named = [(len(_called(label) & words), label["code"]) for label in labels]
        most, code = max(named, key=lambda entry: entry[0], default=(0, ""))
        for found in _REFERENCE.finditer(part):
            if most and len(found[0]) >= _SHORTEST_REFERENCE:
                yield found[0], code
