"""Items in crisis: a risk flag of the message escalates, so that a life may be at stake."""

from __future__ import annotations

from collections.abc import Sequence

from conversations.models import Turn
from conversations.states import TurnState
from conversations.turns import flags
from conversations.turns.help_lines import contacts, of_feedback
from ieim.knowledge import selectors as knowledge
from ieim.pipeline.findings import UNREAD, Code
from ieim.pipeline.knowledge import Label
from ieim.pipeline.topology import AWAITED, CLASSIFY, REPLY
from review.models import REFUSED, SIGN, ReviewItem

READING = AWAITED | {CLASSIFY}
"""The steps without which nobody knows whether a message shows danger, or gets its answer."""
_FOR_NOBODY = frozenset(
    code.value for code in (Code.CITIZEN_DANGER, Code.CITIZEN_FEEDBACK, Code.REPLY_EMPTY)
)
"""The reasons of items for which no answer waits."""


def is_crisis(item: ReviewItem) -> bool:
    """Whether an item is in crisis: every agency's caseworkers see it, and it comes first."""
    return item.rank <= SIGN


def of_sign(item: ReviewItem) -> bool:
    """Whether an item in crisis is only of a weak sign: nobody waits for it."""
    return item.rank == SIGN


def of_refusal(item: ReviewItem) -> bool:
    """Whether an item is of a message that a model refused to read (:func:`is_refused`)."""
    return item.rank == REFUSED


def is_sign(turn: Turn, *, stage: str, reasons: Sequence[str]) -> bool:
    """Whether an item is there for a weak sign of danger alone, and no citizen waits for it.

    Not so where a model or a phrase saw the danger too, or a citizen has written to a person: then
    it comes with those for which somebody waits.
    """
    awaited = Code.CITIZEN_DANGER not in reasons or not _FOR_NOBODY.issuperset(reasons)
    if stage in AWAITED and (stage != REPLY or awaited):
        return False
    escalating = {label.code for label in labels(turn)}
    sure = [sign for sign in flags.signs_of(turn) if sign.code in escalating and not sign.weak]
    return not sure and turn.state != TurnState.WITH_PERSON.value


def is_refused(turn: Turn, *, stage: str, reasons: Sequence[str]) -> bool:
    """Whether an item is there because a model, or its server, would not read a message that shows
    no danger of its own: nobody knows what it says, so it comes right after those in crisis."""
    return stage in READING and not UNREAD.isdisjoint(reasons) and not labels(turn)


def codes(turn: Turn) -> tuple[str, ...]:
    """Return the codes of a turn's risk flags, each once, in the order of the message.

    What the citizen wrote of the answer counts as the message does, and comes after it. What a
    model refused to read is no flag: the help lines that are shown for it tell nothing of it.
    """
    signs = (sign.code for sign in flags.signs_of(turn) if sign.source != "refusal")
    return tuple(dict.fromkeys([*signs, *(code for code, _ in flags.of_feedback(turn))]))


def labels(turn: Turn) -> tuple[Label, ...]:
    """Return the labels of those flags that escalate."""
    return _escalating(turn, codes(turn))


def _escalating(turn: Turn, flagged: Sequence[str]) -> tuple[Label, ...]:
    if not flagged:
        return ()
    defined = knowledge.release(turn.release_number).labels.get("risk_flags", {})
    return tuple(defined[code] for code in flagged if code in defined and defined[code].escalates)


def help_lines(turn: Turn) -> tuple[str, ...]:
    """Return the help lines that the citizen was shown at once, and then the same as staff have
    written them, where the citizen's language is another. A person's answer may say what they say
    without a source."""
    flagged = [*codes(turn), *(sign.code for sign in flags.signs_of(turn))]
    escalating = _escalating(turn, tuple(dict.fromkeys(flagged)))
    if not escalating:
        return ()
    release = knowledge.release(turn.release_number)
    contact_lines = contacts(
        [label.code for label in escalating], release, turn.language, text=turn.text
    )
    texts = [contact.text for contact in (*contact_lines, *of_feedback(turn))]
    texts += [label.description for label in escalating]
    return tuple(dict.fromkeys(text for text in texts if text))
