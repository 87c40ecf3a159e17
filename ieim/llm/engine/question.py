"""The citizen's question as weighted stems: what it says itself, and what the talk was about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ieim.llm.engine.lexicon import lexicon
from ieim.llm.engine.words import stems
from ieim.search.analysis import fold

_EARLIER_QUESTION = 0.5
_EARLIER_ANSWER = 0.2
_FADING = 0.7
"""What an earlier message weighs beside the present one, and how that fades from item to item."""

_OWN_TOPIC = 2
"""With this many words of its own a message stands alone, unless it refers back."""


@dataclass(frozen=True, slots=True)
class Question:
    """``own``: the distinct stems of the message that carry a topic, in order. ``weights``: those
    and the history's, each with its weight (own ones 1.0). ``talk`` says that there is a history,
    ``leans`` that the message has little topic of its own beside it. ``agency`` and ``service`` are
    the ids that the last answer was about.
    """

    own: tuple[str, ...]
    weights: Mapping[str, float]
    talk: bool
    leans: bool
    agency: str | None
    service: str | None

    @property
    def asked(self) -> Mapping[str, float]:
        """The words to go by: the message's own, with the talk's when it leans on that."""
        return self.weights if self.leans else dict.fromkeys(self.own, 1.0)


def read_question(payload: Mapping[str, Any]) -> Question:
    """Return the question of a per-call input."""
    text: str = payload["user_prompt"]
    history: Sequence[Mapping[str, Any]] = payload["chat_context_summary"]
    own = topic("\n".join(clauses(text)))
    weights = dict.fromkeys(own, 1.0)
    fade = 1.0
    for item in reversed(history):
        is_question = item["role"] == "user"
        weight = fade * (_EARLIER_QUESTION if is_question else _EARLIER_ANSWER)
        for stem in topic("\n".join(clauses(item["text"]))):
            weights[stem] = max(weights.get(stem, 0.0), weight)
        fade *= _FADING
    about = [item for item in history if item["role"] != "user" and item.get("service")]
    return Question(
        own=own,
        weights=weights,
        talk=bool(history),
        leans=bool(history) and (len(own) < _OWN_TOPIC or _refers_back(text)),
        agency=about[-1].get("agency") if about else None,
        service=about[-1]["service"] if about else None,
    )


def alone(words: Sequence[str]) -> Question:
    """Return a question that says only ``words`` (stems)."""
    weights = dict.fromkeys(words, 1.0)
    return Question(tuple(words), weights, talk=False, leans=False, agency=None, service=None)


def topic(text: str) -> tuple[str, ...]:
    """Return the distinct stems of ``text`` that carry a topic, in order."""
    topicless = lexicon().topicless
    return tuple(dict.fromkeys(stem for stem in stems(text) if stem not in topicless))


def clauses(text: str) -> list[str]:
    """Return the clauses of ``text`` that the citizen asks with, none of them blank.

    Clauses end where one request may end and another begin; a question keeps its mark. Words to a
    machine are no part of a question, and neither is what follows them: nothing is obeyed here, so
    they would only bring in topics that are not the citizen's.
    """
    to_a_machine = lexicon().to_a_machine
    parts = list(_split(text))
    meant = [to_a_machine.search(part) is None for part in parts]
    if meant and meant[0] and not all(meant):
        return parts[: meant.index(False)]
    return [part for part, own in zip(parts, meant, strict=True) if own]


def requests(text: str) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield the topic of each request in ``text``, and whether it is only a piece of a clause.

    A single clause is a request whatever its form; beside others, a clause that only tells how
    things are is not.
    """
    lists = lexicon().soft_breaks
    parts = clauses(text)
    for part in parts:
        if len(parts) > 1 and not _is_request(part):
            continue
        pieces = lists.split(part)
        for piece in pieces:
            words = topic(piece)
            if len(words) > 1 or (words and not _refers_back(piece)):
                yield words, len(pieces) > 1


def _split(text: str) -> Iterator[str]:
    start = 0
    for found in lexicon().clause_breaks.finditer(text):
        mark = "?" if "?" in found[0] else ""
        if part := text[start : found.start()].strip():
            yield part + mark
        start = found.end()
    if part := text[start:].strip():
        yield part


def _refers_back(text: str) -> bool:
    """Whether ``text`` leans on what was said before: "and how much is it?"."""
    return lexicon().follow_up.search(fold(text)) is not None


def _is_request(clause: str) -> bool:
    """Whether a clause asks for something, rather than telling how things are."""
    words = lexicon()
    return clause.endswith("?") or any(
        form.search(fold(clause)) for form in (words.need, words.information)
    )
