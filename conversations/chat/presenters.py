"""What the chat page shows, as plain values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations import page_languages, returning
from conversations.chat import wording
from conversations.chat.reply_presenters import CardView, ReplyView
from conversations.chat.wording import PAGE, Words, words
from conversations.models import Reason
from conversations.page_languages import PageLanguage
from conversations.person.models import LineKind
from conversations.returning import Visit
from conversations.turns.choosing import ChoiceView
from ieim.administration.hours import Status
from ieim.pipeline.knowledge import CaseText
from ieim.pipeline.message.risk import Contact

_ANSWERED_BY = gettext_lazy("You get the answer on this page by {time}.")
_LATE = gettext_lazy(
    "It takes longer than it should. You get the answer on this page as soon as we have it."
)
_CLOSED_UNTIL = gettext_lazy(
    "Nobody may be reading here now: the office is closed until {time}. Please do not wait for us. "
    "Call the number above."
)
_CLOSED = gettext_lazy(
    "Nobody may be reading here now: the office is closed. Please do not wait for us. Call the "
    "number above."
)
_CHOOSE_UNTIL = gettext_lazy("If you choose nothing by {time}, a person takes over.")


@dataclass(frozen=True, slots=True)
class RequestView:
    """A request for a person; never with the contact. ``about`` is the number of a turn or None."""

    state: str
    way: str
    about: int | None
    wanted_from: datetime | None
    wanted_until: datetime | None


@dataclass(frozen=True, slots=True)
class LineView:
    """A line of a takeover: ``joined``, ``said`` or ``left``; ``text`` is of ``said`` alone, and so
    are the cards of services in ``reply``.

    ``how`` says of ``left`` why: ``handed_back``, ``silence`` and so on. ``read``: when they
    left, a message of danger still waited, so that a person reads what follows.
    """

    id: str
    kind: str
    text: str
    at: datetime
    how: str = ""
    read: bool = False
    reply: ReplyView | None = None

    @property
    def announcement(self) -> str:
        """The text for screen readers."""
        if self.kind == LineKind.SAID.value:
            titles = (card.title for card in (self.reply.cards if self.reply else ()))
            return _("A person wrote: {text}").format(text="\n".join([self.text, *titles]))
        if self.kind == LineKind.JOINED.value:
            return _("A person has joined. The assistant is silent.")
        if self.read:
            return _(
                "The person has left. A person reads what you write from here on, and answers it. "
                "The assistant answers only what is clearly about a service."
            )
        return _("The person has left. The assistant answers again.")


@dataclass(frozen=True, slots=True)
class ReachView:
    """How people can be reached meanwhile: ``telephone`` as it is written, ``link`` as it is
    dialled, both empty where there is none; ``hours`` are sentences, and so is ``closed``, empty
    while people are there."""

    telephone: str
    link: str
    hours: tuple[str, ...]
    closed: str


@dataclass(frozen=True, slots=True)
class WaitingView:
    """Why a question waits (``reason``, a name of the words), and what there is until then.

    ``reach`` is None where nothing is set. ``may_help`` are services as they stand in the service
    list, at most three, none where somebody may be in danger.
    """

    reason: str
    reach: ReachView | None
    may_help: tuple[CardView, ...]


@dataclass(frozen=True, slots=True)
class StepView:
    """One step in the citizen's words; ``status`` is what the marker shows."""

    words: str
    status: Literal["pending", "running", "done", "stopped"]
    language: str = PAGE

    @property
    def status_text(self) -> str:
        return words(self.language).translate(wording.STATUSES[self.status])


@dataclass(frozen=True, slots=True)
class CorrectionView:
    """What staff have since written of an answer that was wrong; ``language`` is its own."""

    text: str
    sent_at: datetime
    origin: Literal["staff"] = "staff"
    language: str = PAGE


@dataclass(frozen=True, slots=True)
class FeedbackView:
    """The citizen's reason and text for a verdict; each may be empty."""

    reason: str
    text: str

    @property
    def why(self) -> str:
        return str(Reason(self.reason).label) if self.reason else ""


@dataclass(frozen=True, slots=True)
class TurnView:
    """One question with its progress, what came of it, and corrections of that.

    ``due_at`` is by when a person should answer, None where nobody has to, that is over, or the
    turn is ``alone``: until when the office is closed to somebody in danger. ``language`` (ISO
    639-1) is that of the words around it. ``useful`` is the citizen's verdict, None for none,
    and ``feedback`` why; ``ticked`` are the references of the cards that they have seen to.
    ``replaces`` is the turn that this one asks again as something else, ``replaced_by`` the
    other way round. ``waiting``: why it waits for a person, None where it does not. ``person``:
    the request for one that this turn is. ``lines``: what a takeover put after it. ``mail`` is
    one of :data:`conversations.mail.selectors.STATES`. ``intermediate`` is what came before its
    outcome: a choice, late help lines, or a person. ``opening`` are the administration's words to
    somebody in a hard situation, which stand before the outcome. ``may_be_watched``: the danger may
    come from somebody who sees the screen. ``contacts_below``: the help lines stand below the
    answer, because a model saw no danger where the screen saw a weak sign.
    """

    id: UUID
    number: int
    text: str
    asked_at: datetime
    state: str
    steps: tuple[StepView, ...]
    reply: ReplyView | None
    contacts: tuple[Contact, ...] = ()
    contacts_below: bool = False
    corrections: tuple[CorrectionView, ...] = ()
    choice: ChoiceView | None = None
    due_at: datetime | None = None
    language: str = PAGE
    # Not compared: a verdict must not announce the answer again.
    useful: bool | None = field(default=None, compare=False)
    ticked: tuple[str, ...] = field(default=(), compare=False)
    feedback: FeedbackView | None = field(default=None, compare=False)
    replaces: UUID | None = None
    replaced_by: UUID | None = None
    longer: bool = False
    alone: Status | None = None
    waiting: WaitingView | None = None
    answered_at: datetime | None = None
    person: RequestView | None = None
    lines: tuple[LineView, ...] = ()
    intermediate: Literal["", "asked", "help", "held"] = ""
    has_own_help_lines: bool = False
    may_be_watched: bool = False
    said_safe: bool = False
    opening: CaseText | None = None
    # Not compared either.
    mail: str = field(default="none", compare=False)

    @property
    def reasons(self) -> Sequence[tuple[str, Any]]:
        """What the citizen may choose as the reason why an answer was no use."""
        return Reason.choices

    @property
    def words(self) -> Words:
        """The fixed words around what came of it."""
        return words(page_languages.wording_language(self.language))

    def with_number(self, text: str) -> str:
        """Return a text with the number of this question, for screen readers."""
        sentence = gettext_lazy("Question {number}: {words}")
        return self.words.translate(sentence, number=self.number, words=text)

    @property
    def mark(self) -> str:
        """The number of this question, before a text about it."""
        return self.with_number("")

    @property
    def thanks(self) -> str:
        """The reply to a verdict."""
        translate = (self.reply or self).words.translate
        thanks = translate(gettext_lazy("Thank you."))
        instead = translate(gettext_lazy("A caseworker can answer you instead."))
        return self.with_number(thanks if self.useful else f"{thanks} {instead}")

    @property
    def contact_texts(self) -> list[str]:
        """The texts of the help lines, as the API returns them."""
        return [contact.text for contact in self.contacts]

    @property
    def moments(self) -> Iterator[int]:
        """When each thing came that a citizen may come back for, as the page shows them."""
        if self.reply and self.answered_at:
            yield returning.moment(self.answered_at)
        yield from (returning.moment(correction.sent_at) for correction in self.corrections)
        yield from (returning.moment(line.at) for line in self.lines if line.kind == LineKind.SAID)

    @property
    def waiting_explanation(self) -> str:
        """The sentences that say why a person answers; empty where none has to."""
        if self.waiting is None:
            return ""
        return self.words.translate(wording.WHY_HELD[self.waiting.reason])

    @property
    def answer_by(self) -> str:
        """The sentence that says by when a person answers, or not to wait for that."""
        if self.alone and self.alone.until:
            return self.words.translate(_CLOSED_UNTIL, time=self.words.moment(self.alone.until))
        if self.alone:
            return self.words.translate(_CLOSED)
        if self.due_at is None:
            return self.words.translate(_LATE)
        return self.words.translate(_ANSWERED_BY, time=self.words.moment(self.due_at))

    @property
    def may_help(self) -> Sequence[CardView]:
        """Services that may be about a question that waits for a person: not the answer to it."""
        return self.waiting.may_help if self.waiting else ()

    @property
    def choose_until(self) -> str:
        """The sentence that says until when the citizen can choose; empty where they cannot."""
        if self.choice is None:
            return ""
        return self.words.translate(_CHOOSE_UNTIL, time=self.words.moment(self.choice.until))

    @property
    def pending(self) -> bool:
        """Whether the citizen still waits for the pipeline."""
        return self.state in {"queued", "running", "awaiting_model"}

    @property
    def dom_id(self) -> str:
        """The HTML id of the turn's article."""
        return f"turn-{self.id}"


class Suggestions(NamedTuple):
    """Example questions in ``language`` (ISO 639-1)."""

    texts: tuple[str, ...] = ()
    language: str = ""


@dataclass(frozen=True, slots=True)
class ChatView:
    """The whole page; ``reference`` and ``resume_path`` are empty before the first message.

    ``with_person``: a caseworker has the conversation; ``waits_for_person``: one is asked for.
    ``visit`` says what is new since the last visit, None on the first one.
    """

    reference: str
    resume_path: str
    turns: tuple[TurnView, ...]
    suggestions: Suggestions
    limit: int
    offline: bool
    with_person: bool = False
    waits_for_person: bool = False
    visit: Visit | None = None

    @property
    def newest(self) -> UUID | None:
        """The id of the last turn: what is asked there stands open, earlier choices are folded."""
        return self.turns[-1].id if self.turns else None

    @property
    def latest(self) -> int:
        """When the newest thing came that a citizen may come back for, 0 for nothing."""
        return max((moment for turn in self.turns for moment in turn.moments), default=0)

    @property
    def news(self) -> Sequence[int]:
        """When each thing came that is new, as the page shows them."""
        if self.visit is None:
            return []
        moments = (moment for turn in self.turns for moment in turn.moments)
        return [moment for moment in moments if self.visit.has(moment)]

    @property
    def first_new(self) -> int | None:
        """When that came above which the page says that it is new, None for nothing."""
        return next(iter(self.news), None)

    @property
    def words(self) -> Words:
        """The fixed words of the page itself."""
        return words(page_languages.current())

    @property
    def language_chosen(self) -> bool:
        """Whether the citizen has chosen the page's language themselves."""
        return page_languages.is_chosen()

    @property
    def offered(self) -> PageLanguage | None:
        """The language that the citizen writes in, where the page is in another and could be."""
        if page_languages.is_chosen() or not self.turns:
            return None
        language = page_languages.find(self.turns[-1].language)
        others = page_languages.of_this_page().others
        return language if language in others else None

    @property
    def pending(self) -> bool:
        """Whether the session's last question is still being worked on."""
        return any(turn.pending for turn in self.turns)

    @property
    def version(self) -> str:
        """A name for this state of the conversation: equal states have equal names."""
        return hashlib.sha256(repr(self).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def waiting_for_model(self) -> bool:
        """Whether that question waits for a model that cannot be reached."""
        return any(turn.state == "awaiting_model" for turn in self.turns)
