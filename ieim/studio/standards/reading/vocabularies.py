"""JSON-LD contexts: names become the names that the mapping knows. Nothing is ever fetched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urljoin

from ieim.studio.standards.report import Report

NAMESPACES: Mapping[str, str] = {
    "https://schema.org/": "schema",
    "http://schema.org/": "schema",
    "http://purl.org/vocab/cpsv#": "cpsv",
    "http://data.europa.eu/m8g/": "cv",
    "http://purl.org/dc/terms/": "dct",
    "http://purl.org/dc/elements/1.1/": "dct",
    "http://www.w3.org/ns/dcat#": "dcat",
    "http://xmlns.com/foaf/0.1/": "foaf",
    "http://www.w3.org/2004/02/skos/core#": "skos",
    "http://www.w3.org/2000/01/rdf-schema#": "rdfs",
    "http://www.w3.org/ns/locn#": "locn",
    "http://www.w3.org/ns/org#": "org",
    "http://www.w3.org/ns/adms#": "adms",
    "http://www.w3.org/2006/vcard/ns#": "vcard",
}
"""Vocabularies, and the short name under which their terms are known here."""

_PREFIXES: Mapping[str, str] = {
    **{short: iri for iri, short in reversed(list(NAMESPACES.items()))},
    "dct": "http://purl.org/dc/terms/",
    "dcterms": "http://purl.org/dc/terms/",
    "dc": "http://purl.org/dc/elements/1.1/",
}

_OF_CPSV = {
    "dct": ("description", "identifier", "language", "spatial", "type", "requires", "isPartOf"),
    "cpsv": ("PublicService", "Rule", "follows", "hasInput", "produces"),
    "cv": (
        *("PublicOrganisation", "Channel", "Cost", "Evidence", "Requirement", "currency"),
        *("hasChannel", "hasCompetentAuthority", "hasContactPoint", "contactPoint", "hasCost"),
        *("hasCriterion", "hasInputType", "hasLegalResource", "hasValue", "value", "ownedBy"),
        *("holdsRequirement", "isClassifiedBy", "isGroupedBy", "openingHours", "processingTime"),
        *("sector", "thematicArea", "telephone", "email", "contactPage"),
    ),
    "dcat": ("keyword", "landingPage"),
    "foaf": ("homepage", "page"),
    "skos": ("prefLabel", "altLabel", "notation"),
    "locn": ("address", "fullAddress", "postCode", "postName", "thoroughfare"),
}
_CPSV: Mapping[str, str] = {
    **{name: f"{short}:{name}" for short, names in _OF_CPSV.items() for name in names},
    "name": "dct:title",
    "title": "dct:title",
    "addressee": "dct:audience",
    "preferredLabel": "skos:prefLabel",
    "hasEmail": "cv:email",
    "hasTelephone": "cv:telephone",
    "PublicOrganization": "cv:PublicOrganisation",
}
"""What the contexts of CPSV-AP 2 and 3 call its terms; those of 3 put the class before a dot."""


@dataclass(frozen=True, slots=True)
class Term:
    """What a context says about a name; ``language`` is None where it says nothing.

    ``links`` says that its texts are addresses of nodes.
    """

    iri: str
    containers: frozenset[str] = frozenset()
    language: str | None = None
    links: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """The contexts that hold at one place of a file."""

    terms: Mapping[str, Term] = field(default_factory=dict)
    language: str = ""
    vocabulary: str = ""
    base: str = ""
    cpsv: bool = False

    def extended(self, value: Any, at: str, report: Report) -> Context:
        """Return this context with ``value`` (what ``@context`` may be) put on top."""
        if value is None:
            return Context()
        if isinstance(value, list):
            context = self
            for item in value:
                context = context.extended(item, at, report)
            return context
        if isinstance(value, str):
            return self._known(value, at, report)
        if isinstance(value, dict):
            return self._described(value)
        report.problem(at, "is no context: JSON-LD has an address, an object or a list of them")
        return self

    def name(self, name: str) -> str:
        """Return the known name of a property or a type ("schema:name"), or its whole address."""
        if name.startswith("@"):
            return name
        term = self.terms.get(name)
        if term is not None:
            return _short(term.iri)
        if ":" in name:
            return _short(self.address(name))
        if not self.vocabulary or self.cpsv:
            local = name.rpartition(".")[2]
            if local in _CPSV:
                return _CPSV[local]
        return _short((self.vocabulary or "https://schema.org/") + name)

    def address(self, value: str) -> str:
        """Return the whole address of a node."""
        prefix, colon, rest = value.partition(":")
        if colon and not rest.startswith("//") and prefix != "_":
            term = self.terms.get(prefix)
            known = term.iri if term else _PREFIXES.get(prefix)
            return known + rest if known else value
        if colon or not self.base:
            return value
        try:
            return urljoin(self.base, value)
        except ValueError:
            return value

    def _known(self, address: str, at: str, report: Report) -> Context:
        lowered = address.lower()
        if lowered.partition("://")[2].startswith("schema.org"):
            return replace(self, vocabulary="https://schema.org/")
        if "cpsv" in lowered:
            return replace(self, cpsv=True)
        why = "an unknown context, which is never fetched: names keep their usual meaning"
        report.left_out(at, why)
        return self

    def _described(self, value: Mapping[str, Any]) -> Context:
        language, vocabulary, base = (
            value.get(name, before)
            for name, before in (
                ("@language", self.language),
                ("@vocab", self.vocabulary),
                ("@base", self.base),
            )
        )
        context = replace(
            self,
            language=language if isinstance(language, str) else "",
            vocabulary=vocabulary if isinstance(vocabulary, str) else "",
            base=base if isinstance(base, str) else "",
        )
        # Prefixes first: the other terms are written with them.
        plain = {n: Term(v) for n, v in value.items() if isinstance(v, str) and n[:1] != "@"}
        context = replace(context, terms={**self.terms, **plain})
        terms = {name: context._term(name, what) for name, what in value.items() if name[:1] != "@"}
        return replace(context, terms={**context.terms, **{n: t for n, t in terms.items() if t}})

    def _term(self, name: str, what: Any) -> Term | None:
        if isinstance(what, str):
            return Term(what if what.startswith("@") else self.address(what))
        if not isinstance(what, dict):
            return None
        iri = what.get("@id")
        containers = what.get("@container", ())
        names = [containers] if isinstance(containers, str) else containers
        language = what.get("@language", "" if "@language" in what else None)
        others = replace(self, terms={n: t for n, t in self.terms.items() if n != name})
        return Term(
            self.address(iri) if isinstance(iri, str) else others.name(name),
            frozenset(n for n in names if isinstance(n, str)),
            language if isinstance(language, str) else None,
            what.get("@type") in ("@id", "@vocab"),
        )


def _short(iri: str) -> str:
    for namespace, short in NAMESPACES.items():
        if iri.startswith(namespace):
            return f"{short}:{iri[len(namespace) :]}"
    return iri
