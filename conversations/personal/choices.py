"""What a sender chooses for a message with identity, card or account numbers in it.

Until then nothing of it is stored, and no model reads it. One place for every way that a message
comes by: the pages, both sockets, REST and the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from django.db.models import QuerySet
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from conversations import page_languages
from conversations.chat.wording import PAGE
from conversations.models import Turn
from conversations.turns import flags, help_lines, languages, refusing
from conversations.turns.refusing import Refused
from ieim.pipeline.message import identifiers
from ieim.pipeline.message.identifiers import Identifier, Kind
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.message.screen import beginning

Choice = Literal["send", "remove"]
"""To send a message as it is, or without the numbers that were found in it."""

CHOICES: Final[tuple[str, ...]] = get_args(Choice)
FIELD: Final = "personal_data"
"""What forms, frames and bodies call the choice."""

_NAMES: Final[dict[Kind, Promise]] = {
    "identity": gettext_lazy("Identity number"),
    "card": gettext_lazy("Card number"),
    "account": gettext_lazy("Account number"),
}


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it would be stored: ``text`` with what was ``found`` in the one that was sent.

    ``choice`` is None where the sender has not chosen.
    """

    text: str
    found: tuple[Identifier, ...] = ()
    choice: Choice | None = None

    @property
    def unasked(self) -> bool:
        """Whether there are numbers in it that its sender was not asked about."""
        return bool(self.found) and self.choice is None

    def recorded(self) -> dict[str, Any]:
        """Return what the audit is told: what was chosen, and for which kinds; never the words."""
        if not self.found or self.choice is None:
            return {}
        return {FIELD: {"chosen": self.choice, "kinds": [each.kind for each in self.found]}}


@dataclass(frozen=True, slots=True)
class NumberView:
    """A number as its sender is shown it."""

    name: str
    text: str


class NotChosen(Refused):
    """A message has identity, card or account numbers in it, and its sender has not chosen yet.

    ``found`` are they, ``sent`` is the message and ``shorter`` what it is without them, with
    ``mark`` in their place: for its sender alone, and kept nowhere.
    """

    def __init__(self, sent: str, found: tuple[Identifier, ...], mark: str) -> None:
        super().__init__(
            gettext_noop(
                "Your message has what looks like an identity, card or account number in it. "
                "Nothing was sent yet. Say whether to send it without the number or as it is, or "
                "change it."
            )
        )
        self.found = found
        self.sent = sent
        self.mark = mark
        self.shorter = identifiers.without(sent, found, mark)

    @property
    def numbers(self) -> list[NumberView]:
        """The numbers, each with its name."""
        return [
            NumberView(str(_NAMES[each.kind]), self.sent[each.start : each.end])
            for each in self.found
        ]

    @property
    def segments(self) -> Iterator[tuple[str, bool]]:
        """The shorter message in pieces: its text, and whether it is a mark."""
        at = 0
        for each in self.found:
            yield self.sent[at : each.start], False
            yield self.mark, True
            at = each.end
        yield self.sent[at:], False

    def told(self) -> dict[str, Any]:
        """Return what programs are told: where the numbers are, and what would stand for them."""
        return {"found": [each._asdict() for each in self.found], "mark": self.mark}


def read(text: str, choice: Choice | None, *, turns: QuerySet[Turn]) -> Message:
    """Return the message that ``text`` is after its sender's ``choice``; ``turns`` are its
    session's."""
    found = identifiers.find(beginning(text))
    if choice == "remove" and found:
        text = identifiers.without(text, found, _mark(text, turns))
    return Message(text, found, choice)


def require(message: Message, risks: Sequence[Risk], *, turns: QuerySet[Turn]) -> None:
    """Raise :class:`NotChosen` where the sender of a message has still to choose.

    Nobody in danger is asked: neither where ``risks`` were found in the message, nor while an
    earlier one of danger waits to be seen by a person.
    """
    if message.unasked and not _in_danger(message, risks, turns):
        raise NotChosen(message.text, message.found, _mark(message.text, turns))


def _in_danger(message: Message, risks: Sequence[Risk], turns: QuerySet[Turn]) -> bool:
    if refusing.lines(risks, text=message.text, turns=turns):
        return True
    session = turns.values_list("session_id", flat=True).first()
    waiting = flags.waiting(session) if session else []
    return any(help_lines.of_turn(turn, ()) for turn in waiting)


def is_same(stored: str, text: str) -> bool:
    """Whether ``text`` is what a turn's ``stored`` words were sent as, whatever was chosen."""
    return stored == text or identifiers.is_without(stored, text, identifiers.find(beginning(text)))


def chosen(value: str | None) -> Choice | None:
    """Return the choice that a form's field says; None for none, and for what is no choice.

    Who says nothing that is known is asked: that changes nothing.
    """
    return next((each for each in get_args(Choice) if each == value), None)


def _mark(text: str, turns: QuerySet[Turn]) -> str:
    """Return what stands for a number, in the language of the message."""
    found = page_languages.find(languages.spoken(beginning(text), turns=turns))
    with translation.override(found.code if found else PAGE):
        return gettext("[number removed]")
