"""What a screen reader is told of a question: at most three times, each time of which one.

First that it has arrived; in its place the help lines, where there are any. Last its answer. And
between these the first thing that somebody has to know of: that the assistant asks back, that a
person will answer, or help lines that came later (they say of the person as well). What takes
longer is not told: it can be followed by a choice and an answer, and these have to be. Whoever has
chosen is led to what came of it by the focus.

What staff send of their own accord, a correction or a line of a takeover, is told for itself. So
are help lines that a person adds to a question which was held: nothing keeps these back.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from conversations.chat.presenters import TurnView
from conversations.states import TurnState


def announcement(before: Sequence[TurnView], now: Sequence[TurnView]) -> str:
    """Return what is said of a change, in a few words; empty for nothing."""
    known = {turn.id: turn for turn in before}
    changed = [turn for turn in now if turn != known.get(turn.id)]
    if not changed:
        return ""
    turn = changed[-1]
    old = known.get(turn.id)
    words = _told(turn)
    if old is None and not words and not turn.contacts:
        told = turn.words.announced
        words = told.get(turn.state, told["received"])
    if not words or (old is not None and words == _told(old)):
        return ""
    return turn.named(words)


def heard(before: Sequence[TurnView] | None, now: Sequence[TurnView]) -> Collection[UUID]:
    """Return the turns whose help lines are no news to who listens; ``before`` is None for a page
    that is only opened, where those of a question that is being worked on are.

    Those for what somebody has said of an answer are none either: whoever said it is led there.
    """
    known = {turn.id: turn for turn in before or ()}
    return {
        turn.id
        for turn in now
        if (
            set(turn.contacts) <= set(known[turn.id].contacts)
            or turn.feedback != known[turn.id].feedback
            if turn.id in known
            else before is None and not turn.pending
        )
    }


def _told(turn: TurnView) -> str:
    told = turn.words.announced
    if turn.lines:
        return turn.lines[-1].told
    if turn.corrections:
        return told["corrected"]
    if turn.reply:
        return told["ready"]
    if turn.state == TurnState.NEEDS_REVIEW and turn.between:
        return ""
    return told[turn.state] if turn.state in _TOLD else ""


_TOLD = frozenset({TurnState.ASKING.value, TurnState.NEEDS_REVIEW.value})
"""The states that are news of a question that has arrived."""
