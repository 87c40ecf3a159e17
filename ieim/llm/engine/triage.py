"""classify, extract and identity_assist: plain rules, each finding with a quote.

The labels are whatever the input brings; they are distinguished by their names and descriptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from ieim.llm.engine.lexicon import lexicon
from ieim.pipeline.evidence import is_trivial, locate
from ieim.pipeline.facts import Fact, Kind, facts
from ieim.search.analysis import fold, synonyms
from ieim.search.clauses import clauses, forms, stems, topic

Label = Mapping[str, str]

_BY_NAME = 0.8
_BY_DESCRIPTION = 0.72
_BY_DEFAULT = 0.5
"""How sure a finding is. What says less than that is left to the label for all the rest."""

_TELLING = 2
"""The least number of words of a description in a clause: one may be there by chance."""

_NAMED, _DESCRIBED, _LIKE = 1.0, 0.7, 0.8
"""The weight of a subject's word in a label's name and in its description, and the factor for one
that is only similar."""

_SUBJECT, _CLEARLY = 0.5, 1.5
"""So much must be said of a subject, and so many times as much as of any other."""

_ENTITIES: Mapping[Kind, frozenset[str]] = {
    "date": frozenset(stems("date")),
    "money": frozenset(stems("amount money")),
    "email": frozenset(stems("email")),
    "phone": frozenset(stems("phone telephone")),
}
_MASKED: Mapping[Kind, str] = {"email": "[EMAIL]", "phone": "[PHONE]"}
"""What identifies a person is named, not repeated."""
_TO_MASK, _MASK = "(mask it)", "****"
"""What the meaning of a type ends with whose values are masked, and such a value."""

_PLACEHOLDER = re.compile(r"\[([A-Z_]+)_\d+\]")
"""The placeholder in a message for personal data that was removed: ``[EMAIL_1]``."""

_TWO_WORDS = re.compile(r"(?<!\w)(\w++) (?:and|or) (\w++)", re.IGNORECASE)
_ALTERNATIVES = re.compile(r"\bor\b|[,/]", re.IGNORECASE)
_REFERENCE = re.compile(r"(?<![\w/-])(?=[A-Z0-9/-]*\d)[A-Z0-9]+(?:[/-][A-Z0-9]+)*(?![\w/-])")
_SHORTEST_REFERENCE = 5


_LONGEST_QUOTE = 200


def classify(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer classify; a set in which nothing fits and which has no label for that stays empty."""
    text, labels = (
        payload["user_prompt"],
        {name: labels_of(payload, name) for name in payload["labels"]},
    )
    intent = _by_form(text, labels["intents"]) or _best(text, labels["intents"])
    return {
        "intents": [intent] if intent["label"] else [],
        "primary_intent": intent["label"],
        "product_line": _subject(text, labels["product_lines"])
        or _best(text, labels["product_lines"]),
        "urgency": _urgency(text, labels["urgencies"]),
        "risk_flags": list(_risks(text, labels["risk_flags"])),
    }


def extract(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer extract: dates, amounts, e-mail addresses, telephone numbers, and placeholders."""
    text, labels = payload["user_prompt"], labels_of(payload, "entity_types")
    masked = {each["code"] for each in labels if each["description"].endswith(_TO_MASK)}
    found = []
    for fact in facts(text):
        code = _code_for(_ENTITIES.get(fact.kind, frozenset()), labels)
        value = _MASKED.get(fact.kind, _MASK if code in masked else fact.text)
        found.append((code, value, quote(text, _around(text, fact))))
    found += [(code, value, quote(text, [value])) for value, code in _placeholders(text, labels)]
    return {
        "entities": [
            {
                "entity_type": code,
                "value_redacted": value,
                "confidence": _BY_NAME,
                "evidence_snippets": snippets,
            }
            for code, value, snippets in found
            if code and snippets
        ]
    }


def identity_assist(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer identity_assist: addresses and numbers, placeholders for them, and tokens that the
    message calls by the name of a key."""
    text, labels = payload["user_prompt"], labels_of(payload, "key_types")
    keys = []
    found = (*_addresses(text, labels), *_placeholders(text, labels), *_references(text, labels))
    for value, code in found:
        snippets = quote(text, [value])
        if snippets:
            keys.append({"key_type": code, "key_value": value, "evidence_snippets": snippets})
    return {"keys": keys}


def labels_of(payload: Mapping[str, Any], label_set: str) -> list[Label]:
    """Return the labels of a set, each with its ``code``, ``name`` and ``description``. A meaning
    without a name is that of a code which is the name."""
    found: list[Label] = []
    for code, meaning in payload["labels"][label_set].items():
        name, named, description = meaning.partition(": ")
        if not named:
            name, description = code.replace("_", " "), meaning
        found.append({"code": code, "name": name, "description": description})
    return found


def _by_form(text: str, labels: Sequence[Label]) -> dict[str, Any] | None:
    """Return the first label of the lexicon's forms whose form a clause has, None for none and for
    two whose names are next to each other there: "renew and cancel"."""
    if any(
        len([label for label in labels if set(stems(label["name"])) & {one, other}]) > 1
        for one, other in _joined(text)
    ):
        return None
    for called, form in lexicon().intents:
        code = _code_for(called, labels)
        asking = [part for part in passages(text) if form.search(fold(part))]
        if code and (snippets := quote(text, asking)):
            return _element(code, _BY_DESCRIPTION, snippets)
    return None


def _joined(text: str) -> Iterator[tuple[str, str]]:
    """Yield the stems of two words that "and" or "or" joins."""
    for found in _TWO_WORDS.finditer(text):
        yield from product(stems(found[1]), stems(found[2]))


def _subject(text: str, labels: Sequence[Label]) -> dict[str, Any] | None:
    """Return the label whose words, or words like them, clearly say most of what the whole message
    is about, else None. A word that several labels have counts for each of them only in part."""
    words: list[dict[str, float]] = []
    for label in labels:
        described = dict.fromkeys(topic(label["description"]), _DESCRIBED)
        words.append(described | dict.fromkeys(topic(label["name"]), _NAMED))
    scores = [0.0] * len(labels)
    for word in topic("\n".join(clauses(text))):
        values = [_worth(word, of_label) for of_label in words]
        if whole := sum(values):
            scores = [score + v * v / whole for score, v in zip(scores, values, strict=True)]
    ordered = sorted(range(len(labels)), key=lambda place: -scores[place])
    best, rival = scores[ordered[0]] if ordered else 0.0, sum(scores[p] for p in ordered[1:2])
    if best < _SUBJECT or best < _CLEARLY * rival:
        return None
    of_label = words[ordered[0]]
    parts = sorted(passages(text), key=lambda part: -sum(_worth(w, of_label) for w in topic(part)))
    if not (snippets := quote(text, parts[:1])):
        return None
    return _element(
        labels[ordered[0]]["code"], _BY_NAME if best >= _NAMED else _BY_DESCRIPTION, snippets
    )


def _worth(word: str, words: Mapping[str, float]) -> float:
    """Return what a word of the message says of a label, itself or by a word like it."""
    others = (words.get(other, 0.0) for other, _ in synonyms(word))
    return words.get(word) or _LIKE * max(others, default=0.0)


def _best(text: str, labels: Sequence[Label]) -> dict[str, Any]:
    """Return the label whose name, or else whose description, shares most with the message.

    A tie or a single word of a description says little: then it is the label for all the rest,
    and only where a set has none the guess itself, at a low confidence.
    """
    parts = passages(text)
    guess = ("", quote(text, parts))
    for field, fewest, confidence in (
        ("name", 1, _BY_NAME),
        ("description", _TELLING, _BY_DESCRIPTION),
    ):
        shared = [
            max(
                ((len(set(topic(label[field])) & set(topic(part))), part) for part in parts),
                key=lambda entry: entry[0],
                default=(0, ""),
            )
            for label in labels
        ]
        most = max((many for many, _ in shared), default=0)
        best = [
            (label["code"], part)
            for label, (many, part) in zip(labels, shared, strict=True)
            if many == most
        ]
        if not most or not (snippets := quote(text, [best[0][1]])):
            continue
        if most >= fewest and len(best) == 1:
            return _element(best[0][0], confidence, snippets)
        guess = guess if guess[0] else (best[0][0], snippets)
    if default := _default(labels):
        return _element(default, _BY_DEFAULT, quote(text, parts))
    return _element(guess[0], _BY_DEFAULT, guess[1])


def _urgency(text: str, labels: Sequence[Label]) -> dict[str, Any]:
    words = lexicon()
    hurried = [part for part in passages(text) if words.urgent & set(stems(part))]
    code = _code_for(words.urgent_labels, labels)
    if code and (snippets := quote(text, hurried)):
        return _element(code, _BY_DESCRIPTION, snippets)
    return _element(_default(labels), _BY_DEFAULT, quote(text, passages(text)))


def _risks(text: str, labels: Sequence[Label]) -> Iterator[dict[str, Any]]:
    """Yield the flags of which one clause has the whole name, or a whole alternative."""
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


def _placeholders(text: str, labels: Sequence[Label]) -> Iterator[tuple[str, str]]:
    """Yield each placeholder whose kind is one of the labels' codes, with that code."""
    codes = {label["code"] for label in labels}
    kinds = {found[0]: found[1].lower() for found in _PLACEHOLDER.finditer(text)}
    yield from ((value, kind) for value, kind in kinds.items() if kind in codes)


def _references(text: str, labels: Sequence[Label]) -> Iterator[tuple[str, str]]:
    """Yield tokens with digits, each with the key type that is named in the same clause."""
    for part in passages(text):
        words = set(stems(part))
        named = [(len(_called(label) & words), label["code"]) for label in labels]
        most, code = max(named, key=lambda entry: entry[0], default=(0, ""))
        for found in _REFERENCE.finditer(part):
            if most and len(found[0]) >= _SHORTEST_REFERENCE:
                yield found[0], code


def passages(text: str) -> list[str]:
    """Return the clauses of ``text``, unchanged, without blank ones."""
    return [part.strip() for part in forms().clause_breaks.split(text) if part.strip()]


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
