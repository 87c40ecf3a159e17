"""judgement_v1: is the message a question to a public administration?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from ieim.llm.engine import telemetry
from ieim.llm.engine.lexicon import lexicon
from ieim.pipeline.reply.guidance import UNCLEAR
from ieim.search.analysis import STOP_WORDS, fold
from ieim.search.clauses import clauses, stems

_MARKS = re.compile(r"^[\W_]+|[\W_]+$|,")
_WORD = re.compile(r"[^\W\d_]+")
_ABBREVIATION = re.compile(
    r"(?<![\w-])(?=[A-Z0-9-]{0,8}[A-Z]{2})[A-Z]{2,6}(?:-?\d{1,4}[A-Z]?)?(?![\w-])"
)
"""Offices, schemes and forms are called by them: "SSA", "DS-82"."""

_QUESTION = re.compile("[?？؟]")
_ASKS = re.compile(r"[?？؟]\s*$")
"""What was said before asks something, so that "ok" is an answer to it."""
_THRESHOLD = 2
_FOREIGN_WORDS = 3
_CLEAR = 0.7
"""Likeness and nearness together that words do not outweigh: of examples of what nobody asks of an
administration 3 in 100 reach it over the demo's services."""
_UNASKED = -1.0
"""The likeness of an example of what asks nothing, in the same words: so is "who are you?" none."""
_STORY = 14
"""Words: so many are a story."""


def judge(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer judgement_v1.

    Each sentence is weighed by itself, and one that asks something makes the message an inquiry:
    greetings around it, other topics or instructions change nothing.
    """
    history = payload["chat_context_summary"]
    parts = clauses(payload["user_prompt"])
    greeted = lexicon().greeting.search(payload["user_prompt"]) is not None
    inquiry = any(_asks(part, after_others=bool(history), greeted=greeted) for part in parts)
    inquiry = inquiry or _tells_a_story(parts)
    inquiry = _by_meaning(payload, parts, by_words=inquiry)
    return {
        "stage": "judgement_v1",
        "stageStatus": "ready",
        "judgements": {"inquiry": inquiry},
        "assistantReply": None if inquiry else _guidance(payload["guidance"]),
        "nextStep": "agency_detect_v1" if inquiry else "session_end",
        "telemetry": telemetry(payload),
    }


def _by_meaning(payload: Mapping[str, Any], parts: Sequence[str], *, by_words: bool) -> bool:
    """Return whether a message is an inquiry, by what its words say and by what it is like."""
    likeness = payload.get("likeness")
    if likeness is None:
        # A case is then told only by the same words as an example of what asks nothing.
        asks_nothing = payload["guidance"]["case"] != UNCLEAR
        return by_words and (bool(payload["chat_context_summary"]) or not asks_nothing)
    if not payload["chat_context_summary"]:
        clear = likeness["like"] + likeness["nearest"] >= _CLEAR
        return clear or (by_words and likeness["like"] >= likeness["least"])
    if likeness["like"] <= _UNASKED:
        return False
    # In a talk nothing but thanks and the like is none: not a question, nor an answer.
    answers = lexicon().answers
    before = payload["chat_context_summary"][-1]
    was_asked = bool(before.get("offered")) or _ASKS.search(before["text"]) is not None
    answered = any(
        _QUESTION.search(part) or (was_asked and answers.match(_MARKS.sub("", fold(part))))
        for part in parts
    )
    return by_words and (answered or likeness["like"] >= likeness["least"])


def _guidance(guidance: Mapping[str, Any]) -> str:
    text: str = guidance["texts"][guidance["case"]]
    return text


def _asks(clause: str, *, after_others: bool, greeted: bool) -> bool:
    """Whether one clause asks something of an administration."""
    words = lexicon()
    text = _MARKS.sub("", fold(clause))
    if not text or words.small_talk.fullmatch(text):
        return False
    if words.answers.fullmatch(text):
        return after_others
    if _is_foreign(text):
        return True
    found = set(stems(clause))
    elsewhere = _elsewhere(text, found)
    weight = 2 * len(found & words.public) + len(found & words.public_too) - 3 * elsewhere
    everyday = len(found & words.off_topic_too)
    weight -= everyday
    weight += (words.need.search(text) is not None) + (words.personal.search(text) is not None)
    weight += words.happened.search(text) is not None
    weight += 2 * (words.information.search(text) is not None)
    weight += 2 * (words.for_an_agency.search(text) is not None)
    if not elsewhere and not everyday:
        weight += words.happened.search(text) is not None
        weight += 2 * (words.wish.search(text) is not None) + 2 * greeted
        weight += 2 * (words.procedure.search(text) is not None)
        weight += _ABBREVIATION.search(clause) is not None and not clause.isupper()
    # In a conversation about a service a message goes on with it unless it clearly does not.
    return weight + 3 * after_others >= _THRESHOLD


def _elsewhere(text: str, found: AbstractSet[str]) -> int:
    """Return how much in a clause speaks against a matter of an administration's."""
    words = lexicon()
    elsewhere = len(found & words.off_topic)
    elsewhere += words.off_topic_forms.search(text) is not None
    return elsewhere + (words.about_the_assistant.search(text) is not None)


def _tells_a_story(parts: Sequence[str]) -> bool:
    """Whether the message is long and nothing in it speaks against a matter of an administration's.

    Who writes so much wants something. Where that is a mistake a person sees it; nobody would see
    who was only told to ask about public services.
    """
    words = sum(len(_WORD.findall(part)) for part in parts)
    return words >= _STORY and not any(_elsewhere(fold(part), set(stems(part))) for part in parts)


def _is_foreign(text: str) -> bool:
    """Whether the lists, which are English, say nothing of this text: then it counts as asked."""
    found = _WORD.findall(text)
    if not text.isascii():
        return True
    return len(found) >= _FOREIGN_WORDS and STOP_WORDS.isdisjoint(found)
