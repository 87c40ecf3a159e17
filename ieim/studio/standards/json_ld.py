"""A JSON-LD file as nodes, expanded by rdflib. No context is ever fetched.

Contexts of schema.org and CPSV-AP become small bundled ones before rdflib sees the file: a name
without a context is one of schema.org, and the known vocabularies share local names where they mean
the same (``schema:name``, ``dct:description``, ``cv:contactPoint``).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NoReturn

from rdflib import RDF, BNode, Graph, Literal, URIRef
from rdflib.plugins.parsers.jsonld import TYPE_TERM, Parser
from rdflib.plugins.shared.jsonld import context as rdflib_context
from rdflib.plugins.shared.jsonld.context import Context

from ieim.pipeline.findings import pointer
from ieim.studio.standards.graph import Node, Text
from ieim.studio.standards.report import Problem, Report, StandardError

NAMESPACES: Mapping[str, str] = {
    "schema": "https://schema.org/",
    "cpsv": "http://purl.org/vocab/cpsv#",
    "cv": "http://data.europa.eu/m8g/",
    "dct": "http://purl.org/dc/terms/",
    "dcterms": "http://purl.org/dc/terms/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "locn": "http://www.w3.org/ns/locn#",
    "org": "http://www.w3.org/ns/org#",
    "adms": "http://www.w3.org/ns/adms#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
}
"""Known vocabularies by their usual prefixes."""

_SCHEMA_ORG = {"@vocab": NAMESPACES["schema"]}
_ALIASES = {"id": "@id", "type": "@type"}
"""As the contexts of schema.org and NGSI-LD have it."""
_NGSI = {
    "Property": "value",
    "GeoProperty": "value",
    "LanguageProperty": "languageMap",
    "Relationship": "object",
}
"""Where the value of a property of NGSI-LD stands, by its type."""
_DEFAULT = {**_SCHEMA_ORG, **NAMESPACES}
_PREFIXES = {iri: prefix for prefix, iri in NAMESPACES.items()}
for _host in ("http://schema.org/", "http://www.schema.org/", "https://www.schema.org/"):
    _PREFIXES[_host] = "schema"
_NAMESPACE = re.compile("|".join(map(re.escape, _PREFIXES)))
_TERM_KEYS = ("@id", "@reverse", "@language", "@index", "@nest", "@prefix")
_LANGUAGE_KEY = re.compile(r"[a-z]{2}(?:-[A-Za-z0-9]{2,8})*", re.ASCII)
_LANGUAGE = re.compile(r"[a-z]{1,8}", re.ASCII)
_SCHEME = re.compile(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*+:", re.ASCII | re.IGNORECASE)
_PLACE, _ROOT = "@place", "@root"

logging.getLogger("rdflib.term").setLevel(logging.ERROR)  # it warns of every odd address


def _fetch_nothing(*arguments: object, **options: object) -> NoReturn:
    raise ValueError("contexts are not fetched")


# Every context is made local below. Should one be missed, rdflib still gets nothing.
rdflib_context.source_to_json = _fetch_nothing  # type: ignore[attr-defined]


def read_nodes(value: Any, report: Report) -> tuple[list[Node], str]:
    """Return the nodes of a JSON-LD file in its order, and the language of its context ("": none).

    Raises:
        StandardError: For what is no JSON-LD.
    """
    source = _Source(report)
    prepared = source.prepared(value, "", nested=False)
    report.check()
    parser, context, sink = _Parser(report), Context(), _Nodes()
    context.load(_DEFAULT)
    try:
        parser.parse(prepared, context, sink)
    except Exception as error:  # rdflib fails in many ways where a file is not as it expects
        raise StandardError([Problem("", "is no JSON-LD that can be read")]) from error
    sink.resolve(parser.addresses)
    return [node for node in sink.nodes.values() if not node.is_empty], source.language


class _Source:
    """Makes a file ready for rdflib: its contexts local, a place in every object."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.language = ""
        self._aliases = dict(_ALIASES)

    def prepared(self, value: Any, location: str, *, nested: bool) -> Any:
        if isinstance(value, list):
            return [
                self.prepared(item, location + pointer(index), nested=nested)
                for index, item in enumerate(value)
            ]
        if not isinstance(value, dict):
            if not nested:
                message = "is no JSON object: a node of JSON-LD is expected here"
                self.report.problem(location, message)
            return value
        if nested and (unwrapped := _unwrapped(value)) is not value:
            return self.prepared(unwrapped, location, nested=True)
        if "@value" in value:
            return {key: item for key, item in value.items() if key != "@context"}
        for keyword in ("@list", "@set"):
            if keyword in value:
                return self.prepared(value[keyword], location + pointer(keyword), nested=True)
        if _is_language_map(value):
            return [
                {"@value": text, "@language": tag}
                for tag, texts in value.items()
                for text in (texts if isinstance(texts, list) else [texts])
                if isinstance(text, str)
            ]
        node: dict[str, Any] = {}
        # The context first: it may have other meanings for the names below it.
        items: list[tuple[str, Any]] = sorted(value.items(), key=lambda pair: pair[0] != "@context")
        for name, item in items:
            key = self._aliases.get(name, name)
            if key == "@context":
                node[key] = self.context(item, location + pointer(key), top=not nested)
            elif key in ("@id", "@type"):
                # Nothing but text: an object here could have a context of its own.
                names = item if isinstance(item, list) else [item]
                names = [name for name in names if isinstance(name, str)]
                node[key] = names if key == "@type" else next(iter(names), None)
            else:
                inside = key not in ("@graph", "@included")
                node[key] = self.prepared(item, location + pointer(key), nested=inside)
        return {**node, _PLACE: location, **({} if nested else {_ROOT: location})}

    def context(self, value: Any, location: str, *, top: bool = False) -> Any:
        """Return a context without addresses of others, and without what only checks it."""
        if value is None:
            return [None, _DEFAULT]
        if isinstance(value, list):
            return [self.context(item, location, top=top) for item in value]
        if isinstance(value, str):
            return self._context_at(value, location)
        if not isinstance(value, dict):
            message = "is no context: JSON-LD has an address, an object or a list of them"
            self.report.problem(location, message)
            return {}
        if "@context" in value:
            return self.context(value["@context"], location, top=top)
        language = value.get("@language")
        if top and isinstance(language, str):
            self.language = self.language or _language(language)
        if "@import" in value:
            self._context_at(str(value["@import"]), location)
        keywords: dict[str, Any] = {
            n: v for n, v in value.items() if n in ("@base", "@vocab") and isinstance(v, str)
        }
        if "@language" in value:
            keywords["@language"] = _language(language) if isinstance(language, str) else None
        for name in self._aliases.keys() & value.keys():
            if value[name] != self._aliases[name]:
                del self._aliases[name]
        terms = {n: self._term(v, location) for n, v in value.items() if not n.startswith("@")}
        return [{**keywords, **terms}]  # in a list: rdflib takes an empty object for null

    def _term(self, value: Any, location: str) -> Any:
        if not isinstance(value, dict):
            return value
        term = {key: value[key] for key in _TERM_KEYS if key in value}
        if value.get("@type") in ("@id", "@vocab"):
            term["@type"] = value["@type"]
        containers = value.get("@container", [])
        containers = containers if isinstance(containers, list) else [containers]
        term["@container"] = [c for c in containers if isinstance(c, str) and c != "@list"]
        if "@context" in value:
            term["@context"] = self.context(value["@context"], location)
        return term

    def _context_at(self, address: str, location: str) -> Any:
        lowered = address.lower()
        if lowered.rpartition("://")[2].removeprefix("www.").startswith("schema.org"):
            return _SCHEMA_ORG
        if "cpsv" not in lowered:
            self.report.unread_contexts.setdefault(address, location)
            why = f"an unknown context, which is never fetched ({address[:200]}): names are taken"
            self.report.left_out(location, f"{why} for those of schema.org")
        return [{}]


class _Parser(Parser):
    """rdflib's parser, which keeps places, and texts as they are written whatever their type.

    ``addresses`` are whole addresses of texts that may be nodes.
    """

    def __init__(self, report: Report) -> None:
        super().__init__(generalized_rdf=True)
        self.addresses: dict[str, str] = {}
        self._report = report

    def _add_to_graph(
        self, dataset: Any, graph: Any, context: Any, node: Any, topcontext: bool = False
    ) -> Any:
        subject = super()._add_to_graph(dataset, graph, context, node, topcontext)
        if subject is not None and not isinstance(subject, Literal):
            graph.describe(subject, node)
        return subject

    def _to_object(
        self, dataset: Any, graph: Any, context: Any, term: Any, node: Any, inlist: bool = False
    ) -> Any:
        if term is TYPE_TERM:
            return super()._to_object(dataset, graph, context, term, node, inlist)
        if isinstance(node, tuple):
            node, tag = node
        elif isinstance(node, dict):
            tag, value = context.get_language(node), context.get_value(node)
            if value is None:
                return super()._to_object(dataset, graph, context, term, node, inlist)
            node = value
        else:
            tag = term.language if term and isinstance(term.language, str) else context.language
            if isinstance(node, str) and ":" in node and not re.search(r"\s", node):
                self.addresses[node] = context.resolve(node)
        if not isinstance(node, str | int | Decimal):
            return None
        language = _language(tag) if isinstance(tag, str) and isinstance(node, str) else ""
        if language and not _LANGUAGE.fullmatch(language):
            self._report.left_out("", no_language(language))
            return None
        return Literal(str(node), lang=language or None)


class _Nodes(Graph):
    """Takes what the parser finds: a graph that keeps order and repetition."""

    def __init__(self) -> None:
        super().__init__()
        self.nodes: dict[Any, Node] = {}

    def add(self, triple: Any) -> _Nodes:
        subject, predicate, value = triple
        node = self._node(subject)
        if predicate == RDF.type:
            node.types.add(":".join(filter(None, _local(str(value)))))
        else:
            is_text = isinstance(value, Literal)
            item = Text(str(value), value.language or "") if is_text else self._node(value)
            prefix, name = _local(str(predicate))
            # The context of CPSV-AP may put the class before a dot.
            name = name.rpartition(".")[2] if prefix else name
            node.values.setdefault(name, []).append(item)
        return self

    def describe(self, subject: Any, source: Mapping[str, Any]) -> None:
        """Note the place of a node; a mere reference to it has none."""
        node = self._node(subject)
        node.nested = node.nested and _ROOT not in source
        if not node.is_empty and not node.pointer:
            node.pointer = source.get(_PLACE, "")

    def resolve(self, addresses: Mapping[str, str]) -> None:
        """Put nodes in the place of texts that are their addresses."""
        for node in self.nodes.values():
            for values in node.values.values():
                for index, value in enumerate(values):
                    address = addresses.get(value.raw) if isinstance(value, Text) else None
                    target = self.nodes.get(URIRef(address)) if address else None
                    if target is not None and not target.is_empty and target is not node:
                        values[index] = target

    def _node(self, subject: Any) -> Node:
        if subject not in self.nodes:
            # A relative address says nothing outside of its page: it is no name of the node.
            is_name = not isinstance(subject, BNode) and _SCHEME.match(str(subject))
            address = str(subject) if is_name else ""
            self.nodes[subject] = Node(address=address)
        return self.nodes[subject]


def no_language(language: str) -> str:
    return f"texts in {language[:20]!r}, which is no code of ISO 639 such as fr"


def _local(iri: str) -> tuple[str, str]:
    """Return the prefix of a known vocabulary and the local name, or "" and the whole address."""
    match = _NAMESPACE.match(iri)
    return (_PREFIXES[match[0]], iri[match.end() :]) if match else ("", iri)


def _language(tag: str) -> str:
    """Return the language of a tag without its region or script."""
    language = tag.lower().partition("-")[0]
    return "" if language in ("@none", "und") else language


def _unwrapped(value: dict[str, Any]) -> Any:
    """Return the value of a property of NGSI-LD; anything else as it is."""
    kind = str(value.get("type"))
    if kind in _NGSI and _NGSI[kind] in value:
        inner = value[_NGSI[kind]]
        return {"@id": inner} if kind == "Relationship" and isinstance(inner, str) else inner
    return value


def _is_language_map(value: Mapping[str, Any]) -> bool:
    # Strictly, a context has to say so. Many files do not, and no property has such a name.
    return (
        bool(value)
        and set(value) != {"id"}
        and all(_LANGUAGE_KEY.fullmatch(key) for key in value)
        and all(isinstance(item, str | list) for item in value.values())
    )
