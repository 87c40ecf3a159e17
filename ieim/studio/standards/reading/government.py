"""schema.org GovernmentService and CPSV-AP PublicService, as JSON-LD."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ieim.knowledge.bundles.columns import COLUMNS, TRANSLATED
from ieim.studio.standards.found import Finds, Found
from ieim.studio.standards.reading import government_texts as parts
from ieim.studio.standards.reading.graph import Graph, Literal, Node, Ref, Value
from ieim.studio.standards.reading.voice import ABOUT, NAMES, Voice, tags
from ieim.studio.standards.report import Report

SERVICES = frozenset({"schema:GovernmentService", "cpsv:PublicService", "cv:PublicService"})
_AGENCIES = frozenset(
    {
        *("schema:GovernmentOrganization", "cv:PublicOrganisation", "cv:PublicOrganization"),
        *("org:Organization", "schema:GovernmentOffice"),
    }
)
_AUTHORITY = ("schema:provider", "cv:hasCompetentAuthority", "schema:serviceOperator")
_CATEGORIES = (
    *("schema:category", "schema:serviceType", "cv:thematicArea", "cv:sector"),
    *("cv:isClassifiedBy", "cv:isGroupedBy"),
)
_CODE_SETS = ("schema:inCodeSet", "schema:inDefinedTermSet")
_PAGES = ("schema:url", "foaf:homepage", "foaf:page", "dcat:landingPage", "schema:mainEntityOfPage")
_IDS = ("schema:identifier", "dct:identifier", "adms:identifier")
_SITE_LANGUAGE = "en"

_Reader = Callable[[Node, Voice], "str | list[str]"]
_SERVICE: Mapping[str, _Reader] = {
    "name": lambda node, voice: voice.name(node, *NAMES),
    "overview": lambda node, voice: voice.text(node, *ABOUT),
    "applicability_summary": parts.applicability,
    "requirements": parts.requirements,
    "fees": parts.fees,
    "processing_time": parts.processing_time,
    "how_to_apply": parts.how_to_apply,
    "contact": parts.contact,
}
_AGENCY: Mapping[str, _Reader] = {
    "name": lambda node, voice: voice.name(node, *NAMES, "schema:legalName"),
    "description": lambda node, voice: voice.text(node, *ABOUT),
}
_CATEGORY: Mapping[str, _Reader] = {
    "name": lambda node, voice: voice.name(node, *NAMES),
    "keywords": lambda node, voice: voice.texts(node, "schema:alternateName", "skos:altLabel"),
}


def read_json_ld(value: Any, report: Report) -> Finds:
    """Return what a JSON-LD file describes; a file without services becomes a problem."""
    graph = Graph(value, report)
    finds = Finds("JSON-LD: schema.org and CPSV-AP", report)
    reading = _Reading(graph, finds)
    reading.agencies()
    reading.categories()
    reading.services()
    if not finds.services and not finds.agencies and not report.problems:
        types = Counter(each for node in graph.nodes for each in node.types)
        few = ", ".join(name for name, _ in types.most_common(5)) or "none"
        message = f"has no GovernmentService and no PublicService (types in it: {few})"
        report.problem("", message)
    graph.tell_rest()
    return finds


class _Reading:
    def __init__(self, graph: Graph, finds: Finds) -> None:
        self._graph = graph
        self._finds = finds
        main = _main_language(graph)
        others = frozenset(tags(graph, *NAMES) - {main})
        languages = sorted(filter(self._is_language, tags(graph) - {main}))
        self._voices = [Voice(graph, each, main, others) for each in (None, *languages)]
        self._main = main
        self._agency_of: dict[Node, str] = {}

    def _is_language(self, language: str) -> bool:
        _, complaints = COLUMNS["translations"]["language"].read(language)
        wrong = any(complaints)
        if wrong:
            why = f"texts in {language[:20]!r}, which is no code of ISO 639 such as fr"
            self._graph.report.left_out("", why)
        return not wrong

    @property
    def _own(self) -> Voice:
        return self._voices[0]

    def agencies(self) -> None:
        for node in self._graph.nodes:
            if node.types & _AGENCIES and not node.inside:
                self._agency(node)

    def categories(self) -> None:
        """Read the dictionaries of agencies, whose entries need no service."""
        for node in self._graph.nodes:
            if "schema:CategoryCode" not in node.types:
                continue
            for code_set in self._sets(node):
                for agency in self._own.nodes(code_set, "schema:publisher", "schema:creator"):
                    self._category(node, self._agency(agency))

    def _sets(self, node: Node) -> list[Node]:
        # Only looked at: a category without an agency is reached by its services, or by none.
        values = (value for name in _CODE_SETS for value in node.values.get(name, ()))
        return [found for value in values if (found := self._graph.node(value))]

    def services(self) -> None:
        for node in self._graph.nodes:
            if node.types & SERVICES:
                self._service(node)

    def _service(self, node: Node) -> None:
        agency = self._authority(node)
        found = self._found(node, "service", _SERVICE, TRANSLATED["service"])
        if found is None:
            return
        found.agency = agency
        self._page(node, found)
        for channel in self._own.nodes(node, *parts.CHANNELS):
            names = ("schema:serviceUrl", "schema:url", "foaf:homepage", "foaf:page")
            self._link(found, "url", self._own.links(channel, *names))
        for name in _CATEGORIES:
            for value in self._graph.values(node, name):
                found.categories.append(self._category(value, agency))
        found.categories = [each for each in dict.fromkeys(found.categories) if each]
        self._finds.add_service(found)

    def _authority(self, node: Node) -> str:
        for role in _AUTHORITY:
            for value in self._graph.values(node, role):
                agency = self._graph.node(value)
                if agency is not None:
                    return self._agency(agency)
                if isinstance(value, Ref):
                    return value.address
                if isinstance(value, Literal) and value.raw.strip():
                    name = value.text(self._graph.report).strip()
                    self._finds.add_agency(Found(name, value.at, {"name": name}))
                    return name
        return ""

    def _agency(self, node: Node) -> str:
        if node not in self._agency_of:
            found = self._found(node, "agency", _AGENCY, TRANSLATED["agency"])
            self._agency_of[node] = "" if found is None else found.identifier
            if found is not None:
                self._page(node, found)
                self._finds.add_agency(found)
        return self._agency_of[node]

    def _category(self, value: Value, agency: str) -> str:
        node = self._graph.node(value)
        if node is not None:
            list(self._graph.values(node, *_CODE_SETS))
            found = self._found(node, "category", _CATEGORY, TRANSLATED["category"])
            if found is None:
                return ""
            found.values["value"] = found.values.pop("name")
        elif isinstance(value, Literal):
            if value.language not in ("", self._main) or not value.raw.strip():
                return ""
            text = value.text(self._graph.report).strip()
            found = Found(text, value.at, {"value": text})
        else:
            why = "only the address of the category is there: its last part stands for its name"
            self._graph.report.changed(value.at, why)
            last = value.address.rstrip("/").replace("#", "/").rpartition("/")[2]
            found = Found(value.address, value.at, {"value": last})
        found.agency = agency
        self._finds.add_category(found)
        return found.identifier

    def _found(
        self, node: Node, what: str, readers: Mapping[str, _Reader], translated: Iterable[str]
    ) -> Found | None:
        """Return what a node describes, with its translations; None without any identifier."""
        values: dict[str, Any] = {name: read(node, self._own) for name, read in readers.items()}
        identifier = self._identifier(node, str(values["name"]), what)
        if not identifier:
            return None
        found = Found(identifier, node.at, values)
        for column in values:
            if at := _first_at(node, column):
                found.at[column] = at
        for voice in self._voices[1:]:
            texts: dict[str, Any] = {}
            for column in translated:
                voice.hit = False
                text = readers[column](node, voice)
                if voice.hit:
                    texts[column] = text
            if texts and voice.language:
                found.translations[voice.language] = texts
        return found

    def _identifier(self, node: Node, name: str, what: str) -> str:
        for value in self._graph.values(node, "schema:codeValue", "schema:termCode", *_IDS):
            if isinstance(value, Literal) and value.raw.strip():
                return value.raw
            inner = self._graph.node(value)
            if inner is not None:
                for text in self._own.texts(inner, "schema:value", "skos:notation"):
                    return text
        if node.address and not node.address.startswith("_:"):
            return node.address
        if name.strip():
            why = f"the {what} has no identifier: its name stands for one, so it must not change"
            self._graph.report.changed(node.at, why)
            return name
        self._graph.report.problem(node.at, f"the {what} has no identifier and no name")
        return ""

    def _page(self, node: Node, found: Found) -> None:
        """Set the path: a page's address, or where it is to be found in words."""
        words = [
            (text, page.at)
            for page in self._own.nodes(node, "schema:mainEntityOfPage")
            for text in self._own.texts(page, "schema:breadcrumb")
        ]
        self._link(found, "path", [*self._own.links(node, *_PAGES), *words])

    def _link(self, found: Found, column: str, links: Iterable[tuple[str, str]]) -> None:
        for link, at in links:
            if not found.values.get(column):
                found.values[column], found.at[column] = link, at
            elif found.values[column] != link:
                self._graph.report.left_out(at, "only the first link has a place")


def _first_at(node: Node, column: str) -> str:
    names = {"name": NAMES, "overview": ABOUT, "description": ABOUT}.get(column, ())
    return next((value.at for name in names for value in node.values.get(name, ())), "")


def _main_language(graph: Graph) -> str:
    """Return the language of the originals: "" where names have no tag, else the file's own."""
    found: Counter[str] = Counter()
    for types in (SERVICES, _AGENCIES):
        for node in graph.nodes if not found else ():
            for name in NAMES if node.types & types else ():
                values = (v for v in node.values.get(name, ()) if isinstance(v, Literal))
                found.update({value.language for value in values})
    if "" in found:
        return ""
    if graph.language in found or not found:
        return graph.language
    return _SITE_LANGUAGE if _SITE_LANGUAGE in found else found.most_common(1)[0][0]
