"""How well a candidate's text answers a question, as numbers from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ieim.llm.engine.question import Question
from ieim.search.analysis import synonyms
from ieim.search.clauses import subject, topic

_ALIKE = 0.5
"""What it is worth when not the word itself stands in a field but one that people use for it."""


@dataclass(frozen=True, slots=True)
class Match:
    """``covered``: the share of the question that stands in the text, each word by the weight of
    its best field. ``named``: the share of the name that stands in the question, in these or in
    like words, by the weights that they have there. ``by_own``: the share of the message's own
    words that is covered. ``strange``: how many words of its subject are not in the text, nor like
    words. ``field``: the field that says most.
    """

    covered: float
    named: float
    by_own: float
    strange: int
    field: str


def match(
    question: Question, fields: Mapping[str, str], weights: Mapping[str, float], name: str
) -> Match:
    """Match ``fields`` (texts by name), of which ``name`` is the one that names the candidate.

    ``weights`` (0 to 1, by field) say what a word is worth there.
    """
    asked = question.weights
    total = sum(asked.values())
    words = {field: frozenset(topic(text)) for field, text in fields.items()}
    others = {word: [other for other, _ in synonyms(word)] for word in asked}
    shares = {
        field: weights[field] * sum(w for word, w in asked.items() if word in words[field])
        for field in fields
    }

    def worth(word: str) -> float:
        return max((weights[field] for field in fields if word in words[field]), default=0.0)

    worths = {
        word: worth(word) or _ALIKE * max(map(worth, others[word]), default=0.0) for word in asked
    }
    own = words[name]
    meant = dict(asked)
    for word, w in asked.items():
        for other in others[word]:
            meant[other] = max(w, meant.get(other, 0.0))
    return Match(
        covered=sum(w * worths[word] for word, w in asked.items()) / total if total else 0.0,
        named=sum(meant.get(word, 0.0) for word in own) / len(own) if own else 0.0,
        by_own=sum(map(worth, question.own)) / len(question.own) if question.own else 0.0,
        strange=sum(not worths[word] for word in subject(question.own)),
        field=max(shares, key=lambda field: shares[field]),
    )
