"""Help lines: what somebody in danger has to see, at once and until a person has answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from conversations import page_languages, ports
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
    return bool(of_earlier(turn, waiting(turn.session_id)))


def in_danger_at(moments: Sequence[tuple[int, datetime]], session_id: UUID) -> list[bool]:
    """Return of each moment whether a message of danger waited for a person then.

    A moment is the number of the last turn, and the time. It goes by stored times alone, so that
    what is said of a moment stays as it was.
    """
    flagged = Turn.objects.filter(session_id=session_id).exclude(risks=[])
    flagged = flagged.select_related("reply", "person_request")
    strong = [turn for turn in flagged if _own_lines(turn, weak=False)]
    return [
        _waited([turn for turn in strong if turn.number <= last], time) for last, time in moments
    ]


def _waited(turns: Sequence[Turn], time: datetime) -> bool:
    ended_ids = {turn.pk for turn in turns if (ended := _ended(turn)) is not None and ended <= time}
    open_ids = {turn.pk for turn in turns} - ended_ids
    return bool(open_ids and ports.reviews().due(turn_ids=open_ids, at=time))


def _ended(turn: Turn) -> datetime | None:
    """Return when a turn was answered, the request for a person that it is had ended, or the
    citizen said that they are safe."""
    moments = [turn.said_safe_at]
    if hasattr(turn, "reply"):
        moments.append(turn.reply.created_at)
    elif hasattr(turn, "person_request"):
        moments.append(turn.person_request.ended_at)
    return min((moment for moment in moments if moment is not None), default=None)


def of_turn(turn: Turn, waiting: Sequence[Turn]) -> tuple[Contact, ...]:
    """Return what somebody in danger has to see at a turn.

    Those are the lines of its own flags, and of earlier turns of danger that are ``waiting`` to be
    seen by a person, as they were told there: who goes on to write "are you there?" is in danger
    still. A weak sign shows its lines at its own message alone.
    """
    return tuple(dict.fromkeys((*_own_lines(turn), *of_earlier(turn, waiting))))


def of_earlier(turn: Turn, waiting: Sequence[Turn]) -> tuple[Contact, ...]:
    """Return what stands at a turn for earlier ones of danger that are ``waiting``."""
    earlier = (past for past in waiting if past.number < turn.number)
    return tuple(line for past in earlier for line in _own_lines(past, weak=False))


def has_own(turn: Turn) -> bool:
    """Whether a turn shows help lines of its own."""
    return bool(_own_lines(turn))


def are_below(turn: Turn, waiting: Sequence[Turn]) -> bool:
    """Whether the help lines of a turn stand below its answer.

    They do where the turn is answered, and all that they stand for is a weak sign of the screen
    in which a model whose classify passed saw no danger.
    """
    if not hasattr(turn, "reply") or flags.of_model(turn) or of_earlier(turn, waiting):
        return False
    sources = {sign.source for sign in flags.signs_of(turn) if of_signs(turn, [sign])}
    return sources == {"faint"}


def came_late(turn: Turn, waiting: Sequence[Turn]) -> bool:
    """Whether a model has brought help lines to a turn that did not stand there when it came."""
    if len(flags.of_rules(turn)) == len(flags.signs_of(turn)):
        return False
    lines = set(of_earlier(turn, waiting))
    return not lines.union(of_signs(turn, flags.of_rules(turn))).issuperset(_own_lines(turn))


def of_feedback(turn: Turn) -> tuple[Contact, ...]:
    """Return the help lines for what the citizen wrote of an answer: it can tell of danger too."""
    codes = [code for code, _ in flags.of_feedback(turn)]
    if not codes:
        return ()
    release = knowledge.release(turn.release_number)
    return contacts(codes, release, turn.language, text=turn.reply.feedback.text)


def _own_lines(turn: Turn, *, weak: bool = True) -> tuple[Contact, ...]:
    return of_signs(turn, [sign for sign in flags.signs_of(turn) if weak or not sign.weak])


def of_signs(turn: Turn, signs: Sequence[Risk]) -> tuple[Contact, ...]:
    """Return the help lines that ``signs`` of a turn show."""
    codes = [sign.code for sign in signs]
    if not codes:
        return ()
    release = knowledge.release(turn.release_number)
    return contacts(codes, release, turn.language, text=turn.text)


def contacts(
    codes: Sequence[str], release: Release | None, language: str, *, text: str
) -> tuple[Contact, ...]:
    """Return what somebody in danger has to see at once, each with the language that it is in.

    Nothing without a release: none is published.

    ``language`` is the one that the message is answered in, empty where it is not known. What
    people write in danger is often too short to tell: they read it in every language that ``text``
    may well be in: the one of the page at hand first, whichever they are.
    """
    if not codes or release is None:
        return ()
    available = {line.language for line in release.help_lines} | {languages.written_in()}
    likely_languages = likely(text, available)
    risk_contacts = risk.contacts(
        codes, release, list(dict.fromkeys([*likely_languages, language]))
    )
    lines = [
        replace(contact, language=contact.language or languages.written_in())
        for contact in risk_contacts
    ]
    page = page_languages.of_this_page()
    return tuple(sorted(lines, key=lambda contact: page_languages.find(contact.language) != page))
