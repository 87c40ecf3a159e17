"""agency_detect_v1: one agency by default, several when the message asks each for its own thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ieim.llm.engine.envelope import envelope
from ieim.llm.engine.question import Question, read_question, requests
from ieim.llm.engine.words import stems

MOST_AGENCIES = 3
_WORDS = 0.1
_WORDS_OF_THE_TALK = 0.6
"""What the words of an agency weigh beside its retrieval score: more when the message leans on the
talk, because the search gives every word of it the same weight."""

_STICKS = 0.6
"""A message that leans on the talk stays with its agency, unless another matches it so much better
that this share of the best score is out of its reach."""

_OWN_SHARE = 0.2
"""An agency of several needs at least this share of the best retrieval score."""

_COVERED = 0.5
"""And this share of its clause's topic in its own words."""

_PIECE = 2
"""And this many words of what stands between commas: that may be part of one request."""

_TURN = 2
"""And this many words of its own turn a message away from what the talk was about."""

_APART = 1.5
"""And this many times the support that the clause gives to any other."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    slot: Mapping[str, Any]
    score: float
    words: frozenset[str]

    @property
    def id(self) -> str:
        return str(self.slot["agencyId"])


def detect(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer agency_detect_v1; with nothing to go by the list is empty."""
    question = read_question(payload)
    candidates = [_candidate(slot) for slot in payload["agencies"]]
    found = _several(payload["user_prompt"], candidates) or _one(question, candidates)
    high = len(found) > 1
    step = "semantic_analysis_v1" if high else "category_select_v1" if found else "session_end"
    return envelope(
        payload,
        step,
        judgements={
            "agencyDetected": [candidate.id for candidate in found],
            "agencyInfo": [
                {name: candidate.slot[name] for name in ("agencyId", "name", "path", "description")}
                for candidate in found
            ],
            "agencyCount": len(found),
            "complexity": "high" if high else "low",
        },
    )


def _candidate(slot: Mapping[str, Any]) -> _Candidate:
    text = "\n".join((slot["name"], slot["description"], *slot["services"]))
    return _Candidate(slot, float(slot.get("score", 0.0)), frozenset(stems(text)))


def _one(question: Question, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the best candidate as a list of one, or none when nothing matched."""
    if not candidates or not question.weights:
        return []
    scores = _scores(question, candidates)
    best = max(candidates, key=lambda candidate: scores[candidate.id])
    if question.talk and not question.leans:
        best = _elsewhere(question, candidates, best) or best
    before = next((c for c in candidates if c.id == question.agency), None)
    if before is not None and question.leans and scores[before.id] >= _STICKS * scores[best.id]:
        return [before]
    return [best] if best.score > 0 else []


def _elsewhere(
    question: Question, candidates: Sequence[_Candidate], best: _Candidate
) -> _Candidate | None:
    """Return the agency that the message turns to, away from what the talk was about.

    The search counts the talk's words too, so that ``best`` may owe everything to them.
    """
    if not best.words.isdisjoint(question.own):
        return None
    return _owner(question.own, _TURN, candidates)


def _scores(question: Question, candidates: Sequence[_Candidate]) -> dict[str, float]:
    """Return the share of the best retrieval score and that of the best support, added."""
    support = _support(question.weights, candidates)
    most = max(support.values()) or 1.0
    best = max(candidate.score for candidate in candidates) or 1.0
    weight = _WORDS_OF_THE_TALK if question.leans else _WORDS
    return {c.id: c.score / best + weight * support[c.id] / most for c in candidates}


def _support(weights: Mapping[str, float], candidates: Sequence[_Candidate]) -> dict[str, float]:
    """Return how much the words of each candidate say of a question: a word that several share
    counts for each of them only in part."""
    spread = {word: sum(word in c.words for c in candidates) for word in weights}
    return {
        c.id: sum(weight / spread[word] for word, weight in weights.items() if word in c.words)
        for c in candidates
    }


def _several(text: str, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return two or more agencies when requests of ``text`` belong to different ones, else none.

    In the order of their retrieval scores.
    """
    best = max((candidate.score for candidate in candidates), default=0.0)
    eligible = [c for c in candidates if c.score > 0 and c.score >= _OWN_SHARE * best]
    owners = {
        owner.id: owner
        for words, is_piece in requests(text)
        if (owner := _owner(words, _PIECE if is_piece else 1, eligible)) is not None
    }
    found = sorted(owners.values(), key=lambda candidate: -candidate.score)[:MOST_AGENCIES]
    return found if len(found) > 1 else []


def _owner(
    words: Sequence[str], fewest: int, candidates: Sequence[_Candidate]
) -> _Candidate | None:
    """Return the one candidate that a request clearly belongs to."""
    support = _support(dict.fromkeys(words, 1.0), candidates)
    ranked = sorted(candidates, key=lambda c: (-support[c.id], -c.score))
    if not ranked:
        return None
    first = ranked[0]
    shared = sum(word in first.words for word in words)
    runner_up = support[ranked[1].id] if len(ranked) > 1 else 0.0
    clear = support[first.id] >= _APART * runner_up
    return first if clear and shared >= max(fewest, _COVERED * len(words)) else None
