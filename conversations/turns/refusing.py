"""Messages that are not taken: why, and the help lines of one that tells of danger all the same.

A message that nobody stores can still be the last that somebody writes. Whatever refuses one, and
by whichever way it came, its help lines stand beside the refusal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db.models import QuerySet
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop

from conversations import page_languages
from conversations.chat.wording import words
from conversations.models import Turn
from conversations.turns import help_lines, languages
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.following import follower
from ieim.pipeline.message import risk
from ieim.pipeline.message.risk import Contact, Risk
from ieim.pipeline.message.screen import beginning

STILL_WORKING = gettext_noop(
    "We are still working on your last question. Please wait for its answer, then ask the next one."
)
NO_RELEASE = gettext_noop(
    "This service is not ready yet: nothing has been published. Please try again later."
)


class Refused(Exception):
    """A message that cannot be taken; nothing was changed.

    ``message`` is the plain sentence for the citizen, in ``language``: what is wrong and what now.
    ``args[0]`` is what it was made from: where no language is named, a sentence in English that is
    told in the page's, with the ``figures`` that it names. ``contacts`` is what somebody in danger
    has to see beside it, at once, in ``words``.
    """

    def __init__(
        self, message: str, language: str = "", figures: Mapping[str, int] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message if language else gettext(message)
        if figures:
            told = {key: number_format(n, force_grouping=True) for key, n in figures.items()}
            self.message = self.message.format(**told)
        self.language = language or page_languages.current()
        self.contacts: tuple[Contact, ...] = ()
        self.words = words(self.language)


class TooMany(Refused):
    """Messages come too quickly; ``retry_after`` is in seconds."""

    def __init__(self, retry_after: int, language: str) -> None:
        told = words(language)
        super().__init__(told.too_many_for(retry_after), told.language)
        self.retry_after = retry_after


def too_many(wait: int, *, text: str, turns: QuerySet[Turn]) -> TooMany:
    """Return the refusal of a message that comes too early, ``wait`` seconds; ``turns`` are its
    session's.

    Phrases alone are looked for, and in its beginning: who sends too much gets no more of us.
    """
    refused = TooMany(wait, _language(text, turns))
    help_beside(refused, risk.find(beginning(text)), text=text, turns=turns)
    return refused


def help_beside(
    refused: Refused, found: Sequence[Risk], *, text: str, turns: QuerySet[Turn]
) -> None:
    """Put the help lines of what was ``found`` in a message beside its refusal."""
    if found and follower.number() is not None:
        refused.contacts = lines(found, text=text, turns=turns)
        refused.words = words(_language(text, turns) or languages.written_in())


def lines(found: Sequence[Risk], *, text: str, turns: QuerySet[Turn]) -> tuple[Contact, ...]:
    """Return the help lines for what was ``found`` in a message, none where there is no release.

    They are those that new turns get, in the message's language as far as there are any.
    """
    number = follower.number() if found else None
    if number is None:
        return ()
    codes = [each.code for each in found]
    release = knowledge.release(number)
    return help_lines.contacts(codes, release, _language(text, turns), text=beginning(text))


def _language(text: str, turns: QuerySet[Turn]) -> str:
    return languages.spoken(beginning(text), turns=turns)
