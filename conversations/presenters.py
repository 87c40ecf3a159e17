"""What the chat page shows, as plain values: the templates' whole vocabulary."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from django.utils import dateformat, timezone, translation

from conversations.choosing.presenters import ChoiceView
from conversations.wording import PAGE, Words, words
from ieim.pipeline.risk import Contact

RATED_KINDS = frozenset({"service", "answer"})
"""The kinds of reply that can be useful or not: guidance and questions are no answers."""

MAX_LABEL = 40
"""Code points: what stands before a colon and is no longer is set apart from a paragraph."""


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
class FactView:
    """A heading with one paragraph or several list items.

    ``language`` is that of the items, empty where it is the reply's. ``quoted`` ones are out of the
    citizen's message, as the model read it.
    """

    heading: str
    items: tuple[str, ...]
    ordered: bool = False
    language: str = ""
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class SourceView:
    """Where an answer comes from; ``url`` is empty when there is no page to link to.

    ``language`` is that of the service's name, ``agency_language`` that of the agency's; empty
    where it is the reply's.
    """

    agency: str
    service: str
    url: str
    language: str = ""
    agency_language: str = ""


@dataclass(frozen=True, slots=True)
class ParagraphView:
    """A paragraph of free text: ``heading``, ``label`` and ``text`` in this order are all of it.

    At most one of the first two is filled: a source's agency and service, or a few words and a
    colon.
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
    """What an agency wants everybody to know; ``agency`` is empty for every agency.

    ``language`` is the text's; the heading is in the reply's.
    """

    heading: str
    agency: str
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class CorrectionView:
    """What staff have since written of an answer that was wrong; ``language`` is its own."""

    text: str
    sent_at: datetime
    origin: Literal["staff"] = "staff"
    language: str = PAGE


@dataclass(frozen=True, slots=True)
class ReplyView:
    """A gated reply.

    ``language`` (ISO 639-1) is that of the fixed words around it, and of the rest but for the parts
    (``title``, ``lead``, ``paragraphs``) whose own ``languages`` names. ``notice`` says what there
    is not in the citizen's language; ``agency_notices`` stand above everything else.
    ``still_about`` is the name of the talk's service where it goes on with that, in the title's
    language. ``prepared`` says that it is a text of the administration's, word for word.
    """

    kind: Literal["service", "answer", "guidance", "question"]
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

    @property
    def words(self) -> Words:
        """The fixed words around it."""
        return words(self.language)

    @property
    def whose(self) -> str:
        """The sentence that says whose words these are."""
        if self.origin != "model":
            asks = self.origin == "staff" and self.kind == "question"
            return self.words.origins["question" if asks else self.origin]
        if self.kind == "guidance":
            # The offline engine says nothing else.
            told = "prepared" if self.prepared or self.offline else "guidance"
            return self.words.origins[told]
        return self.words.origins["offline" if self.offline else "model"]

    @property
    def rateable(self) -> bool:
        """Whether it can be useful or not."""
        return self.kind in RATED_KINDS

    @property
    def parts(self) -> tuple[ParagraphView, ...]:
        """The paragraphs; those of an answer with what they begin with set apart."""
        return tuple(map(self._part, self.paragraphs))

    def _part(self, text: str) -> ParagraphView:
        if self.kind != "answer":
            return ParagraphView("", "", text)
        for source in self.sources:
            heading = f"{source.agency}: {source.service}"
            if f"{text} ".startswith((f"{heading} ", f"{heading}. ")):
                end = len(heading) + text.startswith(f"{heading}.")
                return ParagraphView(text[:end], "", text[end:])
        label, colon, rest = text.partition(": ")
        if not (colon and label and rest) or len(label) > MAX_LABEL or "\n" in label:
            return ParagraphView("", "", text)
        return ParagraphView("", f"{label}:", f" {rest}")

    @property
    def has_marks(self) -> bool:
        """Whether any of the citizen's own words led to the answer."""
        return any(segment.marked for segment in self.segments)

    def growing(self) -> Iterator[ReplyView]:
        """Yield the reply as it builds up on a live page: first its lead, then part by part.

        Each has the sources, which say what is a heading and are shown at the end. The whole reply
        is not among them: its last part comes with the finished page.
        """
        bare = replace(self, paragraphs=(), facts=())
        yield bare
        for count in range(1, len(self.paragraphs) + 1):
            yield replace(bare, paragraphs=self.paragraphs[:count])
        for count in range(1, len(self.facts) + 1):
            yield replace(bare, paragraphs=self.paragraphs, facts=self.facts[:count])


@dataclass(frozen=True, slots=True)
class TurnView:
    """One question with its progress, what came of it, and corrections of that.

    ``state`` is the turn's state; exactly one of ``reply`` and "held" (``needs_review``) is shown
    at the end, steps before, and ``choice`` while the citizen is asked to choose. ``due_at`` is by
    when a person should answer, None where nobody has to or that is over. ``language`` (ISO 639-1)
    is that of the words around it. ``useful`` is what the citizen says of the answer, None while
    they have said nothing. ``replaces`` is the turn whose answer was about something else, so that
    this one asks it again; ``replaced_by`` is the other way round.
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
    replaces: UUID | None = None
    replaced_by: UUID | None = None

    @property
    def words(self) -> Words:
        """The fixed words around what came of it."""
        return words(self.language)

    @property
    def contact_texts(self) -> list[str]:
        """What somebody in danger has to see at once, as programs are told it."""
        return [each.text for each in self.contacts]

    @property
    def held_when(self) -> str:
        """The sentence that says by when a person answers."""
        if self.due_at is None:
            return self.words.held["late"]
        with translation.override(self.language):
            day = dateformat.format(timezone.localtime(self.due_at), self.words.day)
        return self.words.held["when"].format(day=day)

    @property
    def choose_until(self) -> str:
        """The sentence that says until when the citizen can choose; empty where they cannot."""
        if self.choice is None:
            return ""
        with translation.override(self.language):
            at = timezone.localtime(self.choice.until)
            time = dateformat.format(at, f"{self.words.day}, H:i")
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
    """The whole page; ``reference`` and ``resume_path`` are empty before the first message."""

    reference: str
    resume_path: str
    turns: tuple[TurnView, ...]
    suggestions: tuple[str, ...]
    limit: int
    offline: bool

    @property
    def words(self) -> Words:
        """The fixed words of the page itself."""
        return words(PAGE)

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
