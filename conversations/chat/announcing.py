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
    earlier = {turn.id: turn for turn in before}
    changed = [turn for turn in now if turn != earlier.get(turn.id)]
    if not changed:
        return ""
    turn = changed[-1]
    old = earlier.get(turn.id)
    words = _news(turn)
    if old is None and not words and not turn.contacts:
        phrases = turn.words.announced
        words = phrases.get(turn.state, phrases["received"])
    if not words or (old is not None and words == _news(old)):
        return ""
    return turn.named(words)


def turns_without_alert(
    before: Sequence[TurnView] | None, now: Sequence[TurnView]
) -> Collection[UUID]:
    """Return the turns whose help lines are no news to who listens; ``before`` is None for a page
    that is only opened, where those of a question that is being worked on are.

    Those for what somebody has said of an answer are none either: whoever said it is led there.
    """
    earlier = {turn.id: turn for turn in before or ()}
    return {
        turn.id
        for turn in now
        if (
            set(turn.contacts) <= set(earlier[turn.id].contacts)
            or turn.feedback != earlier[turn.id].feedback
            if turn.id in earlier
            else before is None and not turn.pending
        )
    }


def _news(turn: TurnView) -> str:
    phrases = turn.words.announced
    if turn.lines:
        return turn.lines[-1].announcement
    if turn.corrections:
        return phrases["corrected"]
    if turn.reply:
        return phrases["ready"]
    if turn.state == TurnState.NEEDS_REVIEW and turn.between:
        return ""
    return phrases[turn.state] if turn.state in _NEWS_STATES else ""


_NEWS_STATES = frozenset({TurnState.ASKING.value, TurnState.NEEDS_REVIEW.value})
"""The states that are news of a question that has arrived."""
