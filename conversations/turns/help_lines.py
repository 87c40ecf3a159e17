"""Help lines: what somebody in danger has to see, at once and until a person has answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from conversations.models import Turn
from conversations.turns import flags, languages
from conversations.turns.flags import waiting
from ieim.knowledge import selectors as knowledge
from ieim.pipeline.knowledge import Release
from ieim.pipeline.message import risk
from ieim.pipeline.message.language import likely
from ieim.pipeline.message.risk import Contact, Risk


def in_danger(turn: Turn) -> bool:
    """Whether an earlier message of danger in the turn's session waits for a person.

    One with a weak sign alone is none: what follows it is answered as it was.
    """
    since = in_danger_since(turn.session_id)
    return since is not None and since < turn.number


def in_danger_since(session_id: UUID) -> int | None:
    """Return the number of the first message of danger that waits for a person; None for none."""
    found = (each.number for each in waiting(session_id) if _own_lines(each, weak=False))
    return min(found, default=None)


def of_turn(turn: Turn, waiting: Sequence[Turn]) -> tuple[Contact, ...]:
    """Return what somebody in danger has to see at a turn.

    Those are the lines of its own flags, and of earlier turns that are ``waiting`` to be seen by a
    person, as they were told there: who goes on to write "are you there?" is in danger still.
    """
    return tuple(dict.fromkeys((*_own_lines(turn), *of_earlier(turn, waiting))))


def of_earlier(turn: Turn, waiting: Sequence[Turn]) -> tuple[Contact, ...]:
    """Return what stands at a turn for earlier ones that are ``waiting``."""
    earlier = (each for each in waiting if each.number < turn.number)
    return tuple(line for each in earlier for line in _own_lines(each))


def came_late(turn: Turn, waiting: Sequence[Turn]) -> bool:
    """Whether a model has brought help lines to a turn that did not stand there when it came."""
    if all(found.source != "model" for found in flags.of(turn)):
        return False
    earlier = (each for each in waiting if each.number < turn.number)
    known = {line for each in earlier for line in _own_lines(each)}
    return not known.union(_lines(turn, flags.of_rules(turn))).issuperset(_own_lines(turn))


def of_feedback(turn: Turn) -> tuple[Contact, ...]:
    """Return the help lines for what the citizen wrote of an answer: it can tell of danger too."""
    codes = [code for code, _ in flags.of_feedback(turn)]
    if not codes:
        return ()
    release = knowledge.release(turn.release_number)
    return contacts(codes, release, turn.language, text=turn.reply.feedback.text)


def _own_lines(turn: Turn, *, weak: bool = True) -> tuple[Contact, ...]:
    return _lines(turn, [found for found in flags.of(turn) if weak or not found.weak])


def _lines(turn: Turn, found: Sequence[Risk]) -> tuple[Contact, ...]:
    codes = [each.code for each in found]
    if not codes:
        return ()
    release = knowledge.release(turn.release_number)
    return contacts(codes, release, turn.language, text=turn.text)


def contacts(
    codes: Sequence[str], release: Release, language: str, *, text: str
) -> tuple[Contact, ...]:
    """Return what somebody in danger has to see at once, each with the language that it is in.

    ``language`` is the one that the message is answered in, empty where it is not known. What
    people write in danger is often too short to tell: they read it in every language that ``text``
    may well be in.
    """
    known = {each.language for each in release.help_lines} | {languages.written_in()}
    read = likely(text, known)
    found = risk.contacts(codes, release, list(dict.fromkeys([*read, language])))
    return tuple(replace(each, language=each.language or languages.written_in()) for each in found)
