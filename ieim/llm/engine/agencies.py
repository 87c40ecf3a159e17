"""agency_detect_v1: one agency by default, several when the message asks each for its own thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ieim.llm.engine import envelope
from ieim.llm.engine.question import Question, read_question, requests
from ieim.search.clauses import stems

MOST_AGENCIES = 3
_WORDS = 0.1
_WORDS_OF_THE_TALK = 0.6
"""What the words of an agency weigh beside its retrieval score: more in a talk, because the search
does not know what was answered."""

_STICKS = 0.6
"""A message that leans on the talk stays with its agency, unless another matches it so much better
that this share of the best score is out of its reach."""

_OWN_SHARE = 0.2
"""An agency of several needs at least this share of the best retrieval score."""

_COVERED = 0.4
"""And this share of its clause's topic in its own words."""

_PIECE = 2
"""And this many words of what stands between commas: that may be part of one request."""

_TURN = 2
"""And this many words of its own turn a message away from what the talk was about."""

_APART = 1.5
"""And this many times the support that the clause gives to the other."""


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
    # Ids are often the abbreviation that people use.
    text = "\n".join(
        (slot["agencyId"], slot["name"], slot["description"], *slot.get("services", ()))
    )
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
    if not best.words.isdisjoint(question.message):
        return None
    owner = _owner(question.message, _TURN, candidates)
    support = _support(dict.fromkeys(question.message, 1.0), candidates)
    rivals = [support[c.id] for c in candidates if owner is not None and c.id != owner.id]
    return owner if owner and support[owner.id] >= _APART * max(rivals, default=0.0) else None


def _scores(question: Question, candidates: Sequence[_Candidate]) -> dict[str, float]:
    """Return the share of the best retrieval score and that of the best support, added."""
    support = _support(question.weights, candidates)
    most = max(support.values()) or 1.0
    best = max(candidate.score for candidate in candidates) or 1.0
    weight = _WORDS_OF_THE_TALK if question.talk else _WORDS
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

    Two agencies are told apart when each has a request that says clearly more of it than of the
    other. In the order of their retrieval scores.
    """
    best = max((candidate.score for candidate in candidates), default=0.0)
    eligible = [c for c in candidates if c.score > 0 and c.score >= _OWN_SHARE * best]
    owned = [
        (owner.id, _support(dict.fromkeys(words, 1.0), eligible))
        for words, is_piece in requests(text)
        if (owner := _owner(words, _PIECE if is_piece else 1, eligible)) is not None
    ]
    found = {
        one
        for one, support in owned
        for other, others in owned
        if one != other
        and support[one] >= _APART * support[other]
        and others[other] >= _APART * others[one]
    }
    several = [candidate for candidate in eligible if candidate.id in found]
    return sorted(several, key=lambda candidate: -candidate.score)[:MOST_AGENCIES]


def _owner(
    words: Sequence[str], fewest: int, candidates: Sequence[_Candidate]
) -> _Candidate | None:
    """Return the candidate that a request says most of, if it says enough."""
    if not candidates:
        return None
    support = _support(dict.fromkeys(words, 1.0), candidates)
    first = max(candidates, key=lambda c: (support[c.id], c.score))
    shared = sum(word in first.words for word in words)
    return first if shared >= max(fewest, _COVERED * len(words)) else None
