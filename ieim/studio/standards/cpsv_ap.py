"""A release as CPSV-AP 3.2, the European profile of catalogues of public services.

It is made of what :mod:`.schema_org` writes. Every text needs a language here: the context says
which one that of the originals is, so that :mod:`.linked_data` reads the same entries back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import zip_longest
from typing import Any, Final
from urllib.parse import quote

from ieim.pipeline.knowledge import Release
from ieim.studio.standards.schema_org import JSONLD, filled, node, optional, release_json_ld

PREFIXES: Final[Mapping[str, str]] = {
    "cpsv": "http://purl.org/vocab/cpsv#",
    "cv": "http://data.europa.eu/m8g/",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "schema": "https://schema.org/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_CURRENCIES: Final = "http://publications.europa.eu/resource/authority/currency/"
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')


def release_cpsv(release: Release, base: str, language: str) -> JSONLD:
    """Return a release as one document; ``base`` is the site's address without a slash at its end,
    ``language`` (ISO 639) that of the originals.

    Categories that no service has are left out: nothing in CPSV-AP would lead to them.
    """
    nodes = release_json_ld(release, base)["@graph"]
    used = {item["@id"] for entry in nodes for item in _listed(entry.get("category"))}
    graph = []
    for entry in nodes:
        texts = partial(_texts, entry, language)
        same = {"@id": entry["@id"], "dct:identifier": entry.get("identifier")}
        match entry["@type"]:
            case "GovernmentOrganization":
                about = {
                    "skos:prefLabel": texts("name"),
                    "dct:description": texts("description"),
                    # The profile requires an area; a release does not say which: it has no name.
                    "dct:spatial": {"@type": "dct:Location"},
                    "foaf:homepage": _link(entry.get("url")),
                }
                graph.append(node("cv:PublicOrganisation", same | about))
            case "CategoryCode" if entry["@id"] in used:
                names = {"skos:prefLabel": texts("name"), "skos:altLabel": texts("alternateName")}
                key = {"dct:identifier": entry["codeValue"]}
                graph.append(node("skos:Concept", same | key | names))
            case "GovernmentService":
                graph.append(node("cpsv:PublicService", same | _service(entry, language)))
            case "cv:LifeEvent" | "cv:BusinessEvent" as kind:
                titles = {name: texts(name) for name in ("dct:title", "dct:description")}
                graph.append(filled({**entry, "@type": [kind, "cv:Event"], **titles}))
    identifier = {"@id": "dct:identifier", "@language": None}
    context = {**PREFIXES, "@language": language, "dct:identifier": identifier}
    return {"@context": context, "@graph": graph}


def turtle(document: JSONLD) -> str:
    """Return a document of :func:`release_cpsv` as Turtle: the same triples."""
    lines = [f"@prefix {prefix}: <{iri}> ." for prefix, iri in PREFIXES.items()]
    for subject in document["@graph"]:
        lines += ["", f"<{subject['@id']}>\n  {_predicates(subject, 1)} ."]
    costs = (cost for subject in document["@graph"] for cost in _listed(subject.get("cv:hasCost")))
    currencies = {cost["cv:currency"]["@id"] for cost in costs if "cv:currency" in cost}
    lines += [f"<{currency}> a skos:Concept ." for currency in sorted(currencies)]
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
    # The escapes of JSON are all escapes of Turtle, too.
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if "@value" in value:
        tag = f"^^{value['@type']}" if "@type" in value else f"@{value['@language']}"
        return f"{_object(value['@value'], depth)}{tag}"
    return f"<{value['@id']}>" if "@id" in value else f"[ {_predicates(value, depth)} ]"


def _service(entry: JSONLD, language: str) -> JSONLD:
    texts = partial(_texts, entry, language)
    channel = entry.get("availableChannel", {})
    audience = {"skos:prefLabel": _texts(entry.get("audience", {}), language, "audienceType")}
    contact = _texts(channel.get("servicePhone", {}), language, "description")
    # Time is free text here, and a duration in the profile: schema.org takes texts.
    reached = {
        "foaf:page": _link(channel.get("serviceUrl")),
        "schema:processingTime": _texts(channel, language, "processingTime"),
    }

    def part(kind: str, name: str, number: int, properties: JSONLD) -> JSONLD:
        """Return a part with the identifier that the profile requires, {} for a blank one."""
        identifier = {"dct:identifier": f"{entry['identifier']}/{name}/{number}"}
        return filled(properties) and node(kind, properties | identifier)

    return {
        "dct:title": texts("name"),
        "dct:description": texts("description" if "description" in entry else "name"),
        "foaf:page": _link(entry.get("url")),
        "cv:hasCompetentAuthority": entry["provider"],
        "dct:audience": optional("skos:Concept", audience),
        "cv:thematicArea": entry.get("category"),
        "cv:isGroupedBy": entry.get("cv:isGroupedBy"),
        "cv:holdsRequirement": [
            part("cv:Requirement", "requirement", number, {"dct:title": words})
            for number, words in enumerate(_items(entry, language, "supply", "name"), start=1)
        ],
        "cpsv:follows": [
            part("cpsv:Rule", "step", n, {"dct:title": words, "dct:description": words})
            for n, words in enumerate(_items(entry, language, "step", "text"), start=1)
        ],
        "cv:hasCost": [
            part(
                "cv:Cost", "cost", 1, {"dct:description": texts("feesAndCommissionsSpecification")}
            ),
            *(
                part("cv:Cost", "cost", number, _cost(offer, language))
                for number, offer in enumerate(_listed(entry.get("offers")), start=2)
            ),
        ],
        "cv:hasChannel": part("cv:Channel", "channel", 1, reached),
        "cv:contactPoint": optional("cv:ContactPoint", {"dct:description": contact}),
    }


def _cost(offer: JSONLD, language: str) -> JSONLD:
    return {
        "cv:hasValue": {"@type": "xsd:double", "@value": offer["price"]},
        "cv:currency": {
            "@id": f"{_CURRENCIES}{offer['priceCurrency']}",
            "@type": "skos:Concept",
        },
        "dct:description": _texts(offer, language, "name"),
    }


def _items(entry: JSONLD, language: str, name: str, text: str) -> Iterator[list[JSONLD]]:
    """Yield the items of a list, each with its translations, which stand at the same place."""
    columns = [
        [_tagged(item.get(text, ""), how_to.get("inLanguage", language)) for item in items]
        for how_to in _listed(entry.get("subjectOf"))
        if (items := _listed(how_to.get(name)))
    ]
    yield from map(list, zip_longest(*columns, fillvalue={}))


def _texts(entry: JSONLD, language: str, name: str) -> list[JSONLD]:
    """Return the texts of a property; those without a language are originals."""
    values = _listed(entry.get(name))
    return [_tagged(value, language) if isinstance(value, str) else value for value in values]


def _tagged(text: str, language: str) -> JSONLD:
    return {"@language": language, "@value": text} if text.strip() else {}


def _link(address: str | None) -> JSONLD:
    return {"@id": _NOT_IN_IRI.sub(lambda match: quote(match[0]), address)} if address else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
