"""schema.org GovernmentService and CPSV-AP PublicService: :data:`_COLUMNS` says which property is
which column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ieim.knowledge.bundles.columns import TRANSLATED, refusal
from ieim.studio.standards.addresses import published_identifier
from ieim.studio.standards.graph import (
    ABOUT,
    NAMES,
    Column,
    Node,
    Part,
    Reader,
    Text,
    Value,
    each,
    entries,
    items,
    lines,
    listed,
    note_unread,
    text,
    texts,
)
from ieim.studio.standards.json_ld import no_language, read_nodes
from ieim.studio.standards.report import Report
from ieim.studio.standards.rows import Contents, Entry
from ieim.studio.standards.texts import amount, clock, duration, one_line, pair, plain

_SERVICES = frozenset({"GovernmentService", "PublicService"})
_AGENCIES = frozenset(
    {
        *("GovernmentOrganization", "GovernmentOffice", "PublicOrganisation", "PublicOrganization"),
        "org:Organization",
    }
)
_AUTHORITY = ("provider", "hasCompetentAuthority", "serviceOperator")
_GROUPS = ("isGroupedBy",)
_CATEGORIES = ("category", "serviceType", "thematicArea", "sector", "isClassifiedBy", *_GROUPS)
_GROUPED = ("relation", "relatedService")
_KINDS = {"LifeEvent": "life", "BusinessEvent": "business"}
"""Which situation an event of CPSV-AP is. A BusinessEvent of schema.org is a fair, which groups no
service."""
_CODE_SETS = ("inCodeSet", "inDefinedTermSet")
_IDS = ("codeValue", "termCode", "identifier")
_PAGES = ("url", "homepage", "page", "landingPage", "mainEntityOfPage")
_CHANNELS = ("availableChannel", "hasChannel")
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
        self._original = Reader(self._report, None, main, others)
        self._translators: list[Reader] = []
        for code in sorted(_languages(nodes) - {main}):
            if refusal("translations", "language", code):
                self._report.left_out("", no_language(code))
            else:
                self._translators.append(Reader(self._report, code, main, others))
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
        channels = self._original.nodes(node, *_CHANNELS)
        names = ("serviceUrl", "url", "homepage", "page")
        links = [link for c in channels for link in self._original.links(c, *names)]
        entry.values |= {"path": self._page(node), "url": self._link(node, links)}
        categories = (
            self._category(value, node.pointer_of(name), agency)
            for name in _CATEGORIES
            for value in self._original.values(node, name)
            if not (name in _GROUPS and isinstance(value, Node) and _kind(value))
        )
        entry.categories = list(filter(None, dict.fromkeys(categories)))
        self._services[node] = agency, entry.identifier
        for event in filter(_kind, self._original.nodes(node, *_GROUPS)):
            self._grouped.setdefault(event, []).append(self._services[node])
        self._contents.add("services", entry)

    def situations(self) -> None:
        """Read the events that group services, after all of these."""
        for node in filter(_kind, self._nodes):
            is_of_cpsv = any(kind.startswith("cv:") for kind in node.types)
            if not (node in self._grouped or node.has(*_GROUPED) or is_of_cpsv):
                continue
            related = self._original.nodes(node, *_GROUPED)
            if entry := self._entry(node, "situation"):
                entry.values["kind"] = _kind(node)
                entry.services = [self._services[s] for s in related if s in self._services]
                entry.services += self._grouped.get(node, [])
                self._contents.add("situations", entry)

    def _authority(self, node: Node) -> str:
        """Return the identifier of the agency of a service, "" for none."""
        for role in _AUTHORITY:
            for value in self._original.values(node, role):
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
        entry = Entry(identifier, node.pointer, values)
        for reader in self._translators:
            translation: dict[str, Any] = {}
            for column in filter(TRANSLATED[kind].__contains__, columns):
                reader.translated = False
                value = columns[column](node, reader)
                if reader.translated:
                    translation[column] = value
            if translation and reader.language:
                entry.translations[reader.language] = translation
        return entry

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
        for value in self._original.values(node, *_IDS):
            if isinstance(value, Node):
                yield from filter(None, [self._original.text(value, "value", "notation")])
            elif value.raw.strip():
                value.plain = value.raw
                yield value.raw

    def _page(self, node: Node) -> str:
        """Return the path: a page's address, or where it is to be found in words."""
        pages = self._original.nodes(node, "mainEntityOfPage")
        words = [text for page in pages for text in self._original.texts(page, "breadcrumb")]
        return self._link(node, [*self._original.links(node, *_PAGES), *words])

    def _link(self, node: Node, links: list[str]) -> str:
        first, *others = [*dict.fromkeys(filter(None, links)), ""]
        for link in others[:-1]:
            self._report.left_out(node.pointer, f"only the first link has a place, not {link[:80]}")
        return first


def _name(node: Node, reader: Reader) -> str:
    return reader.name(node, *NAMES, "legalName")


def _guides(*parts: Part) -> Part:
    """Read the HowTo nodes about a service in the reader's language, or else in the file's."""

    def read(node: Node, reader: Reader) -> Iterator[str]:
        nodes = reader.nodes(node, "subjectOf")
        guides = [guide for guide in nodes if "schema:HowTo" in guide.types]
        tags = [next(iter(reader.links(guide, "inLanguage")), "") for guide in guides]
        languages = [tag.lower().partition("-")[0] for tag in tags]
        chosen = reader.chosen(languages)
        for guide, language in zip(guides, languages, strict=True):
            for part in parts if language == chosen else ():
                yield from part(guide, reader)

    return read


def _step(step: Node, reader: Reader) -> Iterator[str]:
    step.skip("position")
    yield reader.text(step, "text", *NAMES, *ABOUT)


def _rule(rule: Node, reader: Reader) -> Iterator[str]:
    yield reader.text(rule, *ABOUT, *NAMES)


def _price(*names: str, is_amount: bool = False) -> Part:
    """Read what is paid, called by the first of these properties: as the column of amounts has it,
    or else those that this does not take, in words."""

    def read(node: Node, reader: Reader) -> Iterator[str]:
        link = next(iter(reader.links(node, "priceCurrency", "currency")), "")
        currency = link.rpartition("/")[2].upper()
        value, name = reader.text(node, "price", "hasValue", "value"), reader.text(node, *names)
        text = amount(value, currency, name)
        if is_amount or not text:
            yield text if is_amount else pair(name, f"{value} {currency}".strip())

    return read


def _email(text: str) -> str:
    return text.removeprefix("mailto:")


def _opening(node: Node, reader: Reader) -> Iterator[str]:
    days = [*reader.labels(node, "dayOfWeek"), *reader.links(node, "dayOfWeek")]
    names = dict.fromkeys(day.rpartition("/")[2].rpartition(":")[2] for day in days)
    times = [clock(reader.text(node, name)) for name in ("opens", "closes")]
    if hours := one_line(pair(", ".join(names), " to ".join(filter(None, times)))):
        yield f"Hours: {hours}"


def _locations(node: Node, reader: Reader) -> list[Node]:
    """Return the places of a node and its channels that have columns; the contact has others."""
    owners = (node, *reader.nodes(node, *_CHANNELS))
    places = (
        place for owner in owners for place in reader.nodes(owner, "location", "serviceLocation")
    )
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


def _location(place: Node, reader: Reader) -> Iterator[str]:
    for part in () if _has_columns(place) else (texts(*NAMES), *_WAYS):
        yield from part(place, reader)


def _point(point: Node, reader: Reader) -> list[str]:
    kind = reader.text(point, "contactType", *NAMES)
    parts = (texts(*ABOUT), *_REACHED)
    return [pair(kind, line) for part in parts for line in part(point, reader)]


def _contact(node: Node, reader: Reader) -> str:
    """Return how a service is reached, or else who provides it."""
    providers = (value for value in reader.values(node, *_AUTHORITY) if isinstance(value, Node))
    contacts = (lines(*_WAYS, each(*_CHANNELS, of=_CHANNEL))(n, reader) for n in [node, *providers])
    return next(filter(None, contacts), "")


_REACHED: tuple[Part, ...] = (
    texts("telephone", label="Phone"),
    texts("hasTelephone", label="Phone"),
    texts("email", label="Email", form=_email),
    texts("hasEmail", label="Email", form=_email),
    lambda node, reader: reader.links(node, "contactPage"),
    items(*("openingHours", "hoursAvailable", "specialOpeningHoursSpecification"), label="Hours"),
    each("hoursAvailable", "openingHoursSpecification", of=[_opening]),
)
"""Phones, e-mails, pages and hours, a line each."""
_ADDRESS = listed(
    *("name", "postOfficeBoxNumber", "streetAddress", "fullAddress", "thoroughfare", "postalCode"),
    *("postCode", "addressLocality", "postName", "addressRegion", "addressCountry"),
)
_WAYS: tuple[Part, ...] = (
    each("contactPoint", "hasContactPoint", of=[_point]),
    each("address", "servicePostalAddress", of=[_ADDRESS]),
    texts("address"),
    *_REACHED,
)
_CHANNEL: tuple[Part, ...] = (
    *(texts(*NAMES), texts(*ABOUT)),
    *_WAYS,
    each("servicePhone", "serviceSmsNumber", of=[_point]),
    texts("servicePhone", "serviceSmsNumber"),
    each("serviceLocation", of=[_location]),
    listed("availableLanguage", label="Languages"),
)
_DESCRIBED: Mapping[str, Column] = {"name": _name, "description": text(*ABOUT)}
_COLUMNS: Mapping[str, Mapping[str, Column]] = {
    "agency": {**_DESCRIBED, "places": _places, "hours": _opening_hours},
    "situation": _DESCRIBED,
    "category": {"name": _name, "keywords": entries(texts("alternateName", "altLabel"))},
    "service": {
        "name": _name,
        "overview": text(*ABOUT),
        "applicability_summary": lines(
            items("audience", "serviceAudience", "addressee"),
            listed("areaServed", "serviceArea", "spatial", label="Area"),
        ),
        "requirements": entries(
            _guides(items("supply", "tool")),
            items("hasInput", "hasInputType", "holdsRequirement", "hasCriterion"),
        ),
        "fees": lines(
            texts("feesAndCommissionsSpecification"),
            each("offers", of=[_price(*NAMES, *ABOUT)]),
            each("hasCost", of=[_price(*ABOUT, *NAMES)]),
        ),
        "processing_time": lines(
            texts("processingTime", form=duration),
            each(*_CHANNELS, of=[texts("processingTime", form=duration)]),
        ),
        "how_to_apply": entries(
            _guides(each("step", of=[_step]), texts("step")), each("follows", of=[_rule])
        ),
        "contact": _contact,
        "amounts": entries(
            each("offers", of=[_price(*NAMES, *ABOUT, is_amount=True)]),
            each("hasCost", of=[_price(*ABOUT, *NAMES, is_amount=True)]),
        ),
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
