"""What is shown of a reply, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from conversations.chat.wording import PAGE, Words, words

RATED_KINDS = frozenset({"service", "answer"})
"""The kinds of reply that can be useful or not: guidance and questions are no answers."""

USUAL = ("requirements", "fees", "processing_time", "contact")
"""The fields of a service that are open where nothing in particular was asked of it."""

MAX_LABEL = 40
"""Code points: what stands before a colon and is no longer is set apart from a paragraph."""


@dataclass(frozen=True, slots=True)
class FactView:
    """A heading with one paragraph or several list items.

    ``language`` is that of the items, empty where it is the reply's. ``quoted`` ones are out of the
    citizen's message, as the model read it. ``folded`` ones are shown to who wants more; ``name``
    is the field's.
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
class CardView:
    """One service of an answer over several agencies, with its own source.

    ``languages`` are those of ``title`` and ``lead``, where they are not the reply's. ``repeated``
    says that an earlier answer on the page has the same card.
    """

    title: str
    lead: str
    facts: tuple[FactView, ...]
    source: SourceView
    languages: Mapping[str, str] = field(default_factory=dict)
    repeated: bool = False

    @property
    def agency(self) -> str:
        """Whose service it is."""
        return self.source.agency

    @property
    def url(self) -> str:
        """The service's page, empty where there is none to link to."""
        return self.source.url

    @property
    def open(self) -> tuple[FactView, ...]:
        """What is shown at once; of what stands above only what was asked."""
        shown = tuple(fact for fact in self.facts if not fact.folded)
        return shown[:1] if self.repeated else shown

    @property
    def folded(self) -> tuple[FactView, ...]:
        """What is shown to who wants more."""
        return tuple(fact for fact in self.facts if fact not in self.open)


@dataclass(frozen=True, slots=True)
class ReplyView:
    """A gated reply.

    ``language`` (ISO 639-1) is that of the fixed words around it, and of the rest but for the parts
    (``title``, ``lead``, ``paragraphs``) whose own ``languages`` names. ``notice`` says what there
    is not in the citizen's language; ``agency_notices`` stand above everything else.
    ``still_about`` is the name of the talk's service where it goes on with that, in the title's
    language. ``cards`` are the services of an answer over several agencies, ``uncovered`` those
    parts of the citizen's message that nothing here is about, in their own words. ``general`` says
    that nothing in particular was asked of the service, ``repeated`` that an earlier answer on the
    page has its card.
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
    cards: tuple[CardView, ...] = ()
    uncovered: tuple[str, ...] = ()
    general: bool = False
    repeated: bool = False

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
        if self.offline:
            return self.words.origins["offline"]
        return self.words.origins["listed" if self.prepared else "model"]

    @property
    def asked(self) -> FactView | None:
        """The fact that the reply opens with, where the citizen asked for one."""
        return self.facts[0] if self.kind == "service" and self.facts and not self.lead else None

    @property
    def open(self) -> tuple[FactView, ...]:
        """What else is shown at once; nothing of what stands above and was not asked for."""
        if self.general and self.repeated:
            return ()
        facts = self.facts[1:] if self.asked else self.facts
        return tuple(fact for fact in facts if self._opens(fact))

    @property
    def folded(self) -> tuple[FactView, ...]:
        """What is shown to who wants more."""
        facts = self.facts[1:] if self.asked else self.facts
        return tuple(fact for fact in facts if fact not in self.open)

    def _opens(self, fact: FactView) -> bool:
        return fact.name in USUAL if self.general else not fact.folded

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
        bare = replace(self, paragraphs=(), facts=(), cards=(), uncovered=())
        yield bare
        for count in range(1, len(self.paragraphs) + 1):
            yield replace(bare, paragraphs=self.paragraphs[:count])
        bare = replace(bare, paragraphs=self.paragraphs)
        for count in range(1, len(self.facts) + 1):
            yield replace(bare, facts=self.facts[:count])
        for count in range(1, len(self.cards) + 1):
            yield replace(bare, facts=self.facts, cards=self.cards[:count])
