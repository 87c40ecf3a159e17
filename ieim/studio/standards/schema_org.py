"""A release as schema.org JSON-LD.

Originals have no language tag, translations have one: a release does not say which language its
originals are in. What is written is read back to the same entries by :mod:`.linked_data`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, TypeAlias

from ieim.pipeline.knowledge import Agency, Category, Release, Service, Situation, Translation
from ieim.pipeline.structured import Amount, read_amount, read_opening, read_place
from ieim.studio.standards.addresses import Addresses

CONTEXT = "https://schema.org"
EVENTS = {"cv": "http://data.europa.eu/m8g/", "dct": "http://purl.org/dc/terms/"}
"""What schema.org has no words for, has those of CPSV-AP: its events, which group services."""
JSONLD: TypeAlias = dict[str, Any]


def release_json_ld(release: Release, base: str) -> JSONLD:
    """Return a release as one document; ``base`` is the site's address without a slash at its end.

    The order is that of the index: agencies, dictionaries, situations, services. CPSV-AP has no
    words for the order of a situation's services, nor for their conditions.
    """
    writer = _Writer(release, base)
    graph = [writer.agency(agency) for agency in release.agencies.values()]
    for agency, categories in release.categories_by_agency.items():
        graph.extend(writer.dictionary(agency, categories))
    graph.extend(map(writer.situation, release.situations.values()))
    graph.extend(
        {**writer.service(service), **writer.groups(service)}
        for service in release.services.values()
    )
    return {"@context": [CONTEXT, EVENTS] if release.situations else CONTEXT, "@graph": graph}


def service_json_ld(release: Release, service: Service, base: str) -> JSONLD:
    """Return one service with its agency and its categories as a document of its own.

    The situations that it is in are left out: they would seem to have no other service.
    """
    writer = _Writer(release, base)
    categories = [release.categories[service.agency, key] for key in service.categories]
    graph = [
        writer.agency(release.agencies[service.agency]),
        *writer.dictionary(service.agency, categories),
        writer.service(service),
    ]
    return {"@context": CONTEXT, "@graph": graph}


class _Writer:
    """Writes the nodes of a release: of each, our fields under their properties."""

    def __init__(self, release: Release, base: str) -> None:
        self._addresses = Addresses(base)
        self._translations: dict[tuple[str, str, str, str], list[Translation]] = {}
        for t in release.translations:
            key = (t.agency, t.category, t.service, t.situation)
            self._translations.setdefault(key, []).append(t.current)
        self._situations: dict[tuple[str, str], list[str]] = {}
        for situation in release.situations.values():
            for step in situation.steps:
                service = (step.agency, step.service)
                self._situations.setdefault(service, []).append(situation.key)

    def agency(self, agency: Agency) -> JSONLD:
        translations = self._translations.get((agency.id, "", "", ""), [])
        properties = {
            "@id": self._addresses.agency(agency.id),
            "identifier": agency.id,
            "name": _texts(agency, translations, "name"),
            "description": _texts(agency, translations, "description"),
            "location": _places(agency),
            **_page(agency.path),
        }
        return node("GovernmentOrganization", properties)

    def dictionary(self, agency: str, categories: Iterable[Category]) -> list[JSONLD]:
        code_set = f"{self._addresses.agency(agency)}/categories"
        nodes = []
        for category in categories:
            translations = self._translations.get((agency, category.key, "", ""), [])
            translated = [_text(word, t.language) for t in translations for word in t.keywords]
            properties = {
                "@id": self._addresses.category(agency, category.key),
                "codeValue": category.key,
                "name": _texts(category, translations, "value", "name"),
                "alternateName": [*category.keywords, *translated],
                "inCodeSet": {"@id": code_set},
            }
            nodes.append(node("CategoryCode", properties))
        if nodes:
            publisher = {"@id": self._addresses.agency(agency)}
            nodes.append(node("CategoryCodeSet", {"@id": code_set, "publisher": publisher}))
        return nodes

    def service(self, service: Service) -> JSONLD:
        translations = self._translations.get((service.agency, "", service.key, ""), [])
        texts = partial(_texts, service, translations)
        described: list[Service | Translation] = [service, *translations]
        channel = {
            "serviceUrl": service.url,
            "processingTime": texts("processing_time"),
            "servicePhone": optional("ContactPoint", {"description": texts("contact")}),
            "serviceLocation": _places(service),
        }
        properties = {
            "@id": self._addresses.service(service.agency, service.key),
            "identifier": service.key,
            "name": texts("name"),
            "description": texts("overview"),
            **_page(service.path),
            "provider": {"@id": self._addresses.agency(service.agency)},
            "audience": optional("Audience", {"audienceType": texts("applicability_summary")}),
            "category": [
                {"@id": self._addresses.category(service.agency, category)}
                for category in service.categories
            ],
            "feesAndCommissionsSpecification": texts("fees"),
            "offers": [_offer(read_amount(text)) for text in service.amounts],
            "availableChannel": optional("ServiceChannel", channel),
            "subjectOf": [
                _how_to(entry, getattr(entry, "language", ""))
                for entry in described
                if entry.requirements or entry.how_to_apply
            ],
        }
        return node("GovernmentService", properties)

    def groups(self, service: Service) -> JSONLD:
        """Return the property of a service that says in which situations it is; {} for none."""
        keys = self._situations.get((service.agency, service.key), ())
        return filled({"cv:isGroupedBy": [{"@id": self._addresses.situation(key)} for key in keys]})

    def situation(self, situation: Situation) -> JSONLD:
        texts = partial(_texts, situation, self._translations.get(("", "", "", situation.key), []))
        properties = {
            "@id": self._addresses.situation(situation.key),
            "dct:identifier": situation.key,
            "dct:title": texts("name"),
            "dct:description": texts("description"),
        }
        is_life = situation.kind == "life"
        return node("cv:LifeEvent" if is_life else "cv:BusinessEvent", properties)


def _how_to(texts: Service | Translation, language: str) -> JSONLD:
    supplies = [{"@type": "HowToSupply", "name": supply} for supply in texts.requirements]
    steps = [
        {"@type": "HowToStep", "position": position, "text": step}
        for position, step in enumerate(texts.how_to_apply, start=1)
    ]
    return node("HowTo", {"inLanguage": language, "supply": supplies, "step": steps})


def _offer(amount: Amount) -> JSONLD:
    price = {"price": str(amount.value), "priceCurrency": amount.currency}
    return node("Offer", {"name": amount.purpose, **price})


def _places(entry: Agency | Service) -> list[JSONLD]:
    """Return the places of an entry, each with its hours of a week; these alone where it has no
    place."""
    hours = [text for text in entry.hours if read_opening(text).weekdays]
    pairs = [read_place(text) for text in entry.places] or [("", "")]
    places = ({"name": name, "address": address, "openingHours": hours} for name, address in pairs)
    return [optional("CivicStructure", place) for place in places]


def _page(path: str) -> JSONLD:
    """Return a path: a page's address, or where it is to be found in words."""
    if path.lower().startswith(("http://", "https://")):
        return {"url": path}
    return {"mainEntityOfPage": optional("WebPage", {"breadcrumb": path})}


def _texts(
    entry: Agency | Category | Service | Situation,
    translations: Iterable[Translation],
    *columns: str,
) -> list[Any]:
    """Return a text with its translations, whose column is the last."""
    texts = ((getattr(t, columns[-1]), t.language) for t in translations)
    return [getattr(entry, columns[0]), *(_text(*text) for text in texts if text[0].strip())]


def _text(text: str, language: str) -> JSONLD:
    return {"@language": language, "@value": text}


def node(kind: str, properties: JSONLD) -> JSONLD:
    """Return a node without what is blank."""
    return {"@type": kind, **filled(properties)}


def optional(kind: str, properties: JSONLD) -> JSONLD:
    """Return a node, an empty one where all of it is blank."""
    return node(kind, properties) if filled(properties) else {}


def filled(properties: JSONLD) -> JSONLD:
    """Return what is not blank: one value, or a list of several."""
    filled: JSONLD = {}
    for name, value in properties.items():
        items = value if isinstance(value, list) else [value]
        items = [item for item in items if (item.strip() if isinstance(item, str) else item)]
        if items:
            filled[name] = items[0] if len(items) == 1 else items
    return filled
