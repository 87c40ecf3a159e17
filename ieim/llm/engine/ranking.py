"""Ordering candidates by their words and their retrieval rank, and scoring the best of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ieim.llm.engine.question import Question
from ieim.search.analysis import synonyms
from ieim.search.clauses import subject, topic

Slot = Mapping[str, Any]
Fields = Callable[[Slot], Mapping[str, str]]

_WORDS, _NAME = 2.0, 0.3
"""What covered and named words weigh in a talk (the share of the best retrieval score: 1), since
the search knows only a part of it. A first question it has read as well as the engine can."""

_BY_MESSAGE = 1.0
"""The additional weight, in a talk, of the words of the message itself."""

_SAME_SERVICE = 1.5
"""What it weighs that the talk was about this service, when the message leans on the talk."""

_BIAS, _NAMED, _SAME, _CLEAR = -5.05, 1.14, 1.0, 1.42
_FOUND_LEAD, _SHARE, _IN_A_TALK = 4.33, 0.94, 0.97
"""A logistic curve over the features of the best candidate: how much of its name is asked for, how
clear it is that the words are its own, its lead in retrieval over all but one (a near copy
of a page is no doubt), the logarithm of the share of the question that retrieval found in it: where
there are few services, the lead says little, and the missing words most. The slopes were
fitted on the development half of labelled questions, on the demo's and, with less weight, on those
that were made from other catalogues; then the bias was lowered: docs/evaluating.md."""

_FUSED_BIAS, _FUSED_NAMED, _FUSED_CLEAR = -5.6, 0.79, 1.23
_FUSED_LEAD, _FUSED_MEANING, _FUSED_IN_A_TALK = 2.22, 1.99, 1.14
"""The curve with an embedder: the lead over all other candidates by words and meaning together, and
the similarity in meaning, replace the lead and the share. Every catalogue
counts alike, each was left out once, the slopes are fitted on the development halves, and then the
bias was lowered until at most 0.05 of what is answered is wrong over `us` when that is left out."""

_STRANGE, _MOST_STRANGE = -1.6, 3
"""What each word of its subject costs a message that goes on about the same service, when that does
not speak of it: the message may have turned to something else. Chosen for talks of which one
message in six or so does."""

_LEAST_SHARE = 0.05

_MOST_LEAD = 0.7
"""A lead over nothing says little: an agency may have one service only."""

_SHARPNESS = 20.0
"""How fast another candidate is out of the question as it covers less of it."""


_SYNONYM = 0.5
"""The weight of a synonym in a field, relative to the word itself."""


@dataclass(frozen=True, slots=True)
class Match:
    """``covered``: the share of the question that is in the text, each word by the weight of
    its best field. ``named``: the share of the name that is in the question, in these or in
    similar words, by the weights that they have there. ``by_message``: the share of the message's
    words that is covered. ``strange``: how many words of its subject are not in the text, nor like
    words. ``field``: the field that says most.
    """

    covered: float
    named: float
    by_message: float
    strange: int
    field: str


def match(
    question: Question, fields: Mapping[str, str], weights: Mapping[str, float], name: str
) -> Match:
    """Match ``fields`` (texts by name), of which ``name`` is the one that names the candidate.

    ``weights`` (0 to 1, by field) say what a word is worth there.
    """
    weighed = question.weights
    total = sum(weighed.values())
    words = {field: frozenset(topic(text)) for field, text in fields.items()}
    others = {word: [other for other, _ in synonyms(word)] for word in weighed}
    shares = {
        field: weights[field] * sum(w for word, w in weighed.items() if word in words[field])
        for field in fields
    }

    def worth(word: str) -> float:
        return max((weights[field] for field in fields if word in words[field]), default=0.0)

    worths = {
        word: worth(word) or _SYNONYM * max(map(worth, others[word]), default=0.0)
        for word in weighed
    }
    name_words = words[name]
    weights_with_synonyms = dict(weighed)
    for word, w in weighed.items():
        for other in others[word]:
            weights_with_synonyms[other] = max(w, weights_with_synonyms.get(other, 0.0))
    return Match(
        covered=sum(w * worths[word] for word, w in weighed.items()) / total if total else 0.0,
        named=sum(weights_with_synonyms.get(word, 0.0) for word in name_words) / len(name_words)
        if name_words
        else 0.0,
        by_message=sum(map(worth, question.message)) / len(question.message)
        if question.message
        else 0.0,
        strange=sum(not worths[word] for word in subject(question.message)),
        field=max(shares, key=lambda field: shares[field]),
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """The best candidate, the field that says most for it, and a score with two decimals."""

    slot: Slot
    field: str
    score: float


def order(
    question: Question,
    slots: Sequence[Slot],
    fields: Fields,
    weights: Mapping[str, float],
    name: str,
    same: Callable[[Slot], bool] = lambda _slot: False,
) -> list[tuple[Slot, Match]]:
    """Return ``slots`` with their matches, best first; equal ones in the order of their rank."""
    matched = [(slot, match(question, fields(slot), weights, name)) for slot in slots]
    best = max((slot.get("score", 0.0) for slot in slots), default=0.0) or 1.0

    def value(item: tuple[Slot, Match]) -> float:
        slot, found = item
        words = question.talk * (
            _WORDS * found.covered + _NAME * found.named + _BY_MESSAGE * found.by_message
        )
        return float(slot.get("score", 0.0)) / best + words + _SAME_SERVICE * same(slot)

    return sorted(matched, key=lambda item: (-value(item), item[0]["rank"]))


def choose(
    question: Question,
    slots: Sequence[Slot],
    fields: Fields,
    weights: Mapping[str, float],
    *,
    name: str,
    key: str,
    parts: int = 1,
) -> Choice:
    """Return the best of ``slots``; ``key`` is the field by which the talk's service is known.

    ``parts``: so many services the message asks for, so that each is only found in a part of it.
    """

    def same(slot: Slot) -> bool:
        return question.leans and slot[key] == question.service

    ordered = order(question, slots, fields, weights, name, same)
    slot, found = ordered[0]
    retrieved = slot.get("score", 0.0)
    rivals = sorted((other.get("score", 0.0) for other, _ in ordered[1:]), reverse=True)
    best = max(retrieved, *rivals[:1], 0.0) or 1.0
    doubt = sum(math.exp(_SHARPNESS * (other.covered - found.covered)) for _, other in ordered)
    z = same(slot) * (_SAME + _STRANGE * min(_MOST_STRANGE, found.strange))
    if "meaning" in slot:
        z += (
            _FUSED_BIAS
            + _FUSED_NAMED * found.named
            + _FUSED_CLEAR / doubt
            # What leads the talk's own service leads it by the words of what was said before.
            + _FUSED_LEAD * max(0.0 if same(slot) else -1.0, min(1.0, retrieved - sum(rivals[:1])))
            + _FUSED_MEANING * slot["meaning"]
            + _FUSED_IN_A_TALK * question.talk
        )
    else:
        z += (
            _BIAS
            + _NAMED * found.named
            + _CLEAR / doubt
            + _FOUND_LEAD * min(_MOST_LEAD, (retrieved - sum(rivals[1:2])) / best)
            + _SHARE * math.log(_LEAST_SHARE + parts * retrieved)
            + _IN_A_TALK * question.talk
        )
    score = 1 / (1 + math.exp(-z)) if found.covered or "meaning" in slot else 0.0
    return Choice(slot, found.field, round(min(score, 0.99), 2))


def relevance(found: Match, rank: int) -> float:
    """Return how much a category has to do with the question, with two decimals.

    Half a point at least: a category only narrows the search, and a dictionary does not list every
    word for what stands under it. The service is what has to be right.
    """
    if not found.covered:
        return 0.5
    score = 0.5 + 0.25 * found.covered + 0.15 * found.named + 0.09 / math.sqrt(rank)
    return round(min(score, 0.99), 2)
