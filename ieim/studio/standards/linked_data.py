"""schema.org GovernmentService and CPSV-AP PublicService: :data:`_COLUMNS` says which property is
which column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from ieim.knowledge.bundles.columns import TRANSLATED, refusal
from ieim.studio.standards.addresses import published_identifier
from ieim.studio.standards.graph import ABOUT, NAMES, Node, Reader, Text, Value, note_unread
from ieim.studio.standards.json_ld import no_language, read_nodes
from ieim.studio.standards.report import Report
from ieim.studio.standards.rows import Contents, Entry
from ieim.studio.standards.texts import (
    amount,
    clock,
    duration,
    joined,
    labelled,
    one_line,
    pair,
    plain,
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
_LOCATIONS = ("location", "serviceLocation")
_HOURS = ("openingHours", "hoursAvailable", "specialOpeningHoursSpecification")
_SITE_LANGUAGE = "en"


def read_json_ld(value: Any, report: Report) -> Contents:
    """Return what a JSON-LD file describes; a file without services becomes a problem."""
    nodes, language = read_nodes(value, report)
    contents = Contents("JSON-LD: schema.org and CPSV-AP", report)
    catalogue = _Catalogue(nodes, language, contents)
    for node in nodes:
        if _is_a(node, _AGENCIES) and not node.nested:
            catalogue.agency(node)
    catalogue.dictionaries()
    for node in nodes:
        if _is_a(node, _SERVICES):
            catalogue.service(node)
    catalogue.situations()
    if not contents.of("services") and not contents.of("agencies") and not report.problems:
        types = Counter(kind for node in nodes for kind in node.types)
        # Without the context this is only a guess of ours.
        guessed = "schema:" if report.unread_contexts else ""
        few = ", ".join(name.removeprefix(guessed) for name, _ in types.most_common(5)) or "none"
        message = f"has no GovernmentService and no PublicService (types in it: {few})"
        report.problem("", message)
    note_unread(nodes, report)
    return contents


class _Catalogue:
    """Reads agencies, categories and services of a file, each with its translations."""

    def __init__(self, nodes: list[Node], language: str, contents: Contents) -> None:
        self._nodes = nodes
        self._contents = contents
        self._report = contents.report
        main = _main_language(nodes, language)
        others = frozenset(_languages(nodes, NAMES) - {main})
        languages = sorted(_languages(nodes) - {main})
        for code in languages:
            if refusal("translations", "language", code):
                self._report.left_out("", no_language(code))
        self._original = Reader(self._report, None, main, others)
        self._translators = [
            Reader(self._report, code, main, others)
            for code in languages
            if not refusal("translations", "language", code)
        ]
        self._agencies: dict[Node, str] = {}
        self._services: dict[Node, tuple[str, str]] = {}
        self._grouped: dict[Node, list[tuple[str, str]]] = {}

    def agency(self, node: Node) -> str:
        """Add an agency once, and return its identifier, "" for none."""
        if node not in self._agencies:
            entry = self._entry(node, "agency")
            self._agencies[node] = entry.identifier if entry else ""
            if entry:
                entry.values["path"] = self._page(node)
                self._contents.add("agencies", entry)
        return self._agencies[node]

    def dictionaries(self) -> None:
        """Read the dictionaries of agencies, whose entries need no service."""
        for node in self._nodes:
            # Only looked at: a category without an agency is reached by its services, or by none.
            if "schema:CategoryCode" in node.types:
                code_sets = (value for name in _CODE_SETS for value in node.values.get(name, ()))
                for code_set in [value for value in code_sets if isinstance(value, Node)]:
                    for agency in self._original.nodes(code_set, "publisher", "creator"):
                        self._category(node, node.pointer, self.agency(agency))

    def service(self, node: Node) -> None:
        """Add a service with its categories, and note the events that group it."""
        agency = self._authority(node)
        entry = self._entry(node, "service")
        if entry is None:
            return
        entry.agency = agency
        if not entry.values["contact"]:
            self._inherit_contact(entry, node)
        channels = self._original.nodes(node, *_CHANNELS)
        links = [self._original.links(channel, *_CHANNEL_LINKS) for channel in channels]
        entry.values["path"] = self._page(node)
        entry.values["url"] = self._link(node, [link for urls in links for link in urls])
        categories = [
            self._category(value, node.pointer_of(name), agency)
            for name in _CATEGORIES
            for value in self._values(node, name)
            if not (name in _GROUPS and isinstance(value, Node) and _kind(value))
        ]
        self._services[node] = agency, entry.identifier
        for event in self._original.nodes(node, *_GROUPS):
            if _kind(event):
                self._grouped.setdefault(event, []).append((agency, entry.identifier))
        entry.categories = [category for category in dict.fromkeys(categories) if category]
        self._contents.add("services", entry)

    def situations(self) -> None:
        """Read the events that group services, after all of these."""
        for node in filter(_kind, self._nodes):
            is_of_cpsv = any(kind.startswith("cv:") for kind in node.types)
            if not (node in self._grouped or node.has(*_GROUPED) or is_of_cpsv):
                continue
            related = self._original.nodes(node, *_GROUPED)
            services = [self._services[service] for service in related if service in self._services]
            services += self._grouped.get(node, [])
            values: dict[str, Any] = {
                "kind": _kind(node),
                "name": _name(node, self._original),
                "description": _about(node, self._original),
            }
            if identifier := self._identifier(node, values["name"], "situation"):
                columns = {"name": _name, "description": _about}
                translations = dict(self._translations(node, columns))
                entry = Entry(
                    identifier, node.pointer, values, translations=translations, services=services
                )
                self._contents.add("situations", entry)

    def _inherit_contact(self, entry: Entry, node: Node) -> None:
        """Give a service the contact of who provides it."""
        providers = (value for role in _AUTHORITY for value in self._values(node, role))
        for provider in (value for value in providers if isinstance(value, Node)):
            entry.values["contact"] = entry.values["contact"] or _contact(provider, self._original)
            for language, texts in self._translations(provider, {"contact": _contact}):
                if texts["contact"]:
                    entry.translations.setdefault(language, {}).setdefault(
                        "contact", texts["contact"]
                    )

    def _authority(self, node: Node) -> str:
        """Return the identifier of the agency of a service, "" for none."""
        for role in _AUTHORITY:
            for value in self._values(node, role):
                if isinstance(value, Node):
                    return value.address if value.is_empty else self.agency(value)
                if name := self._original.text(node, role).strip():
                    # An address is no name, but what the file does not describe.
                    if not name.startswith(("http://", "https://")):
                        entry = Entry(name, node.pointer_of(role), {"name": name})
                        self._contents.add("agencies", entry)
                    return name
        return ""

    def _category(self, value: Value, location: str, agency: str) -> str:
        """Add a category of an agency, and return its identifier, "" for none."""
        entry: Entry | None = None
        if isinstance(value, Text):
            if value.language not in ("", self._original.main):
                return ""
            value.plain = text = plain(value.raw, location, self._report).strip()
            entry = Entry(text, location, {"value": text}) if text else None
        elif not value.is_empty:
            value.followed.update(_CODE_SETS)
            entry = self._entry(value, "category")
            if entry:
                entry.values["value"] = entry.values.pop("name")
        elif value.address:
            why = "only the address of the category is there: its last part stands for its name"
            self._report.changed(location, why)
            last = value.address.rstrip("/").replace("#", "/").rpartition("/")[2]
            entry = Entry(value.address, location, {"value": last})
        else:
            self._report.left_out(location, "refers to what is not in the file")
        if entry is None:
            return ""
        entry.agency = agency
        self._contents.add("dictionary", entry)
        return entry.identifier

    def _entry(self, node: Node, kind: str) -> Entry | None:
        """Return what a node describes, with its translations; None without any identifier."""
        columns = _COLUMNS[kind]
        values: dict[str, Any] = {
            name: read(node, self._original) for name, read in columns.items()
        }
        identifier = self._identifier(node, str(values["name"]), kind)
        if not identifier:
            return None
        translated = {column: columns[column] for column in TRANSLATED[kind]}
        translations = dict(self._translations(node, translated))
        return Entry(identifier, node.pointer, values, translations=translations)

    def _translations(
        self, node: Node, columns: Mapping[str, _Column]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each language of a node with the columns that are in it."""
        for reader in self._translators:
            texts: dict[str, Any] = {}
            for column, read in columns.items():
                reader.translated = False
                text = read(node, reader)
                if reader.translated:
                    texts[column] = text
            if texts and reader.language:
                yield reader.language, texts

    def _identifier(self, node: Node, name: str, kind: str) -> str:
        """Return the IRI of a node, or without one its identifier or its name.

        An identifier is unique in one catalogue only, and a file may leave it out: it decides over
        the IRI only where that is one that this application publishes.
        """
        identifier = next(self._identifiers(node), "")
        is_published = bool(identifier) and published_identifier(node.address) == identifier
        if node.address and not is_published:
            return node.address
        if identifier:
            return identifier
        if name.strip():
            why = f"the {kind} has no identifier: its name stands for one, so it must not change"
            self._report.changed(node.pointer, why)
            return name
        self._report.problem(node.pointer, f"the {kind} has no identifier and no name")
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
        pages = self._original.nodes(node, "mainEntityOfPage")
        words = [text for page in pages for text in self._original.texts(page, "breadcrumb")]
        return self._link(node, [*self._original.links(node, *_PAGES), *words])

    def _link(self, node: Node, links: list[str]) -> str:
        different = [link for link in dict.fromkeys(links) if link]
        for link in different[1:]:
            self._report.left_out(node.pointer, f"only the first link has a place, not {link[:80]}")
        return different[0] if different else ""


_Column: TypeAlias = Callable[[Node, Reader], "str | list[str]"]


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
    guides = _how_to(node, reader)
    supplies = [label for guide in guides for label in reader.labels(guide, "supply", "tool")]
    return [*supplies, *reader.labels(node, *_INPUTS)]


def _steps(node: Node, reader: Reader) -> list[str]:
    steps: list[str] = []
    for guide in _how_to(node, reader):
        for step in reader.nodes(guide, "step"):
            step.skip("position")
            steps.append(reader.text(step, "text", *NAMES, *ABOUT))
        steps.extend(reader.texts(guide, "step"))
    steps.extend(reader.text(rule, *ABOUT, *NAMES) for rule in reader.nodes(node, "follows"))
    return [step for step in steps if step.strip()]


def _how_to(node: Node, reader: Reader) -> list[Node]:
    """Return the HowTo nodes about a service in the reader's language, or else in the file's."""
    guides = [guide for guide in reader.nodes(node, "subjectOf") if "schema:HowTo" in guide.types]
    tags = [next(iter(reader.links(guide, "inLanguage")), "") for guide in guides]
    languages = [tag.lower().partition("-")[0] for tag in tags]
    chosen = reader.chosen(languages)
    return [guide for guide, code in zip(guides, languages, strict=True) if code == chosen]


def _fees(node: Node, reader: Reader) -> str:
    lines = reader.texts(node, "feesAndCommissionsSpecification")
    for value, currency, name in _prices(node, reader):
        if not amount(value, currency, name):
            lines.append(pair(name, f"{value} {currency.upper()}".strip()))
    return joined(lines)


def _amounts(node: Node, reader: Reader) -> list[str]:
    return [text for price in _prices(node, reader) if (text := amount(*price))]


def _prices(node: Node, reader: Reader) -> Iterator[tuple[str, str, str]]:
    """Yield the value, the currency and the name of each price."""
    for offer in reader.nodes(node, "offers"):
        price = reader.text(offer, "price"), reader.text(offer, "priceCurrency")
        yield *price, reader.text(offer, *NAMES, *ABOUT)
    for cost in reader.nodes(node, "hasCost"):
        currency = next(iter(reader.links(cost, "currency")), "").rpartition("/")[2]
        value = reader.text(cost, "hasValue", "value")
        yield value, currency, reader.text(cost, *ABOUT, *NAMES)


def _locations(node: Node, reader: Reader) -> list[Node]:
    """Return the places of a node and its channels that have columns; the contact has others."""
    owners = (node, *reader.nodes(node, *_CHANNELS))
    places = (place for owner in owners for place in reader.nodes(owner, *_LOCATIONS))
    return list(filter(_has_columns, places))


def _has_columns(place: Node) -> bool:
    is_plain = all(isinstance(address, Text) for address in place.values.get("address", ()))
    is_known = place.values.keys() <= {"name", "address", "openingHours"}
    return "schema:CivicStructure" in place.types and is_known and is_plain


def _places(node: Node, reader: Reader) -> list[str]:
    locations = _locations(node, reader)
    pairs = ((reader.text(place, *NAMES), reader.text(place, "address")) for place in locations)
    return [", ".join(map(one_line, texts)) for texts in pairs if all(texts)]


def _opening_hours(node: Node, reader: Reader) -> list[str]:
    places = _locations(node, reader)
    return list(dict.fromkeys(t for place in places for t in reader.texts(place, "openingHours")))


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
        for location in reader.nodes(channel, "serviceLocation"):
            if not _has_columns(location):
                lines += [*reader.texts(location, *NAMES), *_ways(location, reader)]
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
    for hours_node in reader.nodes(node, "hoursAvailable", "openingHoursSpecification"):
        days = [*reader.labels(hours_node, "dayOfWeek"), *reader.links(hours_node, "dayOfWeek")]
        names = dict.fromkeys(day.rpartition("/")[2].rpartition(":")[2] for day in days)
        times = [clock(reader.text(hours_node, name)) for name in ("opens", "closes")]
        hours.append(pair(", ".join(names), " to ".join(filter(None, times))))
    yield from (labelled("Hours", one_line(text)) for text in hours)


_COLUMNS: Mapping[str, Mapping[str, _Column]] = {
    "agency": {
        "name": _name,
        "description": _about,
        "places": _places,
        "hours": _opening_hours,
    },
    "category": {
        "name": _name,
        "keywords": lambda node, reader: reader.texts(node, "alternateName", "altLabel"),
    },
    "service": {
        "name": _name,
        "overview": _about,
        "applicability_summary": _applicability,
        "requirements": _requirements,
        "fees": _fees,
        "processing_time": _processing_time,
        "how_to_apply": _steps,
        "contact": _contact,
        "amounts": _amounts,
        "places": _places,
        "hours": _opening_hours,
    },
}


def _is_a(node: Node, types: frozenset[str]) -> bool:
    return any(kind in types or kind.partition(":")[2] in types for kind in node.types)


def _kind(node: Node) -> str:
    """Return the kind of situation that a node is, "" for none."""
    return next((_KINDS[n] for t in node.types if (n := t.rpartition(":")[2]) in _KINDS), "")


def _languages(nodes: Iterable[Node], names: Iterable[str] = ()) -> set[str]:
    """Return every language that a text is tagged with, of these properties or of any."""
    values = (v for node in nodes for n in names or node.values for v in node.values.get(n, ()))
    return {value.language for value in values if isinstance(value, Text) and value.language}


def _main_language(nodes: Iterable[Node], language: str) -> str:
    """Return the language of the originals: "" where names have no tag, else the file's own."""
    counts: Counter[str] = Counter()
    for types in (_SERVICES, _AGENCIES):
        for node in nodes if not counts else ():
            for name in NAMES if _is_a(node, types) else ():
                values = (v for v in node.values.get(name, ()) if isinstance(v, Text))
                counts.update({value.language for value in values})
    if "" in counts:
        return ""
    if language in counts or not counts:
        return language
    return _SITE_LANGUAGE if _SITE_LANGUAGE in counts else counts.most_common(1)[0][0]
