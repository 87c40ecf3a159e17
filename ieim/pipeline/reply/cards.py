"""Cards of services and checklists as citizens are shown them: what is open, what is folded.

Every word comes from the release, or is a gated entity of the citizen's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from ieim.pipeline.knowledge import SERVICE_TEXTS, Agency, Service
from ieim.pipeline.reply import template
from ieim.pipeline.reply.plain_text import first_sentence, plain

SECTIONS = SERVICE_TEXTS[1:]
"""The service's fields that make sections, in the order in which they are shown."""

AROUND = ("category_value", "agency_name", "agency_description", "agency_path")
"""What else makes one: of the service's category and agency."""

FACTS = frozenset({"applicability_summary", "requirements", "fees", "processing_time", "contact"})
"""The fields that answer a question by themselves: a reply that opens with one does not say what to
do first before it."""

_TIME_AND_TERMS = frozenset({"overview", "processing_time"})

CHECKLIST = ("applicability_summary", "requirements", "contact")
"""What is open on the card of each of several agencies, whatever was asked: whom it is for first,
because nothing else on the card says it."""

_HTTP = re.compile(r"https?://[^\s<>\"\\\x00-\x1f\x7f]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """Where an answer comes from; ``url`` is http or https, or empty when the release has none."""

    agency_id: str
    agency_name: str
    service_key: str
    service_name: str
    url: str

    @property
    def reference(self) -> str:
        """Names the service in its release: ``agency/key``."""
        return f"{self.agency_id}/{self.service_key}"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a rendered service: a field of :data:`SECTIONS` or :data:`AROUND`, or
    ``entity_<type>``. ``folded`` ones follow the others and are unfolded by whoever wants them."""

    field: str
    items: tuple[str, ...]
    folded: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the section as JSON values; an open one as it was before any was folded."""
        folded = {"folded": True} if self.folded else {}
        return {"field": self.field, "items": list(self.items), **folded}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Section:
        """Return the section of :meth:`as_dict`'s values."""
        return cls(data["field"], tuple(data["items"]), data.get("folded", False))


@dataclass(frozen=True, slots=True)
class Card:
    """One service of an answer over several agencies: ``original`` as in a reply,
    ``deadline_days`` as in the service."""

    title: str
    lead: str
    sections: tuple[Section, ...]
    source: Source
    original: tuple[str, ...] = ()
    deadline_days: str = ""

    @property
    def first(self) -> str:
        """What to do first, or only what it is about."""
        return self.lead or self.title

    def as_dict(self) -> dict[str, Any]:
        """Return the card as JSON values; :meth:`from_dict` takes them back."""
        return {
            "title": self.title,
            "lead": self.lead,
            "sections": [section.as_dict() for section in self.sections],
            "source": asdict(self.source),
            **({"original": list(self.original)} if self.original else {}),
            **({"deadline_days": self.deadline_days} if self.deadline_days else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Card:
        """Return the card of :meth:`as_dict`'s values, which are taken to be right."""
        return cls(
            title=data["title"],
            lead=data["lead"],
            sections=tuple(map(Section.from_dict, data["sections"])),
            source=Source(**data["source"]),
            original=tuple(data.get("original", ())),
            deadline_days=data.get("deadline_days", ""),
        )


def card(service: Service, agency: Agency, *, rules: str = "") -> Card:
    """Return the card of a cited ``service``: the facts that ``rules`` open with, its checklist and
    its contact are open, its other fields folded."""
    placeholders = [f"service_{name}" for name in SECTIONS]
    values = template.resolve(
        dict.fromkeys(placeholders),
        service=service,
        agency=agency,
        category_value=None,
        entities={},
    )
    keys = template.opening(rules)
    first = keys if opens_with_answer(keys) else ()
    opens = dict.fromkeys([*first, *(f"service_{name}" for name in CHECKLIST)])
    return Card(
        title=service.name,
        lead=lead(service),
        sections=tuple(sections(values, tuple(opens))),
        source=source(service, agency),
        deadline_days=service.deadline_days,
    )


def opens_with_answer(opens: Sequence[str]) -> bool:
    """Whether a reply that opens with these keys opens with what was asked: with a fact, or with
    nothing but what says by when and what if."""
    fields = [key.removeprefix("service_") for key in opens]
    fact = next((field for field in fields if field in SECTIONS), "") in FACTS
    return fact or (bool(fields) and _TIME_AND_TERMS.issuperset(fields))


def lead(service: Service) -> str:
    """Return what to do first: the first step, or else the first sentence of what it is."""
    steps = [step for step in service.how_to_apply if step.strip()]
    return plain(steps[0] if steps else first_sentence(service.overview))


def sections(
    values: Mapping[str, tuple[str, ...]], opens: Sequence[str] | None
) -> Iterator[Section]:
    """Yield the sections of resolved placeholders: ``opens`` in their order, the others folded.

    None: nothing is said of what opens, so all of them do. An empty field has no section, and
    neither has what is shown anyway: the service's name and its address.
    """
    entities = [key for key in values if key.startswith("entity_")]
    usual = [*(f"service_{name}" for name in SECTIONS), *entities, *AROUND]
    first = [] if opens is None else [key for key in opens if key in usual]
    for key in dict.fromkeys([*first, *usual]):
        items = tuple(plain(item) for item in values.get(key, ()))
        if items:
            folded = opens is not None and key not in first
            yield Section(key.removeprefix("service_"), items, folded)


def source(service: Service, agency: Agency) -> Source:
    """Return where ``service`` stands, with the first of its addresses that is a link."""
    links = (url for url in (service.url, service.path, agency.path) if _HTTP.fullmatch(url))
    return Source(agency.id, agency.name, service.key, service.name, next(links, ""))


def read_on(service: Service, url: str) -> date | None:
    """Return when the page at ``url`` was read; None where it is not the service's own page, or its
    entry names no day."""
    return date.fromisoformat(service.read_on) if service.read_on and url == service.url else None


@dataclass(frozen=True, slots=True)
class Line:
    """A service of a situation: ``condition`` says for whom it is, empty for everybody;
    ``deadline_days`` as in the service."""

    title: str
    condition: str
    deadline_days: str
    source: Source


@dataclass(frozen=True, slots=True)
class Checklist:
    """The services of a situation, in their order.

    ``is_open``: the message surely tells of it; else the list is only offered. ``leads``: the reply
    above it is about its first service, because the message names none of its own.
    """

    key: str
    name: str
    lines: tuple[Line, ...]
    is_open: bool = False
    leads: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the list as JSON values; :meth:`from_dict` takes them back."""
        return asdict(self) | {"lines": [asdict(line) for line in self.lines]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Checklist:
        """Return the list of :meth:`as_dict`'s values, which are taken to be right."""
        lines = (Line(**{**line, "source": Source(**line["source"])}) for line in data["lines"])
        return cls(**{**data, "lines": tuple(lines)})

    def as_text(self) -> str:
        """Return the list as plain text, empty where it is only offered."""
        if not self.is_open:
            return ""
        lines = (
            f"{line.title} ({line.condition})" if line.condition else line.title
            for line in self.lines
        )
        return "\n".join([f"{self.name}:", *(f"{n}. {text}" for n, text in enumerate(lines, 1))])
