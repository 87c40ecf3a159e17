"""The citizen's question as weighted stems: what it says itself, and what the talk was about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ieim.llm.engine import is_new_subject
from ieim.llm.engine.lexicon import lexicon
from ieim.pipeline.facts import facts
from ieim.search.analysis import fold
from ieim.search.clauses import ENOUGH_TOPIC, clauses, refers_back, subject, topic

_EARLIER_QUESTION = 0.5
_EARLIER_ANSWER = 0.6
_FADING = 0.85
"""What an earlier message weighs (the present one: 1), and how that fades from item to item."""

_TELLS_MUCH = 3
"""With this many words of topic a statement may be a request: "my licence is about to expire"."""


@dataclass(frozen=True, slots=True)
class Question:
    """``message``: the distinct stems of the message that carry a topic, in order. ``weights``:
    those (1.0 each) and the history's. ``talk`` says that there is a history, ``leans`` that the
    message has little topic without it. ``agency`` and ``service`` are
    the ids that the last answer was about.
    """

    message: tuple[str, ...]
    weights: Mapping[str, float]
    talk: bool
    leans: bool
    agency: str | None
    service: str | None


def read_question(payload: Mapping[str, Any]) -> Question:
    """Return the question of a per-call input."""
    text: str = payload["user_prompt"]
    history: Sequence[Mapping[str, Any]] = payload["chat_context_summary"]
    words = topic("\n".join(clauses(text)))
    weights = dict.fromkeys(words, 1.0)
    if is_new_subject(payload):
        return alone(words)
    fade = 1.0
    for item in reversed(history):
        is_question = item["role"] == "user"
        weight = fade * (_EARLIER_QUESTION if is_question else _EARLIER_ANSWER)
        for stem in topic("\n".join(clauses(item["text"]))):
            weights[stem] = max(weights.get(stem, 0.0), weight)
        fade *= _FADING
    about = [item for item in history if item["role"] != "user" and item.get("service")]
    return Question(
        message=words,
        weights=weights,
        talk=bool(history),
        leans=bool(history) and (len(subject(words)) < ENOUGH_TOPIC or refers_back(text)),
        agency=about[-1].get("agency") if about else None,
        service=about[-1]["service"] if about else None,
    )


def alone(words: Sequence[str]) -> Question:
    """Return a question that says only ``words`` (stems)."""
    weights = dict.fromkeys(words, 1.0)
    return Question(tuple(words), weights, talk=False, leans=False, agency=None, service=None)


def requests(text: str) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield the topic of each request in ``text``, and whether it is only a piece of a clause.

    A single clause is a request whatever its form; among others, a clause that only tells how
    things are is one when it says much.
    """
    lists = lexicon().soft_breaks
    parts = clauses(text)
    for part in parts:
        if len(parts) > 1 and not _is_request(part):
            continue
        pieces = lists.split(part)
        for piece in pieces:
            words = topic(piece)
            if len(words) > 1 or (words and not refers_back(piece)):
                yield words, len(pieces) > 1


def only_complains(text: str) -> bool:
    """Whether ``text`` says that an answer is wrong or no help, and names no matter.

    A price or a date that is said to be right is none: "you are wrong, it costs 60".
    """
    complaints = lexicon().complaints
    found = False
    for clause in clauses(text):
        rest, count = complaints.subn(" ", fold(_without_facts(clause)).replace("’", "'"))
        if subject(topic(rest)) or (clause.endswith("?") and not count):
            return False
        found = found or count > 0
    return found


def _without_facts(clause: str) -> str:
    """Return ``clause`` without its amounts of money, dates and telephone numbers."""
    for each in reversed(facts(clause)):
        clause = clause[: each.start] + " " + clause[each.end :]
    return clause


def _is_request(clause: str) -> bool:
    """Whether a clause asks for something, or tells so much that it may."""
    words = lexicon()
    text = fold(clause)
    asks = any(form.search(text) for form in (words.need, words.wish, words.information))
    return asks or clause.endswith("?") or len(topic(clause)) >= _TELLS_MUCH
