"""What the chat page shows, as plain values: the templates' whole vocabulary."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from conversations.chat.replies import CardView, ReplyView
from conversations.chat.wording import PAGE, Words, words
from conversations.languages import pages
from conversations.languages.pages import PageLanguage
from conversations.person.models import LineKind
from conversations.person.presenters import LineView, RequestView
from conversations.rating.models import Reason
from conversations.returning import seen
from conversations.returning.seen import Visit
from conversations.turns import languages
from conversations.turns.choosing import ChoiceView
from conversations.waiting.presenters import WaitingView
from ieim.administration.hours import Status
from ieim.pipeline.message.risk import Contact


@dataclass(frozen=True, slots=True)
class StepView:
    """One step in the citizen's words; ``status`` is what the marker shows."""

    words: str
    status: Literal["pending", "running", "done", "stopped"]
    language: str = PAGE

    @property
    def told(self) -> str:
        """The status in words."""
        return words(self.language).statuses[self.status]


@dataclass(frozen=True, slots=True)
class CorrectionView:
    """What staff have since written of an answer that was wrong; ``language`` is its own."""

    text: str
    sent_at: datetime
    origin: Literal["staff"] = "staff"
    language: str = PAGE


@dataclass(frozen=True, slots=True)
class FeedbackView:
    """What the citizen said of an answer beside their verdict; each may be empty."""

    reason: str
    text: str

    @property
    def why(self) -> str:
        """The reason in words."""
        return str(Reason(self.reason).label) if self.reason else ""


@dataclass(frozen=True, slots=True)
class TurnView:
    """One question with its progress, what came of it, and corrections of that.

    ``state`` is the turn's state; exactly one of ``reply`` and "held" (``needs_review``) is shown
    at the end, steps before, and ``choice`` while the citizen is asked to choose. ``due_at`` is by
    when a person should answer, None where nobody has to, that is over, or the turn is ``alone``:
    until when the office is closed to somebody in danger, None where it is not.
    ``language`` (ISO 639-1) is that of the words around it. ``useful`` is what the citizen says of
    the answer, None while
    they have said nothing, ``feedback`` why. ``replaces`` is the turn whose answer was about
    something else, so that this one asks it again; ``replaced_by`` is the other way round.
    ``waiting`` is why it waits for a person, and what there is meanwhile; None where it does not.
    ``answered_at`` is when the reply came. ``longer`` says that it takes longer than usual at the
    moment. ``person`` is the wish to have one that this is; ``lines`` are what a takeover put after
    it. ``mail`` is one of :data:`conversations.mail.selectors.STATES`. ``between`` is what there
    was to tell of before its outcome: the citizen was asked, help lines came late, or a person has
    had it.
    """

    id: UUID
    number: int
    text: str
    asked_at: datetime
    state: str
    steps: tuple[StepView, ...]
    reply: ReplyView | None
    contacts: tuple[Contact, ...] = ()
    corrections: tuple[CorrectionView, ...] = ()
    choice: ChoiceView | None = None
    due_at: datetime | None = None
    language: str = PAGE
    # A verdict is no news: nobody is told again that there is an answer.
    useful: bool | None = field(default=None, compare=False)
    feedback: FeedbackView | None = field(default=None, compare=False)
    replaces: UUID | None = None
    replaced_by: UUID | None = None
    longer: bool = False
    alone: Status | None = None
    waiting: WaitingView | None = None
    answered_at: datetime | None = None
    person: RequestView | None = None
    lines: tuple[LineView, ...] = ()
    between: Literal["", "asked", "help", "held"] = ""
    # No news either.
    mail: str = field(default="none", compare=False)

    @property
    def reasons(self) -> Sequence[tuple[str, Any]]:
        """What the citizen may choose as the reason why an answer was no use."""
        return Reason.choices

    @property
    def words(self) -> Words:
        """The fixed words around what came of it."""
        return words(self.language)

    def named(self, said: str) -> str:
        """Return words of this question for somebody who does not see beside which they stand."""
        return self.words.announced["question"].format(number=self.number, words=said)

    @property
    def mark(self) -> str:
        """Which question it is, before words that are about it."""
        return self.named("")

    @property
    def thanks(self) -> str:
        """What is said of a verdict."""
        told = (self.reply or self).words.rating
        return self.named(told["thanks"] if self.useful else f"{told['thanks']} {told['instead']}")

    @property
    def contact_texts(self) -> list[str]:
        """What somebody in danger has to see at once, as programs are told it."""
        return [each.text for each in self.contacts]

    @property
    def moments(self) -> Iterator[int]:
        """When each thing came that a citizen may come back for, as the page shows them."""
        if self.reply and self.answered_at:
            yield seen.moment(self.answered_at)
        yield from (seen.moment(each.sent_at) for each in self.corrections)
        yield from (seen.moment(line.at) for line in self.lines if line.kind == LineKind.SAID)

    @property
    def held_why(self) -> str:
        """The sentences that say why a person answers; empty where none has to."""
        return self.words.held_why[self.waiting.reason] if self.waiting else ""

    @property
    def held_when(self) -> str:
        """The sentence that says by when a person answers, or not to wait for that."""
        if self.alone and self.alone.until:
            until = self.words.moment(self.alone.until)
            return self.words.held["danger"].format(time=until)
        if self.alone:
            return self.words.held["danger_closed"]
        if self.due_at is None:
            return self.words.held["late"]
        return self.words.held["when"].format(time=self.words.moment(self.due_at))

    @property
    def may_help(self) -> Sequence[CardView]:
        """Services that may be about a question that waits for a person: not the answer to it."""
        return self.waiting.may_help if self.waiting else ()

    @property
    def choose_until(self) -> str:
        """The sentence that says until when the citizen can choose; empty where they cannot."""
        if self.choice is None:
            return ""
        time = self.words.moment(self.choice.until)
        return self.words.choice["until"].format(time=time)

    @property
    def pending(self) -> bool:
        """Whether the citizen still waits for the pipeline."""
        return self.state in {"queued", "running", "awaiting_model"}

    @property
    def dom_id(self) -> str:
        """The HTML id of the turn's article."""
        return f"turn-{self.id}"


@dataclass(frozen=True, slots=True)
class ChatView:
    """The whole page; ``reference`` and ``resume_path`` are empty before the first message.

    ``with_person``: a caseworker has the conversation; ``waits_for_person``: the citizen has asked
    for one. ``visit`` says what is new to who has come back, None for nobody.
    """

    reference: str
    resume_path: str
    turns: tuple[TurnView, ...]
    suggestions: tuple[str, ...]
    limit: int
    offline: bool
    with_person: bool = False
    waits_for_person: bool = False
    visit: Visit | None = None

    @property
    def latest(self) -> int:
        """When the newest thing came that a citizen may come back for, 0 for nothing."""
        return max((each for turn in self.turns for each in turn.moments), default=0)

    @property
    def news(self) -> Sequence[int]:
        """When each thing came that is new, as the page shows them."""
        visit = self.visit
        moments = (each for turn in self.turns for each in turn.moments)
        return [each for each in moments if visit.has(each)] if visit else []

    @property
    def first_new(self) -> int | None:
        """When that came above which the page says that it is new, None for nothing."""
        return next(iter(self.news), None)

    @property
    def words(self) -> Words:
        """The fixed words of the page itself."""
        return words(pages.current())

    @property
    def written_in(self) -> str:
        """The language of the knowledge, and of the questions that are suggested."""
        return languages.written_in()

    @property
    def offered(self) -> PageLanguage | None:
        """The language that the citizen writes in, where the page is in another and could be."""
        language = self.turns[-1].language if self.turns else pages.current()
        found = None if language == pages.current() else pages.find(language)
        return found if found in pages.offered() else None

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
