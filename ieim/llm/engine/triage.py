"""classify, extract and identity_assist: plain rules, each finding with a quote.

The labels are whatever the input brings; they are told apart by their names and descriptions.
Danger is not looked for: the application does that itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any, Final

from ieim.llm.engine import Payload, situation
from ieim.pipeline.evidence import is_trivial, locate
from ieim.pipeline.facts import Fact, Kind, facts
from ieim.pipeline.sentences import sentences
from ieim.search.analysis import stems

Label = Mapping[str, str]
"""``code``, ``name`` and ``description``."""

_BY_WORDS: Final = 0.8
_BY_DEFAULT: Final = 0.5
"""The confidence of a finding, and of a label that stands for all the rest."""

_IN_NAME: Final = 1.0
_IN_DESCRIPTION: Final = 0.5
"""The weight of a word of a label that the message has, divided among the labels of the set that
have it. A label needs the weight of one word of its name."""

_ORDINARY = frozenset({"other", "normal", "ordinary", "standard", "medium", "general", "none"})
"""Words in the names of labels that mean "none of the others"."""

_TYPES: Mapping[Kind, frozenset[str]] = {
    "date": frozenset({"date"}),
    "money": frozenset({"amount", "money"}),
    "email": frozenset({"email"}),
    "phone": frozenset({"phone", "telephone"}),
}
"""The words in the name of a label that mean a kind of fact."""

_MASKED: Mapping[Kind, str] = {"email": "[EMAIL]", "phone": "[PHONE]"}
_TO_MASK: Final = "(mask it)"
"""The end of the meaning of a type whose values are masked."""

_PLACEHOLDER = re.compile(r"\[([A-Z_]+)_\d+\]")
"""The placeholder in a message for personal data that was removed: ``[EMAIL_1]``."""

_REFERENCE = re.compile(r"(?<![\w/-])(?=[A-Z0-9/-]*\d)[A-Z0-9]+(?:[/-][A-Z0-9]+)*(?![\w/-])")
_SHORTEST_REFERENCE: Final = 5
_WORD = re.compile(r"[^\W\d_]+")
_LONGEST_QUOTE: Final = 200


def classify(payload: Payload) -> dict[str, Any]:
    """Answer classify; a set without labels has an empty one. No urgency is read from words, and no
    risk."""
    text = payload["user_prompt"]
    labels = {name: labels_of(payload, name) for name in payload["labels"]}
    intent = _by_words(
        text,
        [intent_label for intent_label in labels["intents"] if not _is_situation(intent_label)],
    )
    intents = [intent] if intent["label"] else []
    if situation_intent := situation(payload):
        intents.append(_element(*situation_intent, quote(text, [text, *_sentences(text)])))
    return {
        "intents": intents,
        "primary_intent": intent["label"],
        "product_line": _by_words(text, labels["product_lines"]),
        "urgency": _default(text, labels["urgencies"]),
        "risk_flags": [],
    }


def _is_situation(label: Label) -> bool:
    return label["code"].startswith("situation.")


def extract(payload: Payload) -> dict[str, Any]:
    """Answer extract: dates, amounts, e-mail addresses, telephone numbers, and placeholders."""
    text, labels = payload["user_prompt"], labels_of(payload, "entity_types")
    masked = {label["code"] for label in labels if label["description"].endswith(_TO_MASK)}
    entities = []
    for fact in facts(text):
        code = _code_for(_TYPES.get(fact.kind, frozenset()), labels)
        value = _MASKED.get(fact.kind, "****" if code in masked else fact.text)
        entities.append((code, value, quote(text, _around(text, fact))))
    entities += [(code, value, quote(text, [value])) for value, code in _placeholders(text, labels)]
    return {
        "entities": [
            {
                "entity_type": code,
                "value_redacted": value,
                "confidence": _BY_WORDS,
                "evidence_snippets": snippets,
            }
            for code, value, snippets in entities
            if code and snippets
        ]
    }


def identity_assist(payload: Payload) -> dict[str, Any]:
    """Answer identity_assist: addresses and numbers, placeholders for them, and tokens whose
    sentence has the name of a key."""
    text, labels = payload["user_prompt"], labels_of(payload, "key_types")
    keys = (*_addresses(text, labels), *_placeholders(text, labels), *_references(text, labels))
    return {
        "keys": [
            {"key_type": code, "key_value": value, "evidence_snippets": snippets}
            for value, code in keys
            if (snippets := quote(text, [value]))
        ]
    }


def labels_of(payload: Payload, label_set: str) -> list[Label]:
    """Return the labels of a set. A meaning without a name is that of a code which is the name."""
    labels: list[Label] = []
    for code, meaning in payload["labels"][label_set].items():
        name, has_name, description = meaning.partition(": ")
        if not has_name:
            name, description = code.replace("_", " "), meaning
        labels.append({"code": code, "name": name, "description": description})
    return labels


def _by_words(text: str, labels: Sequence[Label]) -> dict[str, Any]:
    """Return the label whose name and description share most with the message, else the default."""
    weights = [
        dict.fromkeys(_stems(label["description"]), _IN_DESCRIPTION)
        | dict.fromkeys(_stems(label["name"]), _IN_NAME)
        for label in labels
    ]
    spread = Counter(word for of_label in weights for word in of_label)
    shared = _stems(text) & spread.keys()
    # fsum: the order of the words changes no tie.
    scores = [fsum(of_label.get(w, 0.0) / spread[w] for w in shared) for of_label in weights]
    first = max(scores, default=0.0)
    if first < _IN_NAME or scores.count(first) > 1:
        return _default(text, labels)
    index = scores.index(first)
    telling = sorted(_sentences(text), key=lambda part: -len(weights[index].keys() & _stems(part)))
    return _element(labels[index]["code"], _BY_WORDS, quote(text, telling))


def _default(text: str, labels: Sequence[Label]) -> dict[str, Any]:
    """Return the label for all the rest, else the first one."""
    code = _code_for(_ORDINARY, labels) or next((label["code"] for label in labels), "")
    return _element(code, _BY_DEFAULT, quote(text, _sentences(text)))


def _element(code: str, confidence: float, snippets: list[str]) -> dict[str, Any]:
    return {"label": code, "confidence": confidence, "evidence_snippets": snippets}


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold().replace("-", "").replace("_", " ")))


def _stems(text: str) -> set[str]:
    """Return the English stems of the words that say something."""
    return set(stems(text.replace("-", "").replace("_", " ")))


def _code_for(meaning: frozenset[str], labels: Sequence[Label]) -> str:
    """Return the first code whose words, or those of its name, mean this, else an empty one."""
    named = (label for label in labels if meaning & _words(f"{label['code']} {label['name']}"))
    return next((label["code"] for label in named), "")


def _around(text: str, fact: Fact) -> Iterator[str]:
    """Yield the fact, then the text around it: a bare figure may say too little."""
    yield fact.text
    start = text.rfind(" ", 0, max(fact.start - 1, 0)) + 1
    yield text[start : fact.end]
    yield from (sentence for sentence in _sentences(text) if fact.text in sentence)


def _addresses(text: str, labels: Sequence[Label]) -> Iterator[tuple[str, str]]:
    for fact in facts(text):
        if fact.kind in _MASKED and (code := _code_for(_TYPES[fact.kind], labels)):
            yield fact.text, code


def _placeholders(text: str, labels: Sequence[Label]) -> Iterator[tuple[str, str]]:
    """Yield each placeholder whose kind is one of the labels' codes, with that code."""
    codes = {label["code"] for label in labels}
    kinds = {match[0]: match[1].lower() for match in _PLACEHOLDER.finditer(text)}
    yield from ((value, kind) for value, kind in kinds.items() if kind in codes)


def _references(text: str, labels: Sequence[Label]) -> Iterator[tuple[str, str]]:
    """Yield tokens with digits, each with the key type whose name the sentence has most of."""
    names = {label["code"]: _stems(label["name"]) for label in labels}
    for sentence in _sentences(text):
        sentence_stems = _stems(sentence)
        code = max(names, key=lambda code: len(names[code] & sentence_stems), default="")
        for match in _REFERENCE.finditer(sentence):
            if code and names[code] & sentence_stems and len(match[0]) >= _SHORTEST_REFERENCE:
                yield match[0], code


def _sentences(text: str) -> list[str]:
    return [text[sentence.start : sentence.end] for sentence in sentences(text)]


def quote(text: str, passages: Iterable[str]) -> list[str]:
    """Return the first of ``passages`` that is evidence in ``text``, as a list of at most one."""
    for passage in passages:
        snippet = _shortened(passage)
        if not is_trivial(snippet) and locate(text, snippet) is not None:
            return [snippet]
    return []


def _shortened(passage: str) -> str:
    if len(passage) <= _LONGEST_QUOTE:
        return passage
    return passage[: _LONGEST_QUOTE + 1].rpartition(" ")[0] or passage[:_LONGEST_QUOTE]
