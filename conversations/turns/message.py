"""Reading a citizen's message: once, before anything is done with it.

Later checks (is it accepted, is somebody in danger, which language is it in) use the
:class:`IncomingMessage` that :func:`read` returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from django.db.models import QuerySet
from django.utils import translation
from django.utils.translation import gettext

from conversations import page_languages
from conversations.chat.wording import PAGE
from conversations.models import Turn
from conversations.turns import help_lines, languages
from ieim.knowledge import crisis
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.following import follower
from ieim.pipeline.knowledge import Release
from ieim.pipeline.message import identifiers
from ieim.pipeline.message.identifiers import Identifier
from ieim.pipeline.message.risk import Contact, Risk
from ieim.pipeline.message.screen import NotTaken, beginning, refusal

Choice = Literal["send", "remove"]
"""To send a message as it is, or without the numbers that were found in it."""

CHOICES: Final[tuple[str, ...]] = get_args(Choice)
FIELD: Final = "personal_data"
"""The name of the choice in forms, frames and bodies."""


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A message as it was read.

    ``text`` is what would be stored: what was ``sent``, or, where its sender chose so, without the
    ``identifiers`` found in it. ``problem`` says why it cannot be taken. ``risks`` are found in
    ``text``, by the embedder or the words that ``risks_by`` names. ``language`` (ISO 639-1) is
    empty where it cannot be detected, ``situation`` (:data:`ieim.pipeline.knowledge.CIRCUMSTANCES`)
    where it tells of none; ``release`` is the newest one, None where there is none.
    """

    text: str
    sent: str
    problem: NotTaken | None
    identifiers: tuple[Identifier, ...]
    choice: Choice | None
    risks: Sequence[Risk]
    risks_by: str
    situation: str
    language: str
    release: Release | None

    def is_stored_as(self, text: str) -> bool:
        """Whether a turn's ``text`` is what this was sent as, whatever was chosen then."""
        return text == self.sent or identifiers.is_without(text, self.sent, self.identifiers)

    def help_lines(self, risks: Sequence[Risk]) -> tuple[Contact, ...]:
        """Return the help lines for ``risks`` of it: those that a new turn gets."""
        start = beginning(self.text)
        codes = [sign.code for sign in risks]
        return help_lines.contacts(codes, self.release, self.language, text=start)


def read(
    text: str,
    choice: Choice | None = None,
    *,
    turns: QuerySet[Turn],
    replaces: Turn | None = None,
) -> IncomingMessage:
    """Read a message; ``turns`` are those of its session, ``replaces`` the one it asks again.

    Not to be called while a row is locked: it may wait for an embedder.
    """
    release = current_release()
    language = languages.detect(beginning(text), release, replaces or turns)
    hits = identifiers.find(beginning(text))
    remaining = identifiers.without(text, hits, mark(language)) if choice == "remove" else text
    screening = crisis.screen(beginning(remaining))
    return IncomingMessage(
        text=remaining,
        sent=text,
        problem=refusal(remaining),
        identifiers=hits,
        choice=choice,
        risks=screening.risks,
        risks_by=screening.by,
        situation=screening.situation,
        language=language,
        release=release,
    )


def current_release() -> Release | None:
    """Return the release that a new turn gets, None where nothing is published."""
    number = follower.number()
    return None if number is None else knowledge.release(number)


def mark(language: str) -> str:
    """Return what takes the place of a number, in the language of the message."""
    page_language = page_languages.find(language)
    with translation.override(page_language.code if page_language else PAGE):
        return gettext("[number removed]")


def chosen(value: str | None) -> Choice | None:
    """Return the choice that a form's field names; None for anything else, which asks again."""
    return next((arg for arg in get_args(Choice) if arg == value), None)
