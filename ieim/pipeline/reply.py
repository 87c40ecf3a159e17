"""Replies: what a citizen is shown, as data. No HTML; headings are the templates' business.

On the low path every word comes from the release or is a gated entity of the citizen's own. On the
high path the text is the model's, gated and stripped of its Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ieim.pipeline import template
from ieim.pipeline.knowledge import Agency, Release, Service

SECTIONS = (
    "overview",
    "applicability_summary",
    "requirements",
    "fees",
    "processing_time",
    "how_to_apply",
    "contact",
)
"""The service's fields that make sections, in the order in which they are shown."""

_HTTP = re.compile(r"https?://[^\s<>\"\\\x00-\x1f\x7f]+", re.IGNORECASE)
_SENTENCE_END = re.compile(
    r"(?<!\b[A-Z])(?<!\b(?:No|Dr|Mr|Ms|St))(?<!\b(?:e\.g|i\.e|Mrs|Inc|Ltd))"
    r"[.!?][\"”’')\]]?(?=\s+[^\sa-z])"
)

# Markdown. No pattern tries a character twice: what may repeat excludes what ends it.
_LINK = re.compile(r"!?\[([^\[\]]*+)\]\(\s?<?([^\s<>()]*+)[^()\n]*+\)")
_MARKS = (
    re.compile(r"(?<![\w*])(\*{1,3})(?![\s*])(?P<words>[^*\n]++)(?<!\s)\1(?!\*)"),
    re.compile(r"(?<![\w/])(_{1,3})(?![\s_])(?P<words>[^_\n]++)(?<!\s)\1(?!\w)"),
    re.compile(r"(~~|`{1,3})(?P<words>[^~`\n]++)\1"),
)
_RULE = re.compile(r"[-*_=\s]*+|\s*+(?:```|~~~).*")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*)")
_ITEM = re.compile(r"\s*(?:[-*+•‣▪]|(\d{1,3}[.)]))\s+(.*)")
_QUOTE = re.compile(r"\A\s{0,3}>[>\s]*")


@dataclass(frozen=True, slots=True)
class Source:
    """Where an answer comes from; ``url`` is http or https, or empty when the release has none."""

    agency_id: str
    agency_name: str
    service_key: str
    service_name: str
    url: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a rendered service: a field of :data:`SECTIONS`, or ``entity_<type>``."""

    field: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a citizen is shown at the end of a turn; parts that do not apply are empty."""

    kind: Literal["service", "answer", "guidance", "question"]
    title: str
    lead: str
    paragraphs: tuple[str, ...]
    sections: tuple[Section, ...]
    sources: tuple[Source, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the reply as JSON values; :meth:`from_dict` takes them back."""
        return {
            "kind": self.kind,
            "title": self.title,
            "lead": self.lead,
            "paragraphs": list(self.paragraphs),
            "sections": [{"field": s.field, "items": list(s.items)} for s in self.sections],
            "sources": [asdict(source) for source in self.sources],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Reply:
        """Return the reply of :meth:`as_dict`'s values, which are taken to be right."""
        return cls(
            kind=data["kind"],
            title=data["title"],
            lead=data["lead"],
            paragraphs=tuple(data["paragraphs"]),
            sections=tuple(Section(s["field"], tuple(s["items"])) for s in data["sections"]),
            sources=tuple(Source(**source) for source in data["sources"]),
        )

    def as_text(self) -> str:
        """Return the reply without its sources as plain text, for the terminal and for search."""
        parts = [self.title, self.lead, *self.paragraphs]
        for section in self.sections:
            heading = section.field.replace("_", " ").capitalize()
            if len(section.items) == 1:
                parts.append(f"{heading}: {section.items[0]}")
            else:
                parts.append("\n".join([f"{heading}:", *(f"- {item}" for item in section.items)]))
        return "\n\n".join(part for part in parts if part)


def render_service(
    placeholders: Mapping[str, Any],
    *,
    service: Service,
    agency: Agency,
    category_value: str | None,
    entities: Mapping[str, str],
) -> Reply:
    """Return the low path's reply: what to do first, then the fields that were asked for.

    Fields that are empty are left out; the service and its source are named whatever was asked.
    """
    values = template.resolve(
        placeholders,
        service=service,
        agency=agency,
        category_value=category_value,
        entities=entities,
    )
    steps = [step for step in service.how_to_apply if step.strip()]
    asked = [(name, values.get(f"service_{name}", ())) for name in SECTIONS]
    asked += [item for item in values.items() if item[0].startswith("entity_")]
    return Reply(
        kind="service",
        title=service.name,
        lead=_plain(steps[0] if steps else _first_sentence(service.overview)),
        paragraphs=(),
        sections=tuple(
            Section(name, tuple(_plain(item) for item in items)) for name, items in asked if items
        ),
        sources=(_source(service, agency),),
    )


def render_answer(text: str, cited: Sequence[Service], release: Release) -> Reply:
    """Return the high path's reply: the gated ``text`` in paragraphs, with its sources."""
    services = dict.fromkeys(cited)
    return Reply(
        kind="answer",
        title="",
        lead="",
        paragraphs=tuple(paragraphs(text)),
        sections=(),
        sources=tuple(_source(service, release.agencies[service.agency]) for service in services),
    )


def render_guidance(text: str) -> Reply:
    """Return the reply of a turn that is no inquiry: the gated ``text`` in paragraphs."""
    return Reply(
        kind="guidance",
        title="",
        lead="",
        paragraphs=tuple(paragraphs(text)),
        sections=(),
        sources=(),
    )


def _source(service: Service, agency: Agency) -> Source:
    links = (url for url in (service.url, service.path, agency.path) if _HTTP.fullmatch(url))
    return Source(agency.id, agency.name, service.key, service.name, next(links, ""))


def _first_sentence(text: str) -> str:
    end = _SENTENCE_END.search(text)
    return (text[: end.end()] if end else text).strip()


def paragraphs(text: str) -> Iterator[str]:
    """Split plain text or Markdown into paragraphs, without its marks.

    A heading or an item of a list is a paragraph of its own. Linear in the length of the text.
    """
    lines: list[str] = []
    for written in [*text.splitlines(), ""]:
        line = _QUOTE.sub("", written, count=1)
        heading, item = _HEADING.fullmatch(line), _ITEM.fullmatch(line)
        ends = _RULE.fullmatch(line)
        if (ends or heading or item) and lines:
            yield _plain(" ".join(lines))
            lines = []
        if heading:
            yield _plain(heading[1].rstrip().rstrip("#"))
        elif item:
            lines = [" ".join(filter(None, item.groups()))]
        elif not ends:
            lines.append(line.strip())


def _plain(text: str) -> str:
    """Leave out Markdown's marks and keep the words; a link is its words and its full URL."""
    text = _LINK.sub(_link_words, text)
    for marks in _MARKS:
        text = marks.sub(r"\g<words>", text)
    return text.strip()


def _link_words(match: re.Match[str]) -> str:
    words, url = match.groups()
    address = url.removeprefix("mailto:").removeprefix("tel:")
    says_more = address not in words and (address != url or _HTTP.fullmatch(url))
    return f"{words} ({address})" if words and says_more else words or address
