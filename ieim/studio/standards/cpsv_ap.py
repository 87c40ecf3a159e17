"""A release as CPSV-AP 3.2, the European profile of catalogues of public services.

Every text needs a language there; the context says which one that of the originals is, so that
:mod:`.linked_data` reads the same entries back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import zip_longest
from typing import Any
from urllib.parse import quote

from ieim.pipeline.knowledge import Agency, Category, Release, Service, Situation, Translation
from ieim.studio.standards.addresses import Addresses
from ieim.studio.standards.schema_org import (
    JSONLD,
    filled,
    node,
    optional,
    situations_by_service,
    translations_by_entry,
)

CONTEXT: Mapping[str, str] = {
    "cpsv": "http://purl.org/vocab/cpsv#",
    "cv": "http://data.europa.eu/m8g/",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "schema": "https://schema.org/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
}
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')


def release_cpsv(release: Release, base: str, language: str) -> JSONLD:
    """Return a release as one document; ``base`` is the site's address without a slash at its end,
    ``language`` (ISO 639) that of the originals.

    Categories that no service has are left out: nothing in CPSV-AP would lead to them.
    """
    writer = _Writer(release, base, language)
    used = {(s.agency, key) for s in release.services.values() for key in s.categories}
    graph = [
        *map(writer.agency, release.agencies.values()),
        *(writer.category(release.categories[key]) for key in release.categories if key in used),
        *map(writer.situation, release.situations.values()),
        *map(writer.service, release.services.values()),
    ]
    identifier = {"@id": "dct:identifier", "@language": None}
    context = {**CONTEXT, "@language": language, "dct:identifier": identifier}
    return {"@context": context, "@graph": graph}


def turtle(document: JSONLD) -> str:
    """Return a document of :func:`release_cpsv` as Turtle: the same triples."""
    lines = [f"@prefix {prefix}: <{iri}> ." for prefix, iri in CONTEXT.items()]
    for subject in document["@graph"]:
        lines += ["", f"<{subject['@id']}>\n  {_predicates(subject, 1)} ."]
    return "\n".join([*lines, ""])


def _predicates(subject: JSONLD, depth: int) -> str:
    indent = "  " * depth
    pairs = [f"a {', '.join(_listed(subject['@type']))}"]
    for name, value in subject.items():
        if not name.startswith("@"):
            objects = f",\n{indent}  ".join(_object(item, depth + 1) for item in _listed(value))
            pairs.append(f"{name} {objects}")
    return f" ;\n{indent}".join(pairs)


def _object(value: str | JSONLD, depth: int) -> str:
    if isinstance(value, str):
        return _literal(value)
    if "@value" in value:
        return f"{_literal(value['@value'])}@{value['@language']}"
    if "@id" in value:
        return f"<{value['@id']}>"
    return f"[ {_predicates(value, depth)} ]"


def _literal(text: str) -> str:
    # The escapes of JSON are all escapes of Turtle, too.
    return json.dumps(text, ensure_ascii=False)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


class _Writer:
    """Writes the nodes of a release: of each, our fields under their properties."""

    def __init__(self, release: Release, base: str, language: str) -> None:
        self._addresses = Addresses(base)
        self._language = language
        self._translations = translations_by_entry(release)
        self._situations = situations_by_service(release)

    def agency(self, agency: Agency) -> JSONLD:
        translations = self._translations.get((agency.id, "", ""), [])
        properties = {
            "@id": self._addresses.agency(agency.id),
            "dct:identifier": agency.id,
            "skos:prefLabel": self._texts(agency, translations, "name"),
            "dct:description": self._texts(agency, translations, "description"),
            # The profile requires an area, and a release does not say which one: it has no name.
            "dct:spatial": {"@type": "dct:Location"},
            "foaf:homepage": _link(agency.path),
        }
        return node("cv:PublicOrganisation", properties)

    def category(self, category: Category) -> JSONLD:
        translations = self._translations.get((category.agency, category.key, ""), [])
        keywords = [_text(word, self._language) for word in category.keywords]
        keywords += [_text(word, t.language) for t in translations for word in t.keywords]
        properties = {
            "@id": self._addresses.category(category.agency, category.key),
            "dct:identifier": category.key,
            "skos:prefLabel": self._texts(category, translations, "value", "name"),
            "skos:altLabel": keywords,
        }
        return node("skos:Concept", properties)

    def situation(self, situation: Situation) -> JSONLD:
        is_life = situation.kind == "life"
        properties = {
            "@id": self._addresses.situation(situation.key),
            "@type": ["cv:LifeEvent" if is_life else "cv:BusinessEvent", "cv:Event"],
            "dct:identifier": situation.key,
            "dct:title": _text(situation.name, self._language),
            "dct:description": _text(situation.description, self._language),
        }
        return filled(properties)

    def service(self, service: Service) -> JSONLD:
        translations = self._translations.get((service.agency, "", service.key), [])
        texts = partial(self._texts, service, translations)
        lists = partial(self._lists, service, translations)
        identified = partial(_identified, service)
        overview = texts("overview") if service.overview.strip() else texts("name")
        # Time is free text here, and a duration in the profile: schema.org takes texts.
        channel = {
            "foaf:page": _link(service.url),
            "schema:processingTime": texts("processing_time"),
        }
        properties = {
            "@id": self._addresses.service(service.agency, service.key),
            "dct:identifier": service.key,
            "dct:title": texts("name"),
            "dct:description": overview,
            "foaf:page": _link(service.path),
            "cv:hasCompetentAuthority": {"@id": self._addresses.agency(service.agency)},
            "dct:audience": optional(
                "skos:Concept", {"skos:prefLabel": texts("applicability_summary")}
            ),
            "cv:thematicArea": [
                {"@id": self._addresses.category(service.agency, key)} for key in service.categories
            ],
            "cv:isGroupedBy": [
                {"@id": self._addresses.situation(key)}
                for key in self._situations.get((service.agency, service.key), ())
            ],
            "cv:holdsRequirement": [
                identified("cv:Requirement", "requirement", number, {"dct:title": words})
                for number, words in enumerate(lists("requirements"), start=1)
            ],
            "cpsv:follows": [
                identified("cpsv:Rule", "step", n, {"dct:title": words, "dct:description": words})
                for n, words in enumerate(lists("how_to_apply"), start=1)
            ],
            "cv:hasCost": identified("cv:Cost", "cost", 1, {"dct:description": texts("fees")}),
            "cv:hasChannel": identified("cv:Channel", "channel", 1, channel),
            "cv:contactPoint": optional("cv:ContactPoint", {"dct:description": texts("contact")}),
        }
        return node("cpsv:PublicService", properties)

    def _texts(
        self,
        entry: Agency | Category | Service,
        translations: Iterable[Translation],
        *columns: str,
    ) -> list[JSONLD]:
        """Return a text with its translations, whose column is the last."""
        texts = ((getattr(t, columns[-1]), t.language) for t in translations)
        original = _text(getattr(entry, columns[0]), self._language)
        return [original, *(_text(*text) for text in texts)]

    def _lists(
        self, service: Service, translations: Iterable[Translation], column: str
    ) -> Iterator[list[JSONLD]]:
        """Yield each item of a list with its translations, which stand at the same place."""
        languages = [self._language, *(translation.language for translation in translations)]
        entries: list[Service | Translation] = [service, *translations]
        for texts in zip_longest(*(getattr(entry, column) for entry in entries), fillvalue=""):
            yield [_text(*pair) for pair in zip(texts, languages, strict=True)]


def _identified(service: Service, kind: str, part: str, number: int, properties: JSONLD) -> JSONLD:
    """Return a part of a service with the identifier that the profile requires, {} for a blank."""
    part_node = optional(kind, properties)
    return part_node and {**part_node, "dct:identifier": f"{service.key}/{part}/{number}"}


def _text(text: str, language: str) -> JSONLD:
    return {"@language": language, "@value": text} if text.strip() else {}


def _link(path: str) -> JSONLD:
    """Return a page, {} for where it is to be found in words."""
    if not path.lower().startswith(("http://", "https://")):
        return {}
    return {"@id": _NOT_IN_IRI.sub(lambda match: quote(match[0]), path)}
