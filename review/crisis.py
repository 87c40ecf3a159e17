"""Items in crisis: a risk flag of the message escalates, so that a life may be at stake."""

from __future__ import annotations

from conversations.models import Turn
from conversations.turns import flags
from conversations.turns.help_lines import contacts, of_feedback
from ieim.knowledge import selectors as knowledge
from ieim.pipeline.knowledge import Label
from review.models import CRISIS, ReviewItem


def is_crisis(item: ReviewItem) -> bool:
    """Whether an item is one: then every agency's caseworkers see it, and it comes first."""
    return item.rank == CRISIS


def labels(turn: Turn) -> tuple[Label, ...]:
    """Return the labels of a turn's flags that escalate, each once, in the order of the message.

    What the citizen wrote of the answer counts as the message does, and comes after it.
    """
    told = [code for code, _ in flags.of_feedback(turn)]
    codes = dict.fromkeys([*(risk["code"] for risk in turn.risks), *told])
    if not codes:
        return ()
    known = knowledge.release(turn.release_number).labels.get("risk_flags", {})
    return tuple(known[code] for code in codes if code in known and known[code].escalates)


def help_lines(turn: Turn) -> tuple[str, ...]:
    """Return the help lines that the citizen was shown at once, and then the same as staff have
    written them, where the citizen's language is another. A person's answer may say what they say
    without a source."""
    found = labels(turn)
    if not found:
        return ()
    release = knowledge.release(turn.release_number)
    shown = contacts([label.code for label in found], release, turn.language, text=turn.text)
    told = [each.text for each in (*shown, *of_feedback(turn))]
    texts = [*told, *(label.description for label in found)]
    return tuple(dict.fromkeys(text for text in texts if text))
