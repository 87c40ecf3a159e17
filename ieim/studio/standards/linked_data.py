"""schema.org GovernmentService and CPSV-AP PublicService: which property is which column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from ieim.knowledge.bundles.columns import COLUMNS, TRANSLATED
from ieim.studio.standards.graph import ABOUT, NAMES, Node, Reader, Text, Value, note_unread
from ieim.studio.standards.json_ld import no_language, read_nodes
from ieim.studio.standards.report import Report
from ieim.studio.standards.rows import Entry, Found
from ieim.studio.standards.texts import (
    clock,
    duration,
    joined,
    labelled,
    one_line,
    pair,
    plain,
    segment,
)

_SERVICES = frozenset({"GovernmentService", "PublicService"})
_AGENCIES = frozenset(
    {
        *("GovernmentOrganization", "GovernmentOffice", "PublicOrganisation", "PublicOrganization"),
        "org:Organization",
    }
)
_AUTHORITY = ("provider", "hasCompetentAuthority", "serviceOperator")
_CATEGORIES = (
    *("category", "serviceType", "thematicArea", "sector", "isClassifiedBy", "isGroupedBy"),
)
_GROUPS = ("isGroupedBy",)
_GROUPED = ("relation", "relatedService")
_KINDS = {"LifeEvent": "life", "BusinessEvent": "business"}
"""Which situation an event of CPSV-AP is. A BusinessEvent of schema.org is a fair, which groups no
service."""
_CODE_SETS = ("inCodeSet", "inDefinedTermSet")
_IDS = ("codeValue", "termCode", "identifier")
_PUBLISHED = re.compile(
    r"/services(?:\.jsonld#(?:[^/#]+/categories/|/situations/)?([^/#]+)|/[^/#]+/([^/#]+)\.jsonld)$"
)
"""How the addresses end that :mod:`.publishing` writes."""
_PAGES = ("url", "homepage", "page", "landingPage", "mainEntityOfPage")
_CHANNELS = ("availableChannel", "hasChannel")
_CHANNEL_LINKS = ("serviceUrl", "url", "homepage", "page")
_AUDIENCES = ("audience", "serviceAudience", "addressee")
_AREAS = ("areaServed", "serviceArea", "spatial")
_INPUTS = ("hasInput", "hasInputType", "holdsRequirement", "hasCriterion")
_POINTS = ("contactPoint", "hasContactPoint")
_NUMBERS = ("servicePhone", "serviceSmsNumber")
_PHONES = ("telephone", "hasTelephone")
_EMAILS = ("email", "hasEmail")
_ADDRESSES = ("address", "servicePostalAddress")
_ADDRESS = (
    *("name", "postOfficeBoxNumber", "streetAddress", "fullAddress", "thoroughfare", "postalCode"),
    *("postCode", "addressLocality", "postName", "addressRegion", "addressCountry"),
)
_HOURS = ("openingHours", "hoursAvailable", "specialOpeningHoursSpecification")
_SITE_LANGUAGE = "en"


def read_json_ld(value: Any, report: Report) -> Found:
    """Return what a JSON-LD file describes; a file without services becomes a problem."""
    nodes, language = read_nodes(value, report)
    found = Found("JSON-LD: schema.org and CPSV-AP", report)
    catalogue = _Catalogue(nodes, language, found)
    for node in nodes:
        if _is_a(node, _AGENCIES) and not node.nested:
            catalogue.agency(node)
    catalogue.dictionaries()
    for node in nodes:
        if _is_a(node, _SERVICES):
            catalogue.service(node)
    catalogue.situations()
    if not found.of("services") and not found.of("agencies") and not report.problems:
        types = Counter(each for node in nodes for each in node.types)
        names = (name for name, _ in types.most_common(5))
        # Without the context this is only a guess of ours.
        guessed = "schema:" if report.unread_contexts else ""
        few = ", ".join(name.removeprefix(guessed) for name in names) or "none"
        message = f"has no GovernmentService and no PublicService (types in it: {few})"
        report.problem("", message)
    note_unread(nodes, report)
    return found


class _Catalogue:
    """Reads agencies, categories and services of a file, each with its translations."""

    def __init__(self, nodes: list[Node], language: str, found: Found) -> None:
        self._nodes = nodes
        self._found = found
        self._report = found.report
        main = _main_language(nodes, language)
        others = frozenset(_languages(nodes, NAMES) - {main})
        translations = sorted(filter(self._is_language, _languages(nodes) - {main}))
        self._original = Reader(self._report, None, main, others)
        self._translators = [Reader(self._report, each, main, others) for each in translations]
        self._agency_of: dict[Node, str] = {}
        self._service_of: dict[Node, tuple[str, str]] = {}
        self._grouped: dict[Node, list[tuple[str, str]]] = {}

    def agency(self, node: Node) -> str:
        """Add an agency once, and return its identifier, "" for none."""
        if node not in self._agency_of:
            entry = self._entry(node, "agency", _AGENCY)
            self._agency_of[node] = entry.identifier if entry else ""
            if entry:
                entry.values["path"] = self._page(node)
                self._found.add("agencies", entry)
        return self._agency_of[node]

    def dictionaries(self) -> None:
        """Read the dictionaries of agencies, whose entries need no service."""
        for node in self._nodes:
            # Only looked at: a category without an agency is reached by its services, or by none.
            if "schema:CategoryCode" in node.types:
                sets = (value for name in _CODE_SETS for value in node.values.get(name, ()))
                for code_set in [each for each in sets if isinstance(each, Node)]:
                    for agency in self._original.nodes(code_set, "publisher", "creator"):
                        self._category(node, node.place, self.agency(agency))

    def service(self, node: Node) -> None:
        agency = self._authority(node)
        entry = self._entry(node, "service", _SERVICE)
        if entry is None:
            return
        entry.agency = agency
        if not entry.values["contact"]:
            self._inherit_contact(entry, node)
        entry.values["path"] = self._page(node)
        entry.values["url"] = self._link(
            node,
            [
                link
                for channel in self._original.nodes(node, *_CHANNELS)
                for link in self._original.links(channel, *_CHANNEL_LINKS)
            ],
        )
        categories = [
            self._category(value, node.place_of(name), agency)
            for name in _CATEGORIES
            for value in self._values(node, name)
            if not (name in _GROUPS and isinstance(value, Node) and _kind(value))
        ]
        self._service_of[node] = agency, entry.identifier
        for event in self._original.nodes(node, *_GROUPS):
            if _kind(event):
                self._grouped.setdefault(event, []).append((agency, entry.identifier))
        entry.categories = [each for each in dict.fromkeys(categories) if each]
        self._found.add("services", entry)

    def situations(self) -> None:
        """Read the events that group services, after all of these."""
        for node in filter(_kind, self._nodes):
            if not (node in self._grouped or node.has(*_GROUPED) or _is_of_cpsv(node)):
                continue
            related = self._original.nodes(node, *_GROUPED)
            services = [self._service_of[each] for each in related if each in self._service_of]
            services += self._grouped.get(node, [])
            values: dict[str, Any] = {
                "kind": _kind(node),
                "name": _name(node, self._original),
                "description": _about(node, self._original),
            }
            if identifier := self._identifier(node, values["name"], "situation"):
                entry = Entry(identifier, node.place, values, services=services)
                self._found.add("situations", entry)

    def _inherit_contact(self, entry: Entry, node: Node) -> None:
        """Give a service the contact of who provides it."""
        providers = (value for role in _AUTHORITY for value in self._values(node, role))
        for provider in (each for each in providers if isinstance(each, Node)):
            entry.values["contact"] = entry.values["contact"] or _contact(provider, self._original)
            for reader in self._translators:
                reader.translated = False
                text = _contact(provider, reader)
                if reader.translated and reader.language and text:
                    entry.translations.setdefault(reader.language, {}).setdefault("contact", text)

    def _is_language(self, language: str) -> bool:
        _, complaints = COLUMNS["translations"]["language"].read(language)
        wrong = any(complaints)
        if wrong:
            self._report.left_out("", no_language(language))
        return not wrong

    def _authority(self, node: Node) -> str:
        for role in _AUTHORITY:
            for value in self._values(node, role):
                if isinstance(value, Text):
                    if name := self._original.text(node, role).strip():
                        if name.startswith(("http://", "https://")):
                            return name  # no name, but what the file does not describe
                        entry = Entry(name, node.place_of(role), {"name": name})
                        self._found.add("agencies", entry)
                        return name
                else:
                    return value.address if value.is_empty else self.agency(value)
        return ""

    def _category(self, value: Value, place: str, agency: str) -> str:
        """Add a category of an agency, and return its identifier, "" for none."""
        entry: Entry | None
        if isinstance(value, Text):
            if value.language not in ("", self._original.main):
                return ""
            value.plain = text = plain(value.raw, place, self._report).strip()
            entry = Entry(text, place, {"value": text}) if text else None
        elif value.is_empty and not value.address:
            self._report.left_out(place, "refers to what is not in the file")
            entry = None
        elif value.is_empty:
            why = "only the address of the category is there: its last part stands for its name"
            self._report.changed(place, why)
            last = value.address.rstrip("/").replace("#", "/").rpartition("/")[2]
            entry = Entry(value.address, place, {"value": last})
        else:
            value.followed.update(_CODE_SETS)
            entry = self._entry(value, "category", _CATEGORY)
            if entry:
                entry.values["value"] = entry.values.pop("name")
        if entry is None:
            return ""
        entry.agency = agency
        self._found.add("dictionary", entry)
        return entry.identifier

    def _entry(self, node: Node, kind: str, columns: Mapping[str, _Column]) -> Entry | None:
        """Return what a node describes, with its translations; None without any identifier."""
        values: dict[str, Any] = {
            name: read(node, self._original) for name, read in columns.items()
        }
        identifier = self._identifier(node, str(values["name"]), kind)
        if not identifier:
            return None
        entry = Entry(identifier, node.place, values)
        for reader in self._translators:
            texts: dict[str, Any] = {}
            for column in TRANSLATED[kind]:
                reader.translated = False
                text = columns[column](node, reader)
                if reader.translated:
                    texts[column] = text
            if texts and reader.language:
                entry.translations[reader.language] = texts
        return entry

    def _identifier(self, node: Node, name: str, kind: str) -> str:
        """Return the IRI of a node, or without one its identifier or its name.

        An identifier is unique in one catalogue only, and a file may leave it out: it decides over
        the IRI only where that is one that this application publishes.
        """
        identifier = next(self._identifiers(node), "")
        published = _PUBLISHED.search(node.address)
        end = unquote(published[1] or published[2]) if published else ""
        if node.address and not (identifier and end in (identifier, segment(identifier))):
            return node.address
        if identifier:
            return identifier
        if name.strip():
            why = f"the {kind} has no identifier: its name stands for one, so it must not change"
            self._report.changed(node.place, why)
            return name
        self._report.problem(node.place, f"the {kind} has no identifier and no name")
        return ""

    def _identifiers(self, node: Node) -> Iterator[str]:
        for value in (value for name in _IDS for value in self._values(node, name)):
            if isinstance(value, Node):
                yield from filter(None, [self._original.text(value, "value", "notation")])
            elif value.raw.strip():
                value.plain = value.raw
                yield value.raw

    def _values(self, node: Node, name: str) -> list[Value]:
        node.reached = True
        node.followed.add(name)
        return node.values.get(name, [])

    def _page(self, node: Node) -> str:
        """Return the path: a page's address, or where it is to be found in words."""
        words = [
            text
            for page in self._original.nodes(node, "mainEntityOfPage")
            for text in self._original.texts(page, "breadcrumb")
        ]
        return self._link(node, [*self._original.links(node, *_PAGES), *words])

    def _link(self, node: Node, links: list[str]) -> str:
        different = [link for link in dict.fromkeys(links) if link]
        for link in different[1:]:
            self._report.left_out(node.place, f"only the first link has a place, not {link[:80]}")
        return different[0] if different else ""


_Column = Callable[[Node, Reader], "str | list[str]"]


def _name(node: Node, reader: Reader) -> str:
    return reader.name(node, *NAMES, "legalName")


def _about(node: Node, reader: Reader) -> str:
    return reader.text(node, *ABOUT)


def _applicability(node: Node, reader: Reader) -> str:
    lines = [
        reader.text(audience, "audienceType", *NAMES, *ABOUT)
        for audience in reader.nodes(node, *_AUDIENCES)
    ]
    lines.extend(reader.texts(node, *_AUDIENCES))
    areas = ", ".join(map(one_line, reader.labels(node, *_AREAS)))
    return joined([*lines, labelled("Area", areas)])


def _requirements(node: Node, reader: Reader) -> list[str]:
    supplies = [reader.labels(how, "supply", "tool") for how in _how_to(node, reader)]
    return [*(each for found in supplies for each in found), *reader.labels(node, *_INPUTS)]


def _steps(node: Node, reader: Reader) -> list[str]:
    found: list[str] = []
    for how in _how_to(node, reader):
        for step in reader.nodes(how, "step"):
            step.skip("position")
            found.append(reader.text(step, "text", *NAMES, *ABOUT))
        found.extend(reader.texts(how, "step"))
    rules = reader.nodes(node, "follows")
    found.extend(reader.text(rule, *ABOUT, *NAMES) for rule in rules)
    return [step for step in found if step.strip()]


def _how_to(node: Node, reader: Reader) -> list[Node]:
    """Return the HowTo nodes about a service in the reader's language, or else in the file's."""
    about = reader.nodes(node, "subjectOf")
    found = [(how, _language_of(how, reader)) for how in about if "schema:HowTo" in how.types]
    chosen = reader.chosen([language for _, language in found])
    return [how for how, language in found if language == chosen]


def _language_of(how: Node, reader: Reader) -> str:
    return next(iter(reader.links(how, "inLanguage")), "").lower().partition("-")[0]


def _fees(node: Node, reader: Reader) -> str:
    lines = reader.texts(node, "feesAndCommissionsSpecification")
    for offer in reader.nodes(node, "offers"):
        money = f"{reader.text(offer, 'price')} {reader.text(offer, 'priceCurrency').upper()}"
        lines.append(pair(reader.text(offer, *NAMES, *ABOUT), money.strip()))
    for cost in reader.nodes(node, "hasCost"):
        currency = next(iter(reader.links(cost, "currency")), "").rpartition("/")[2]
        money = f"{reader.text(cost, 'hasValue', 'value')} {currency.upper()}"
        lines.append(pair(reader.text(cost, *ABOUT, *NAMES), money.strip()))
    return joined(lines)


def _processing_time(node: Node, reader: Reader) -> str:
    times = reader.texts(node, "processingTime")
    for channel in reader.nodes(node, *_CHANNELS):
        times.extend(reader.texts(channel, "processingTime"))
    return joined(map(duration, times))


def _contact(node: Node, reader: Reader) -> str:
    lines = _ways(node, reader)
    for channel in reader.nodes(node, *_CHANNELS):
        lines += [*reader.texts(channel, *NAMES), *reader.texts(channel, *ABOUT)]
        lines += _ways(channel, reader)
        for point in reader.nodes(channel, *_NUMBERS):
            lines += _point(point, reader)
        lines += reader.texts(channel, *_NUMBERS)
        for place in reader.nodes(channel, "serviceLocation"):
            lines += [*reader.texts(place, *NAMES), *_ways(place, reader)]
        languages = reader.labels(channel, "availableLanguage")
        lines.append(labelled("Languages", ", ".join(languages)))
    return joined(lines)


def _ways(node: Node, reader: Reader) -> list[str]:
    lines = [line for point in reader.nodes(node, *_POINTS) for line in _point(point, reader)]
    for address in reader.nodes(node, *_ADDRESSES):
        parts = (label for name in _ADDRESS for label in reader.labels(address, name))
        lines.append(", ".join(dict.fromkeys(map(one_line, parts))))
    return [*lines, *reader.texts(node, "address"), *_reached(node, reader)]


def _point(point: Node, reader: Reader) -> list[str]:
    kind = reader.text(point, "contactType", *NAMES)
    lines = [*reader.texts(point, *ABOUT), *_reached(point, reader)]
    return [pair(kind, line) for line in lines]


def _reached(node: Node, reader: Reader) -> Iterable[str]:
    """Yield phone, email, page and hours, a line each."""
    for name in _PHONES:
        yield from (f"Phone: {one_line(text)}" for text in reader.texts(node, name))
    for name in _EMAILS:
        emails = reader.texts(node, name)
        yield from (f"Email: {one_line(text.removeprefix('mailto:'))}" for text in emails)
    yield from reader.links(node, "contactPage")
    hours = reader.labels(node, *_HOURS)
    for each in reader.nodes(node, "hoursAvailable", "openingHoursSpecification"):
        days = [*reader.labels(each, "dayOfWeek"), *reader.links(each, "dayOfWeek")]
        names = dict.fromkeys(day.rpartition("/")[2].rpartition(":")[2] for day in days)
        times = [clock(reader.text(each, name)) for name in ("opens", "closes")]
        hours.append(pair(", ".join(names), " to ".join(filter(None, times))))
    yield from (labelled("Hours", one_line(text)) for text in hours)


_AGENCY: Mapping[str, _Column] = {"name": _name, "description": _about}
_CATEGORY: Mapping[str, _Column] = {
    "name": _name,
    "keywords": lambda node, reader: reader.texts(node, "alternateName", "altLabel"),
}
_SERVICE: Mapping[str, _Column] = {
    "name": _name,
    "overview": _about,
    "applicability_summary": _applicability,
    "requirements": _requirements,
    "fees": _fees,
    "processing_time": _processing_time,
    "how_to_apply": _steps,
    "contact": _contact,
}


def _is_a(node: Node, types: frozenset[str]) -> bool:
    return any(each in types or each.partition(":")[2] in types for each in node.types)


def _kind(node: Node) -> str:
    """Return the kind of situation that a node is, "" for none."""
    return next((_KINDS[n] for t in node.types if (n := t.rpartition(":")[2]) in _KINDS), "")


def _is_of_cpsv(node: Node) -> bool:
    return any(each.startswith("cv:") for each in node.types)


def _languages(nodes: Iterable[Node], names: Iterable[str] = ()) -> set[str]:
    """Return every language that a text is tagged with, of these properties or of any."""
    values = (v for node in nodes for n in names or node.values for v in node.values.get(n, ()))
    return {value.language for value in values if isinstance(value, Text) and value.language}


def _main_language(nodes: Iterable[Node], language: str) -> str:
    """Return the language of the originals: "" where names have no tag, else the file's own."""
    found: Counter[str] = Counter()
    for types in (_SERVICES, _AGENCIES):
        for node in nodes if not found else ():
            for name in NAMES if _is_a(node, types) else ():
                values = (v for v in node.values.get(name, ()) if isinstance(v, Text))
                found.update({value.language for value in values})
    if "" in found:
        return ""
    if language in found or not found:
        return language
    return _SITE_LANGUAGE if _SITE_LANGUAGE in found else found.most_common(1)[0][0]
