"""Replies: what a citizen is shown, as data. No HTML; headings are the templates' business.

On the low path every word comes from the release or is a gated entity of the citizen's own. On the
high path a card of each cited service does, under a gated text that is stripped of its Markdown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from ieim.pipeline.knowledge import Agency, Release, Service
from ieim.pipeline.message import language as languages
from ieim.pipeline.reply import template
from ieim.pipeline.reply.cards import (
    AROUND,
    FACTS,
    SECTIONS,
    Card,
    Checklist,
    Section,
    Source,
    card,
    lead,
    sections,
    source,
)
from ieim.pipeline.reply.plain_text import paragraphs
from ieim.pipeline.sentences import sentences

Span = tuple[int, int]
"""Half-open code points of the citizen's text as sent."""

UNSAID: Final = "The service list does not say."
OUTSIDE: Final = "We found no service about this."


@dataclass(frozen=True, slots=True)
class Notice:
    """What an agency wants everybody to know for a while; ``agency_name`` is empty for all."""

    agency_name: str
    text: str

    @property
    def heading(self) -> str:
        """Whose notice it is, in words."""
        return f"Notice from {self.agency_name}" if self.agency_name else "Notice"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a citizen is shown at the end of a turn; parts that do not apply are empty.

    ``language`` (ISO 639-1) is the citizen's, where that is not the one that the knowledge is
    written in; ``original`` names the parts that there are not in it: ``title``, ``lead``,
    ``paragraphs``, the field of a section. ``notices`` are the administration's words above
    everything else. ``still_about`` is the name of the talk's service where the reply goes on with
    it, because the message named none. ``cards`` are the services of an answer over several
    agencies, in its order; ``uncovered`` are the parts of the message that nothing in the reply is
    about, ``unanswered`` the names of the agencies in which nothing fits: all, where no service
    is about the message (``outside``). ``unsaid``: what was asked about the service stands nowhere
    in its entry. ``next_services`` are those that the entry sends on to. ``situation`` is the
    checklist of the situation that the message tells of, or that the service belongs to.
    ``deadline_days`` is the service's, ``counted_from`` the day (ISO 8601) that the message names,
    where the limit counted from it ends soon or is over.
    """

    kind: Literal["service", "answer", "guidance", "question", "outside"]
    title: str = ""
    lead: str = ""
    paragraphs: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    sources: tuple[Source, ...] = ()
    language: str = ""
    original: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    still_about: str = ""
    cards: tuple[Card, ...] = ()
    uncovered: tuple[Span, ...] = ()
    unanswered: tuple[str, ...] = ()
    unsaid: bool = False
    next_services: tuple[Source, ...] = ()
    situation: Checklist | None = None
    deadline_days: str = ""
    counted_from: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the reply as JSON values; :meth:`from_dict` takes them back.

        What came later than the first six fields is there only where it applies, so that such a
        reply is the same as one that was stored before.
        """
        data: dict[str, Any] = {
            "kind": self.kind,
            "title": self.title,
            "lead": self.lead,
            "paragraphs": list(self.paragraphs),
            "sections": [section.as_dict() for section in self.sections],
            "sources": [asdict(source) for source in self.sources],
        }
        if self.language:
            data |= {"language": self.language, "original": list(self.original)}
        optional = {
            "notices": [asdict(notice) for notice in self.notices],
            "still_about": self.still_about,
            "cards": [card.as_dict() for card in self.cards],
            "uncovered": [list(span) for span in self.uncovered],
            "unanswered": list(self.unanswered),
            "unsaid": self.unsaid,
            "next_services": [asdict(source) for source in self.next_services],
            "situation": self.situation and self.situation.as_dict(),
            "deadline_days": self.deadline_days,
            "counted_from": self.counted_from,
        }
        return data | {name: value for name, value in optional.items() if value}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Reply:
        """Return the reply of :meth:`as_dict`'s values, which are taken to be right."""
        return cls(
            kind=data["kind"],
            title=data["title"],
            lead=data["lead"],
            paragraphs=tuple(data["paragraphs"]),
            sections=tuple(map(Section.from_dict, data["sections"])),
            sources=tuple(Source(**source) for source in data["sources"]),
            language=data.get("language", ""),
            original=tuple(data.get("original", ())),
            notices=tuple(Notice(**notice) for notice in data.get("notices", ())),
            still_about=data.get("still_about", ""),
            cards=tuple(map(Card.from_dict, data.get("cards", ()))),
            uncovered=tuple((start, end) for start, end in data.get("uncovered", ())),
            unanswered=tuple(data.get("unanswered", ())),
            unsaid=data.get("unsaid", False),
            next_services=tuple(Source(**source) for source in data.get("next_services", ())),
            situation=Checklist.from_dict(data["situation"]) if "situation" in data else None,
            deadline_days=data.get("deadline_days", ""),
            counted_from=data.get("counted_from", ""),
        )

    @property
    def is_about_agency(self) -> bool:
        """Whether it says which agency is responsible, and no more."""
        return self.kind == "service" and self.title == self.sources[0].agency_name

    def as_text(self) -> str:
        """Return the reply without its sources as plain text, for the terminal and for search."""
        notices = (f"{notice.heading}: {notice.text}" for notice in self.notices)
        if self.kind == "outside":
            return "\n\n".join([*notices, OUTSIDE, *self.unanswered])
        unsaid = UNSAID if self.unsaid else ""
        unanswered = (f"Not answered: {name}" for name in self.unanswered)
        limit = f"Time limit in days: {self.deadline_days}" if self.deadline_days else ""
        parts = [*notices, *unanswered, self.title, limit, unsaid, self.lead, *self.paragraphs]
        parts += _texts(self.sections)
        for service_card in self.cards:
            heading = f"{service_card.title} ({service_card.source.agency_name})"
            parts += [heading, service_card.lead, *_texts(service_card.sections)]
        if self.situation is not None:
            parts.append(self.situation.as_text())
        return "\n\n".join(filter(None, parts))

    def in_short(self, heading: Callable[[str], str]) -> str:
        """Return what the reply is about and what it says first, as a talk is remembered by.

        ``heading`` gives the words for the field of a section.
        """
        opens = next((section for section in self.sections if not section.folded), None)
        if self.kind == "outside":
            return OUTSIDE
        first = self.lead
        if opens and not first:
            first = f"{heading(opens.field)}: {'; '.join(opens.items)}"
        about = self.title or "; ".join(card.title for card in self.cards)
        situation = self.situation.as_text() if self.situation is not None else ""
        return "\n".join(filter(None, [about, first, *self.paragraphs, situation]))


def _texts(sections: Sequence[Section]) -> Iterator[str]:
    """Yield each section as text; a field whose passages stood first has only the rest below."""
    quoted: dict[str, set[str]] = defaultdict(set)
    for section in sections:
        heading = section.field.replace("_", " ").capitalize()
        before = quoted[section.field]
        items = [rest for item in section.items if (rest := _without(item, before))]
        if len(items) == 1:
            yield f"{heading}: {items[0]}"
        elif items:
            yield "\n".join([f"{heading}:", *(f"- {item}" for item in items)])
        before.update(sentence for item in section.items for sentence in _sentences(item))


def _sentences(text: str) -> list[str]:
    joined = " ".join(text.split())
    return [joined[start:end] for start, end in sentences(joined)]


def _without(text: str, quoted: Set[str]) -> str:
    """Return ``text`` without the sentences that were ``quoted``."""
    return " ".join(s for s in _sentences(text) if s not in quoted) if quoted else text


def render_service(
    placeholders: Mapping[str, Any],
    *,
    service: Service,
    agency: Agency,
    category_value: str | None,
    entities: Mapping[str, str],
    rules: str = "",
) -> Reply:
    """Return the low path's reply: what ``rules`` open with, then the other placeholders, folded.

    Fields that are empty are left out; the service and its source are named whatever was asked.
    What to do first stands above the rest, unless the reply opens with a fact that was asked for.
    """
    values = template.resolve(
        placeholders,
        service=service,
        agency=agency,
        category_value=category_value,
        entities=entities,
    )
    opens = template.opening(rules)
    if _is_about_agency(placeholders, opens):
        fields = tuple(sections({key: values[key] for key in opens if key in values}, opens))
        about = tuple(section for section in fields if section.field != opens[0])
        # Its own page, not where one of its services begins.
        of_agency = source(replace(service, url="", path=""), agency)
        return Reply("service", agency.name, sections=about, sources=(of_agency,))
    shown_sections = tuple(sections(values, opens or None))
    first = next((section.field for section in shown_sections if opens and not section.folded), "")
    return Reply(
        kind="service",
        title=service.name,
        lead="" if first in FACTS else lead(service),
        sections=shown_sections,
        sources=(source(service, agency),),
    )


def _is_about_agency(placeholders: Mapping[str, Any], opens: Sequence[str]) -> bool:
    """Whether a reply tells which agency it is: it begins with its name, and of the service shows
    the contact at most."""
    of_service = {key for key in placeholders if key.startswith("service_")}
    return opens[:1] == ("agency_name",) and of_service <= {"service_name", "service_contact"}


def render_answer(text: str, cited: Sequence[Service], release: Release) -> Reply:
    """Return a reply of free text, gated or a person's: its paragraphs, with its sources."""
    services = dict.fromkeys(cited)
    return Reply(
        kind="answer",
        paragraphs=tuple(paragraphs(text)),
        sources=tuple(source(service, release.agencies[service.agency]) for service in services),
    )


def render_several(
    text: str,
    cited: Sequence[Service],
    release: Release,
    *,
    rules: str = "",
    unanswered: Iterable[str] = (),
) -> Reply:
    """Return the high path's reply: a card of each cited service in the order that the answer
    gives, below the gated ``text``, if any.

    ``rules`` are those of service_select_v1: what was asked of one agency is mostly asked of each.
    ``unanswered`` are the ids of agencies in which nothing fits.
    """
    services = dict.fromkeys(cited)
    return replace(
        render_answer(text, cited, release),
        cards=tuple(
            card(service, release.agencies[service.agency], rules=rules) for service in services
        ),
        unanswered=tuple(release.agencies[agency].name for agency in unanswered),
    )


def render_guidance(text: str) -> Reply:
    """Return the reply of a turn that is no inquiry: the gated ``text`` in paragraphs."""
    return Reply(kind="guidance", paragraphs=tuple(paragraphs(text)))


def outside(release: Release) -> Reply:
    """Return the reply that no service is about the message: it names the agencies there are."""
    names = (agency.name for agency in release.agencies.values())
    return Reply(kind="outside", unanswered=tuple(names))


def in_language(reply: Reply, language: str, release: Release) -> Reply:
    """Return ``reply`` for a citizen who writes in ``language``, empty for that of the knowledge.

    ``release`` is the one that it was made from, in ``language`` as far as it is. The language of
    free text is detected.
    """
    if not language:
        return reply
    original: list[str] = []
    if reply.kind == "service":
        original += _not_translated(reply.sources[0], reply, language, release)
    if reply.paragraphs and languages.unsupported("\n".join(reply.paragraphs), {language}):
        original.append("paragraphs")
    cards = tuple(
        replace(card, original=tuple(_not_translated(card.source, card, language, release)))
        for card in reply.cards
    )
    return replace(reply, language=language, original=tuple(original), cards=cards)


def _not_translated(
    service: Source, original: Reply | Card, language: str, release: Release
) -> Iterator[str]:
    """Yield the parts of a rendered service that are as they were written."""
    key = (service.agency_id, service.service_key)
    of_release = release.language == language
    translated = release.translated.get(key, frozenset()) if of_release else frozenset()
    steps = any(step.strip() for step in release.services[key].how_to_apply)
    if "name" not in translated:
        yield "title"
    if original.lead and ("how_to_apply" if steps else "overview") not in translated:
        yield "lead"
    for section in original.sections:
        # A fee such as "MRK 45.00" is in every language.
        words = any(c.isalpha() and not c.isupper() for item in section.items for c in item)
        if section.field in AROUND:
            missing = not of_release or language not in release.languages
        else:
            missing = section.field in SECTIONS and section.field not in translated
        if missing and (words or not translated):
            yield section.field
