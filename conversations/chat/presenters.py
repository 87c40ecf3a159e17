"""What the chat page shows, as plain values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations import page_languages, returning
from conversations.chat import wording
from conversations.chat.situations import SituationView
from conversations.chat.wording import PAGE, Words, words
from conversations.models import Reason
from conversations.page_languages import PageLanguage
from conversations.person.models import LineKind
from conversations.returning import Visit
from conversations.turns import languages
from conversations.turns.choosing import ChoiceView
from ieim.administration.hours import Status
from ieim.pipeline.knowledge import CaseText
from ieim.pipeline.message.risk import Contact

RATED_KINDS = frozenset({"service", "answer"})
"""The kinds of reply that can be useful or not: guidance and questions are no answers."""

MAX_LABEL = 40
"""Code points: text before a colon that is no longer than this is a paragraph's label."""

_NOTHING_FITS = gettext_lazy(
    "“{agency}” has nothing that fits your message, so nothing is said of it here. Ask about it in "
    "a message of its own, or talk to a person."
)
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
class FactView:
    """A heading with one paragraph or several list items; ``name`` is the field's.

    ``language`` is that of the items, empty where it is the reply's. ``quoted`` ones are from
    the citizen's message, as the model read it. ``folded`` ones are shown on request.
    """

    heading: str
    items: tuple[str, ...]
    ordered: bool = False
    language: str = ""
    quoted: bool = False
    folded: bool = False
    name: str = ""

    @property
    def is_link(self) -> bool:
        """Whether it is the address of a page and nothing else."""
        return len(self.items) == 1 and self.items[0].startswith(("https://", "http://"))


@dataclass(frozen=True, slots=True)
class SourceView:
    """Where an answer comes from; ``url`` is empty when there is no page to link to.

    ``language`` is that of the service's name, ``agency_language`` that of the agency's; empty
    where it is the reply's. ``starts``: ``url`` is the service's own, not only its agency's.
    """

    agency: str
    service: str
    url: str
    language: str = ""
    agency_language: str = ""
    starts: bool = False


@dataclass(frozen=True, slots=True)
class ParagraphView:
    """A paragraph of free text: ``heading``, ``label`` and ``text`` in this order are all of it.

    At most one of the first two is filled: a source's name, or a few words and a colon.
    """

    heading: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class SegmentView:
    """A run of the citizen's own message; ``marked`` runs led to the answer."""

    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class NoticeView:
    """What an agency wants everybody to know, in ``language``; ``agency`` is empty for all."""

    heading: str
    agency: str
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class CardView:
    """One service of an answer over several agencies, with its own source.

    ``languages`` are those of ``title`` and ``lead``, where they are not the reply's. ``repeated``:
    an earlier answer on the page has the same card. ``reference`` is ``agency/key``, ``deadline``
    within which time it has to be asked for, in words, empty where nothing presses.
    """

    title: str
    lead: str
    facts: tuple[FactView, ...]
    source: SourceView
    languages: Mapping[str, str] = field(default_factory=dict)
    repeated: bool = False
    reference: str = ""
    deadline: str = ""

    @property
    def agency(self) -> str:
        """Whose service it is."""
        return self.source.agency

    @property
    def url(self) -> str:
        """Its page, empty where there is none to link to."""
        return self.source.url

    @property
    def open(self) -> tuple[FactView, ...]:
        """The facts that are shown at once."""
        return tuple(fact for fact in self.facts if not fact.folded)

    @property
    def folded(self) -> tuple[FactView, ...]:
        """The facts that are shown on request."""
        return tuple(fact for fact in self.facts if fact.folded)


@dataclass(frozen=True, slots=True)
class ReplyView:
    """A gated reply.

    ``language`` (ISO 639-1) is that of the fixed words around it, and of the rest but for the parts
    (``title``, ``lead``, ``paragraphs``) that ``languages`` names. ``notice`` says what there is
    not in the citizen's language. ``still_about`` names the service of the talk that it goes on
    with. ``uncovered`` are the parts of the message that the reply does not cover, ``unanswered``
    the agencies in which nothing fits. ``unsaid``: the service's entry does not say what was asked.
    ``next_services`` are those that it sends on to, ``deadline`` as in a card.
    ``general``: the citizen asked for no particular fact;
    ``repeated``: an earlier answer on the page has its card. ``model`` is the name of the one that
    was asked, empty where none was; ``release`` is the number of the knowledge that it is from,
    ``agencies`` are those that there are, where no service is about the message, and ``hand`` is
    what a person had to do with it: one of :data:`~conversations.chat.reply_views.HANDS`.
    """

    kind: Literal["service", "answer", "guidance", "question", "outside"]
    title: str
    lead: str
    paragraphs: tuple[str, ...]
    facts: tuple[FactView, ...]
    sources: tuple[SourceView, ...]
    why: str
    segments: tuple[SegmentView, ...]
    origin: str
    offline: bool
    language: str = PAGE
    notice: str = ""
    languages: Mapping[str, str] = field(default_factory=dict)
    agency_notices: tuple[NoticeView, ...] = ()
    still_about: str = ""
    prepared: bool = False
    cards: tuple[CardView, ...] = ()
    uncovered: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()
    unsaid: bool = False
    next_services: tuple[SourceView, ...] = ()
    general: bool = False
    repeated: bool = False
    model: str = ""
    release: int = 0
    hand: str = "none"
    agencies: tuple[SourceView, ...] = ()
    situation: SituationView | None = None
    deadline: str = ""

    @property
    def words(self) -> Words:
        """The fixed words around it."""
        return words(self.language)

    @property
    def has_checklist(self) -> bool:
        return len(self.cards) > 1

    @property
    def whose(self) -> str:
        """The sentence that says whose words these are."""
        if self.origin not in ("model", "index", "guidance", "retold"):
            asks = self.origin == "staff" and self.kind == "question"
            origin = "question" if asks else self.origin
        elif self.kind == "outside":
            origin = "prepared"
        elif self.kind == "guidance":
            # The offline engine says nothing else.
            origin = "prepared" if self.prepared or self.offline else "guidance"
        elif self.offline:
            origin = "offline"
        else:
            origin = "index" if self.origin in ("index", "retold") else "model"
        return self.words.translate(wording.ORIGINS[origin])

    @property
    def left_out(self) -> list[str]:
        """Of each agency in which nothing fits, the sentence that says so."""
        return [self.words.translate(_NOTHING_FITS, agency=name) for name in self.unanswered]

    @property
    def requested_fact(self) -> FactView | None:
        """The fact that the reply opens with, where the citizen asked for one."""
        leads = self.kind == "service" and not self.lead and not self.unsaid
        return self.facts[0] if leads and self.facts else None

    @property
    def open(self) -> tuple[FactView, ...]:
        """The other facts that are shown at once."""
        facts = self.facts[1:] if self.requested_fact else self.facts
        return tuple(fact for fact in facts if not fact.folded)

    @property
    def folded(self) -> tuple[FactView, ...]:
        """The facts that are shown on request."""
        facts = self.facts[1:] if self.requested_fact else self.facts
        return tuple(fact for fact in facts if fact.folded)

    @property
    def rateable(self) -> bool:
        """Whether it can be useful or not."""
        return self.kind in RATED_KINDS

    @property
    def parts(self) -> tuple[ParagraphView, ...]:
        """The paragraphs; those of an answer with what they begin with set apart. None that says
        what to do first beside a checklist, whose cards say it."""
        first = {
            f"{name}: {card.lead}" for card in self.cards for name in (card.agency, card.title)
        }
        first |= {f"{card.agency}:" for card in self.cards}
        if self.has_checklist and first.issuperset(self.paragraphs):
            return ()
        return tuple(map(self._part, self.paragraphs))

    def _part(self, text: str) -> ParagraphView:
        if self.kind != "answer":
            return ParagraphView("", "", text)
        for source in self.sources:
            heading = f"{source.agency}: {source.service}"
            if f"{text} ".startswith((f"{heading} ", f"{heading}. ")):
                end = len(heading) + text.startswith(f"{heading}.")
                return ParagraphView(text[:end], "", text[end:])
        for name in {name for source in self.sources for name in (source.agency, source.service)}:
            if f"{text} ".startswith(f"{name}: "):
                label = f"{name}:"
                return ParagraphView("", label, text.removeprefix(label))
        label, colon, rest = text.partition(": ")
        if not (colon and label and rest) or len(label) > MAX_LABEL or "\n" in label:
            return ParagraphView("", "", text)
        return ParagraphView("", f"{label}:", f" {rest}")

    @property
    def has_marks(self) -> bool:
        """Whether any of the citizen's own words led to the answer."""
        return any(segment.marked for segment in self.segments)

    def growing(self) -> Iterator[ReplyView]:
        """Yield the reply as it builds up on a live page: first what it does not answer and its
        lead, then part by part.

        The whole reply is not among them: its last part comes with the finished page.
        """
        bare = replace(self, paragraphs=(), facts=(), cards=(), situation=None)
        yield bare
        for count in range(1, len(self.paragraphs) + 1):
            yield replace(bare, paragraphs=self.paragraphs[:count])
        bare = replace(bare, paragraphs=self.paragraphs)
        for count in range(1, len(self.facts) + 1):
            yield replace(bare, facts=self.facts[:count])
        for count in range(1, len(self.cards) + 1):
            yield replace(bare, facts=self.facts, cards=self.cards[:count])


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
    """A line of a takeover: ``joined``, ``said`` or ``left``; ``text`` is of ``said`` alone.

    ``how`` says of ``left`` why: ``handed_back``, ``silence`` and so on. ``read``: when they
    left, a message of danger still waited, so that a person reads what follows.
    """

    id: str
    kind: str
    text: str
    at: datetime
    how: str = ""
    read: bool = False

    @property
    def announcement(self) -> str:
        """The text for screen readers."""
        if self.kind == LineKind.SAID.value:
            return _("A person wrote: {text}").format(text=self.text)
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
    one of :data:`conversations.mail.selectors.STATES`. ``between`` is what came before its
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
    between: Literal["", "asked", "help", "held"] = ""
    own_lines: bool = False
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
        return words(page_languages.around(self.language))

    def named(self, text: str) -> str:
        """Return a text with the number of this question, for screen readers."""
        sentence = gettext_lazy("Question {number}: {words}")
        return self.words.translate(sentence, number=self.number, words=text)

    @property
    def mark(self) -> str:
        """The number of this question, before a text about it."""
        return self.named("")

    @property
    def thanks(self) -> str:
        """The reply to a verdict."""
        translate = (self.reply or self).words.translate
        thanks = translate(gettext_lazy("Thank you."))
        instead = translate(gettext_lazy("A caseworker can answer you instead."))
        return self.named(thanks if self.useful else f"{thanks} {instead}")

    @property
    def contact_texts(self) -> list[str]:
        """The texts of the help lines, as the API returns them."""
        return [each.text for each in self.contacts]

    @property
    def moments(self) -> Iterator[int]:
        """When each thing came that a citizen may come back for, as the page shows them."""
        if self.reply and self.answered_at:
            yield returning.moment(self.answered_at)
        yield from (returning.moment(each.sent_at) for each in self.corrections)
        yield from (returning.moment(line.at) for line in self.lines if line.kind == LineKind.SAID)

    @property
    def held_why(self) -> str:
        """The sentences that say why a person answers; empty where none has to."""
        if self.waiting is None:
            return ""
        return self.words.translate(wording.WHY_HELD[self.waiting.reason])

    @property
    def held_when(self) -> str:
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


@dataclass(frozen=True, slots=True)
class ChatView:
    """The whole page; ``reference`` and ``resume_path`` are empty before the first message.

    ``with_person``: a caseworker has the conversation; ``waits_for_person``: one is asked for.
    ``visit`` says what is new since the last visit, None on the first one.
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
    def newest(self) -> UUID | None:
        """The id of the last turn: what is asked there stands open, earlier choices are folded."""
        return self.turns[-1].id if self.turns else None

    @property
    def latest(self) -> int:
        """When the newest thing came that a citizen may come back for, 0 for nothing."""
        return max((each for turn in self.turns for each in turn.moments), default=0)

    @property
    def news(self) -> Sequence[int]:
        """When each thing came that is new, as the page shows them."""
        if self.visit is None:
            return []
        moments = (each for turn in self.turns for each in turn.moments)
        return [each for each in moments if self.visit.has(each)]

    @property
    def first_new(self) -> int | None:
        """When that came above which the page says that it is new, None for nothing."""
        return next(iter(self.news), None)

    @property
    def words(self) -> Words:
        """The fixed words of the page itself."""
        return words(page_languages.current())

    @property
    def written_in(self) -> str:
        """The language of the knowledge, and of the questions that are suggested."""
        return languages.written_in()

    @property
    def language_chosen(self) -> bool:
        """Whether the citizen has chosen the page's language themselves."""
        return page_languages.is_chosen()

    @property
    def offered(self) -> PageLanguage | None:
        """The language that the citizen writes in, where the page is in another and could be."""
        language = self.turns[-1].language if self.turns else page_languages.current()
        if page_languages.is_chosen() or language == page_languages.current():
            return None
        found = page_languages.find(language)
        return found if found in page_languages.offered() else None

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
