"""Messages that are not taken: why, and the help lines of one that tells of danger all the same.

A message that nobody stores can still be the last that somebody writes. Whatever refuses one, and
by whichever way it came, its help lines come with the refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from django.db.models import QuerySet
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from conversations import page_languages
from conversations.chat.wording import words
from conversations.models import Turn
from conversations.turns import help_lines, languages
from conversations.turns.message import IncomingMessage, current_release, mark
from ieim.pipeline.message import identifiers, risk
from ieim.pipeline.message.identifiers import Kind
from ieim.pipeline.message.risk import Contact
from ieim.pipeline.message.screen import beginning

_BUSY = gettext_lazy(
    "Very many people are asking at the moment, so your question was not sent. Please try again in "
    "a few minutes."
)

STILL_WORKING = gettext_noop(
    "We are still working on your last question. Please wait for its answer, then ask the next one."
)
NO_RELEASE = gettext_noop(
    "This service is not ready yet: nothing has been published. Please try again later."
)
NUMBERS_FOUND = gettext_noop(
    "Your message has what looks like an identity, card or account number in it. "
    "Nothing was sent yet. Say whether to send it without the number or as it is, or "
    "change it."
)
CLIENT_ID_REUSED = (
    "This client_id was used for another text. Use a new client_id for a new message, "
    "and the same one only to send the same text again."
)

_NAMES: Final[dict[Kind, Promise]] = {
    "identity": gettext_lazy("Identity number"),
    "card": gettext_lazy("Card number"),
    "account": gettext_lazy("Account number"),
}


class Refused(Exception):
    """A message that cannot be taken; nothing was changed.

    ``message`` is the plain sentence for the citizen, in ``language``: what is wrong and what now.
    ``args[0]`` is what it was made from: where no language is named, a sentence in English that is
    translated into the page's, with its ``figures``. ``contacts`` is what somebody in danger has to
    see with it, at once, in ``words``.
    """

    def __init__(
        self, message: str, language: str = "", figures: Mapping[str, int] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message if language else gettext(message)
        if figures:
            formatted = {key: number_format(n, force_grouping=True) for key, n in figures.items()}
            self.message = self.message.format(**formatted)
        self.language = language or page_languages.current()
        self.contacts: tuple[Contact, ...] = ()
        self.words = words(self.language)

    def add_help(self, contacts: tuple[Contact, ...], language: str) -> None:
        """Add the help lines of the message, with words in its language where it has one."""
        if contacts:
            self.contacts = contacts
            self.words = words(language or languages.written_in())


class TooMany(Refused):
    """Messages come too quickly; ``retry_after`` is in seconds."""

    def __init__(self, retry_after: int, language: str, *, busy: bool = False) -> None:
        wording = words(language)
        sentence = wording.translate(_BUSY) if busy else wording.too_many(retry_after)
        super().__init__(sentence, wording.language)
        self.retry_after = retry_after


class SwitchedOff(Refused):
    """An administrator has switched off the way by which the message came."""

    def __init__(self, language: str) -> None:
        wording = words(language)
        super().__init__(wording.switched_off(), wording.language)


class ClientIdReused(Refused):
    """The client's name for its message is that of another text."""

    def __init__(self) -> None:
        super().__init__(CLIENT_ID_REUSED)


class NumberView(NamedTuple):
    """A number as its sender is shown it."""

    name: str
    text: str


class NotChosen(Refused):
    """A message has identity, card or account numbers in it, and its sender has not chosen yet.

    ``found`` are they, ``sent`` is the message and ``shorter`` what it is without them, with
    ``mark`` in their place: for its sender alone, and kept nowhere.
    """

    def __init__(self, message: IncomingMessage) -> None:
        super().__init__(NUMBERS_FOUND)
        self.found = message.identifiers
        self.sent = message.sent
        self.mark = mark(message.language)
        self.shorter = identifiers.without(self.sent, self.found, self.mark)

    @property
    def numbers(self) -> list[NumberView]:
        """The numbers, each with its name."""
        return [
            NumberView(str(_NAMES[identifier.kind]), self.sent[identifier.start : identifier.end])
            for identifier in self.found
        ]

    @property
    def segments(self) -> Iterator[tuple[str, bool]]:
        """The shorter message in pieces: its text, and whether it is a mark."""
        end = 0
        for identifier in self.found:
            yield self.sent[end : identifier.start], False
            yield self.mark, True
            end = identifier.end
        yield self.sent[end:], False

    def details(self) -> dict[str, Any]:
        """Return what programs get: where the numbers are, and what would take their place."""
        return {"found": [identifier._asdict() for identifier in self.found], "mark": self.mark}


@contextmanager
def with_help(message: IncomingMessage) -> Iterator[None]:
    """Add the help lines of a message to whatever refuses it in the block."""
    try:
        yield
    except Refused as refused:
        refused.add_help(message.help_lines(message.risks), message.language)
        raise


def without_reading(
    refusal: Callable[[str], Refused], *, text: str, turns: QuerySet[Turn]
) -> Refused:
    """Return the ``refusal``, made in its language, of a message that is not read; ``turns`` are
    its session's.

    Phrases alone are looked for, and in its beginning: who sends too much gets no more of us.
    """
    start, release = beginning(text), current_release()
    language = languages.detect(start, release, turns)
    refused = refusal(language)
    codes = [sign.code for sign in risk.find(start)]
    refused.add_help(help_lines.contacts(codes, release, language, text=start), language)
    return refused
