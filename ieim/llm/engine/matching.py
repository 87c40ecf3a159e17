"""How well a candidate's text answers a question, as numbers from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ieim.llm.engine.question import Question, topic


@dataclass(frozen=True, slots=True)
class Match:
    """``covered``: the share of the question that stands in the text, each word by the weight of
    its best field. ``named``: the share of the name that stands in the question. ``field``: the
    field that says most.
    """

    covered: float
    named: float
    field: str


def match(
    question: Question, fields: Mapping[str, str], weights: Mapping[str, float], name: str
) -> Match:
    """Match ``fields`` (texts by name), of which ``name`` is the one that names the candidate.

    ``weights`` (0 to 1, by field) say what a word is worth there. A message with a topic of its own
    is matched alone, one that leans on the talk with the talk.
    """
    asked = question.asked
    total = sum(asked.values())
    words = {field: frozenset(topic(text)) for field, text in fields.items()}
    shares = {
        field: weights[field] * sum(w for word, w in asked.items() if word in words[field])
        for field in fields
    }
    covered = sum(
        w * max((weights[field] for field in fields if word in words[field]), default=0.0)
        for word, w in asked.items()
    )
    own = words[name]
    return Match(
        covered=covered / total if total else 0.0,
        named=sum(word in asked for word in own) / len(own) if own else 0.0,
        field=max(shares, key=lambda field: shares[field]),
    )
