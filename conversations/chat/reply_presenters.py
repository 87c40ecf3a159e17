"""What the chat page shows of a reply, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal

from django.utils.translation import gettext_lazy

from conversations.chat import wording
from conversations.chat.wording import PAGE, Words, words

RATED_KINDS = frozenset({"service", "answer"})
"""The kinds of reply that can be useful or not: guidance and questions are no answers."""

MAX_LABEL = 40
"""Code points: text before a colon that is no longer than this is a paragraph's label."""

_NOTHING_FITS = gettext_lazy(
    "“{agency}” has nothing that fits your message, so nothing is said of it here. Ask about it in "
    "a message of its own, or talk to a person."
)


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
    ``read_on``: when the page at ``url`` was read, as in :func:`ieim.pipeline.reply.cards.read_on`.
    """

    agency: str
    service: str
    url: str
    language: str = ""
    agency_language: str = ""
    starts: bool = False
    read_on: date | None = None


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
    def read_on(self) -> date | None:
        """When that page was read, None where the entry names no day."""
        return self.source.read_on

    @property
    def open(self) -> tuple[FactView, ...]:
        """The facts that are shown at once."""
        return tuple(fact for fact in self.facts if not fact.folded)

    @property
    def folded(self) -> tuple[FactView, ...]:
        """The facts that are shown on request."""
        return tuple(fact for fact in self.facts if fact.folded)


@dataclass(frozen=True, slots=True)
class StepCardView:
    """A service of a situation; ``condition`` says for whom it is, empty for everybody."""

    card: CardView
    condition: str


@dataclass(frozen=True, slots=True)
class SituationView:
    """The checklist of a situation: ``language`` is that of its name and its conditions, empty
    where it is the reply's. ``is_open`` as in :class:`ieim.pipeline.reply.cards.Checklist`."""

    key: str
    name: str
    language: str
    is_open: bool
    steps: tuple[StepCardView, ...]


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
    def origin_sentence(self) -> str:
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
