"""Ordering candidates by their words and their retrieval rank, and scoring the best of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ieim.llm.engine.matching import Match, match
from ieim.llm.engine.question import Question

Slot = Mapping[str, Any]
Fields = Callable[[Slot], Mapping[str, str]]

_WORDS = 0.5
"""What covered and named words each weigh beside the retrieval rank's 1/√rank."""

_SAME_SERVICE = 0.5
"""What it weighs that the talk was about this service, when the message leans on the talk."""

_BIAS, _COVERED, _NAMED, _LEAD, _SAME = -7.25, 0.55, 0.85, 2.6, 1.0
_FOUND, _FOUND_LEAD = 1.7, 2.25
"""A logistic curve over the features of the best candidate: its words, its lead in words, and how
well and how clearly retrieval found it. The slopes were fitted on a half of labelled questions; the
bias was lowered until half a point meant that wrong answers are few: docs/evaluating.md."""


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

    def value(item: tuple[Slot, Match]) -> float:
        slot, found = item
        words = _WORDS * (found.covered + found.named)
        return 1 / math.sqrt(slot["rank"]) + words + _SAME_SERVICE * same(slot)

    return sorted(matched, key=lambda item: (-value(item), item[0]["rank"]))


def choose(
    question: Question,
    slots: Sequence[Slot],
    fields: Fields,
    weights: Mapping[str, float],
    *,
    name: str,
    key: str,
) -> Choice:
    """Return the best of ``slots``; ``key`` is the field by which the talk's service is known."""

    def same(slot: Slot) -> bool:
        return question.leans and slot[key] == question.service

    ordered = order(question, slots, fields, weights, name, same)
    slot, found = ordered[0]
    others = max((other.covered for _, other in ordered[1:]), default=0.0)
    retrieved = slot.get("score", 0.0)
    rival = max((other.get("score", 0.0) for other, _ in ordered[1:]), default=0.0)
    best = max(retrieved, rival)
    z = (
        _BIAS
        + _COVERED * found.covered
        + _NAMED * found.named
        + _LEAD * (found.covered - others)
        + _SAME * same(slot)
        + _FOUND * math.log1p(retrieved)
        + _FOUND_LEAD * ((retrieved - rival) / best if best else 0.0)
    )
    score = 1 / (1 + math.exp(-z)) if found.covered else 0.0
    return Choice(slot, found.field, round(min(score, 0.99), 2))


def relevance(found: Match, rank: int) -> float:
    """Return how much a category has to do with the question, with two decimals.

    At least half a point as soon as a fair share of the words meet: a category only narrows the
    search, the service is what has to be right.
    """
    if not found.covered:
        return 0.2
    score = 0.4 + 0.35 * found.covered + 0.15 * found.named + 0.09 / math.sqrt(rank)
    return round(min(score, 0.99), 2)
