"""judgement_v1: is the message a question to a public administration?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ieim.llm.engine.envelope import telemetry
from ieim.llm.engine.lexicon import lexicon
from ieim.llm.engine.question import clauses
from ieim.llm.engine.words import stems
from ieim.search.analysis import STOP_WORDS, fold

GUIDANCE = (
    "I am here for questions about public services: documents, permits, payments, benefits and the "
    "like. Tell me in a sentence what you need, and I will look for the right office and the steps."
)
ANYTHING_ELSE = (
    "You are welcome. If you have another question about a public service, just ask it here."
)

_MARKS = re.compile(r"^[\W_]+|[\W_]+$|,")
_WORD = re.compile(r"[^\W\d_]+")
_THRESHOLD = 2
_FOREIGN_WORDS = 3


def judge(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer judgement_v1.

    Each sentence is weighed by itself, and one that asks something makes the message an inquiry:
    greetings around it, other topics or instructions beside it change nothing.
    """
    history = payload["chat_context_summary"]
    parts = clauses(payload["user_prompt"])
    inquiry = any(_asks(part, after_others=bool(history)) for part in parts)
    return {
        "stage": "judgement_v1",
        "stageStatus": "ready",
        "judgements": {"inquiry": inquiry},
        "assistantReply": None if inquiry else _guidance(bool(history)),
        "nextStep": "agency_detect_v1" if inquiry else "session_end",
        "telemetry": telemetry(payload),
    }


def _guidance(goes_on: bool) -> str:
    return ANYTHING_ELSE if goes_on else GUIDANCE


def _asks(clause: str, *, after_others: bool) -> bool:
    """Whether one clause asks something of an administration."""
    words = lexicon()
    text = _MARKS.sub("", fold(clause))
    if not text or words.small_talk.fullmatch(text):
        return False
    if words.answers.fullmatch(text):
        return after_others
    if words.about_the_assistant.search(text):
        return False
    if _is_foreign(text):
        return True
    found = set(stems(clause))
    weight = 2 * len(found & words.public) + len(found & words.public_too)
    weight -= 2 * len(found & words.off_topic)
    weight -= 2 * (words.off_topic_forms.search(text) is not None)
    weight += sum(
        form.search(text) is not None for form in (words.need, words.happened, words.personal)
    )
    weight += 2 * (words.information.search(text) is not None)
    # In a conversation about a service a message goes on with it unless it clearly does not.
    return weight + 3 * after_others >= _THRESHOLD


def _is_foreign(text: str) -> bool:
    """Whether the lists, which are English, say nothing of this text: then it counts as asked."""
    found = _WORD.findall(text)
    if not text.isascii():
        return True
    return len(found) >= _FOREIGN_WORDS and STOP_WORDS.isdisjoint(found)
