"""Announcements to screen readers: at most three for a question, each with its number.

The first one says that the question has arrived; help lines replace it where there are any. The
last one says that there is an answer. Between them comes the first of: a choice that the assistant
offers, a person who will answer, help lines that came later (they mention the person as well). A
delay is not announced, because a choice and an answer can follow and have to be. After a choice the
focus moves to its outcome.

A correction or a line of a takeover is announced separately. So are help lines that a person adds
to a question that was held.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from django.utils.html import format_html
from django.utils.safestring import SafeString

from conversations.chat.presenters import TurnView
from conversations.chat.wording import ANNOUNCED
from conversations.states import TurnState


def announcement(before: Sequence[TurnView], now: Sequence[TurnView]) -> str:
    """Return the announcement of a change, empty for none."""
    earlier = {turn.id: turn for turn in before}
    changed = [turn for turn in now if turn != earlier.get(turn.id)]
    if not changed:
        return ""
    turn = changed[-1]
    old = earlier.get(turn.id)
    words = _news(turn)
    if old is None and not words and not turn.contacts:
        words = turn.words.translate(ANNOUNCED.get(turn.state, ANNOUNCED["received"]))
    if not words or (old is not None and words == _news(old)):
        return ""
    return turn.with_number(words)


def status_fragment(words: str) -> SafeString:
    """Return the HTML that replaces what screen readers are told, without a refresh."""
    return format_html('<p id="status" hx-swap-oob="innerHTML">{}</p>\n', words)


def after_choosing(turn: TurnView) -> str:
    """Return what stands after a choice in place of the words that asked for it, empty while the
    answer is being made."""
    waits = turn.state == TurnState.NEEDS_REVIEW
    return turn.with_number(turn.words.translate(ANNOUNCED["needs_review"])) if waits else ""


def turns_without_alert(
    before: Sequence[TurnView] | None, now: Sequence[TurnView]
) -> Collection[UUID]:
    """Return the turns whose help lines are shown without an alert, because they are not new.

    ``before`` is None for a page that has just been opened: there the help lines of a pending turn
    are new. Those that follow feedback need no alert either: the focus moves to them.
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
    translate = turn.words.translate
    if turn.lines:
        return turn.lines[-1].announcement
    if turn.corrections:
        return translate(ANNOUNCED["corrected"])
    if turn.reply:
        return translate(ANNOUNCED["ready"])
    if turn.state == TurnState.NEEDS_REVIEW and turn.intermediate:
        return ""
    return translate(ANNOUNCED[turn.state]) if turn.state in _NEWS_STATES else ""


_NEWS_STATES = frozenset({TurnState.ASKING.value, TurnState.NEEDS_REVIEW.value})
"""The states that are announced of a question that has arrived."""
