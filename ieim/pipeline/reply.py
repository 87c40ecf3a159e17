"""Replies: what a citizen is shown, as data. No HTML; headings are the templates' business.

On the low path every word comes from the release or is a gated entity of the citizen's own. On the
high path the text is the model's, gated and stripped of its Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from ieim.pipeline import language as languages
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
    ``paragraphs``, the field of a section. ``notices`` stand above everything else; they are the
    administration's own words, and no model's. ``still_about`` is the name of the talk's service
    where the reply goes on with it, because the message named none.
    """

    kind: Literal["service", "answer", "guidance", "question"]
    title: str
    lead: str
    paragraphs: tuple[str, ...]
    sections: tuple[Section, ...]
    sources: tuple[Source, ...]
    language: str = ""
    original: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    still_about: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the reply as JSON values; :meth:`from_dict` takes them back.

        A reply in the language of the knowledge says nothing of languages, one without notices
        nothing of notices, one that does not go on nothing of that: so it is the same as one that
        was stored before there were any.
        """
        said = {"language": self.language, "original": list(self.original)}
        notices = {"notices": [asdict(notice) for notice in self.notices]}
        return {
            "kind": self.kind,
            "title": self.title,
            "lead": self.lead,
            "paragraphs": list(self.paragraphs),
            "sections": [{"field": s.field, "items": list(s.items)} for s in self.sections],
            "sources": [asdict(source) for source in self.sources],
            **(said if self.language else {}),
            **(notices if self.notices else {}),
            **({"still_about": self.still_about} if self.still_about else {}),
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
            language=data.get("language", ""),
            original=tuple(data.get("original", ())),
            notices=tuple(Notice(**notice) for notice in data.get("notices", ())),
            still_about=data.get("still_about", ""),
        )

    def as_text(self) -> str:
        """Return the reply without its sources as plain text, for the terminal and for search."""
        notices = (f"{notice.heading}: {notice.text}" for notice in self.notices)
        parts = [*notices, self.title, self.lead, *self.paragraphs]
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
        lead=_plain(steps[0] if steps else first_sentence(service.overview)),
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


def told_in(said: Reply, language: str, release: Release) -> Reply:
    """Return ``said`` for a citizen who writes in ``language``, empty for that of the knowledge.

    ``release`` is the one that it was made from, in ``language`` as far as it is. Of free text the
    words themselves tell.
    """
    if not language:
        return said
    original = list(_not_translated(said, language, release))
    if said.paragraphs and languages.unsupported("\n".join(said.paragraphs), {language}):
        original.append("paragraphs")
    return replace(said, language=language, original=tuple(original))


def _not_translated(said: Reply, language: str, release: Release) -> Iterator[str]:
    """Yield the parts of a rendered service that are as they were written."""
    if said.kind != "service":
        return
    key = (said.sources[0].agency_id, said.sources[0].service_key)
    translated = release.translated.get(key, ()) if release.language == language else ()
    steps = any(step.strip() for step in release.services[key].how_to_apply)
    if "name" not in translated:
        yield "title"
    if said.lead and ("how_to_apply" if steps else "overview") not in translated:
        yield "lead"
    for section in said.sections:
        # A fee such as "MRK 45.00" is in every language.
        words = any(c.isalpha() and not c.isupper() for item in section.items for c in item)
        missing = section.field in SECTIONS and section.field not in translated
        if missing and (words or not translated):
            yield section.field


def _source(service: Service, agency: Agency) -> Source:
    links = (url for url in (service.url, service.path, agency.path) if _HTTP.fullmatch(url))
    return Source(agency.id, agency.name, service.key, service.name, next(links, ""))


def first_sentence(text: str) -> str:
    """Return the first sentence of ``text``, all of it where it has no other."""
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
