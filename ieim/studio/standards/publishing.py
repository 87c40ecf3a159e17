"""The current release as schema.org JSON-LD: no login, no cookie, any site's scripts may read it.

Originals have no language tag, translations have one: a release does not say which language its
originals are in. What is published is read back to the same entries by :mod:`.linked_data`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, TypeAlias
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.cache import get_conditional_response, patch_cache_control
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from conversations.api import errors
from ieim.knowledge import selectors
from ieim.pipeline.knowledge import Agency, Category, Release, Service, Situation, Translation
from ieim.studio.standards.texts import segment

MEDIA_TYPE = "application/ld+json"
FRESH_SECONDS = 60
"""How long anybody may keep an answer without asking again: a new release is seen after that."""

_NOT_PUBLISHED = "Nothing has been published yet. Please try again later."
_NO_SERVICE = "There is no such service in the current release. /services.jsonld has all of them."

app_name = "published"
CONTEXT = "https://schema.org"
EVENTS = {"cv": "http://data.europa.eu/m8g/", "dct": "http://purl.org/dc/terms/"}
"""What schema.org has no words for, has those of CPSV-AP: its events, which group services."""
JSONLD: TypeAlias = dict[str, Any]


@gzip_page
@require_safe
def services(request: HttpRequest) -> HttpResponse:
    """The whole current release; 404 before the first, 304 for who has it already."""
    return _answer(request, lambda release, base: _whole(release.number, release.sha256, base))


@gzip_page
@require_safe
def service(request: HttpRequest, agency: str, key: str) -> HttpResponse:
    """One service of the current release with its agency and categories, 404 for another."""

    def document(release: Release, base: str) -> bytes | None:
        match = release.services.get((identifier_of(agency), identifier_of(key)))
        return None if match is None else _json_bytes(service_json_ld(release, match, base))

    return _answer(request, document)


urlpatterns = [
    path("services.jsonld", services, name="services"),
    path("services/<str:agency>/<str:key>.jsonld", service, name="service"),
]


@lru_cache(maxsize=2)
def _whole(number: int, sha256: str, base: str) -> bytes:
    # The digest is part of the key: another database may have another release of that number.
    return _json_bytes(release_json_ld(selectors.release(number), base))


def _json_bytes(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _answer(request: HttpRequest, document: Callable[[Release, str], bytes | None]) -> HttpResponse:
    """Return the document of the current release, or 304 where the browser's copy is of it.

    ``document`` gets the release and the site's address: the one that is set, or in development
    that of the request.
    """
    release = selectors.current_release()
    base = settings.IEIM_PUBLIC_URL or f"{request.scheme}://{request.get_host()}"
    body = release and document(release, base)
    if release is None or body is None:
        response: HttpResponse = errors.answer(404, _NO_SERVICE if release else _NOT_PUBLISHED)
    else:
        etag = f'"{release.sha256}"'
        response = HttpResponse(body, content_type=MEDIA_TYPE)
        not_modified = get_conditional_response(request, etag=etag)
        response = not_modified if isinstance(not_modified, HttpResponse) else response
        response.headers["ETag"] = etag
        patch_cache_control(response, public=True, max_age=FRESH_SECONDS)
    response.headers["Access-Control-Allow-Origin"] = "*"
    return response


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


def identifier_of(part: str) -> str:
    """Return the id that :func:`segment` made ``part`` of."""
    return part.replace("~1", "/").replace("~0", "~")


class _Writer:
    """Writes the nodes of a release: of each, our fields under their properties."""

    def __init__(self, release: Release, base: str) -> None:
        self._base = base
        self._translations: dict[tuple[str, str, str], list[Translation]] = {}
        for translation in release.translations:
            key = (translation.agency, translation.category, translation.service)
            self._translations.setdefault(key, []).append(translation.current)
        self._situations: dict[tuple[str, str], list[str]] = {}
        for situation in release.situations.values():
            for step in situation.steps:
                service = (step.agency, step.service)
                self._situations.setdefault(service, []).append(situation.key)

    def agency(self, agency: Agency) -> JSONLD:
        translations = self._translations.get((agency.id, "", ""), [])
        properties = {
            "@id": self._agency_id(agency.id),
            "identifier": agency.id,
            "name": _texts(agency, translations, "name"),
            "description": _texts(agency, translations, "description"),
            **_page(agency.path),
        }
        return _node("GovernmentOrganization", properties)

    def dictionary(self, agency: str, categories: Iterable[Category]) -> list[JSONLD]:
        code_set = f"{self._agency_id(agency)}/categories"
        nodes = [self._category(category, code_set) for category in categories]
        if nodes:
            publisher = {"@id": self._agency_id(agency)}
            nodes.append(_node("CategoryCodeSet", {"@id": code_set, "publisher": publisher}))
        return nodes

    def _category(self, category: Category, code_set: str) -> JSONLD:
        translations = self._translations.get((category.agency, category.key, ""), [])
        translated = [_text(word, t.language) for t in translations for word in t.keywords]
        properties = {
            "@id": self._category_id(category.agency, category.key),
            "codeValue": category.key,
            "name": _texts(category, translations, "value", "name"),
            "alternateName": [*category.keywords, *translated],
            "inCodeSet": {"@id": code_set},
        }
        return _node("CategoryCode", properties)

    def service(self, service: Service) -> JSONLD:
        translations = self._translations.get((service.agency, "", service.key), [])
        texts = partial(_texts, service, translations)
        agency, key = quote(segment(service.agency), safe=""), quote(segment(service.key), safe="")
        described: list[Service | Translation] = [service, *translations]
        channel = {
            "serviceUrl": service.url,
            "processingTime": texts("processing_time"),
            "servicePhone": _optional("ContactPoint", {"description": texts("contact")}),
        }
        properties = {
            "@id": f"{self._base}/services/{agency}/{key}.jsonld",
            "identifier": service.key,
            "name": texts("name"),
            "description": texts("overview"),
            **_page(service.path),
            "provider": {"@id": self._agency_id(service.agency)},
            "audience": _optional("Audience", {"audienceType": texts("applicability_summary")}),
            "category": [
                {"@id": self._category_id(service.agency, category)}
                for category in service.categories
            ],
            "feesAndCommissionsSpecification": texts("fees"),
            "availableChannel": _optional("ServiceChannel", channel),
            "subjectOf": [
                _how_to(entry, getattr(entry, "language", ""))
                for entry in described
                if entry.requirements or entry.how_to_apply
            ],
        }
        return _node("GovernmentService", properties)

    def groups(self, service: Service) -> JSONLD:
        """Return the property of a service that says in which situations it is; {} for none."""
        keys = self._situations.get((service.agency, service.key), ())
        return _filled({"cv:isGroupedBy": [{"@id": self._situation_id(key)} for key in keys]})

    def situation(self, situation: Situation) -> JSONLD:
        properties = {
            "@id": self._situation_id(situation.key),
            "dct:identifier": situation.key,
            "dct:title": situation.name,
            "dct:description": situation.description,
        }
        is_life = situation.kind == "life"
        return _node("cv:LifeEvent" if is_life else "cv:BusinessEvent", properties)

    def _situation_id(self, key: str) -> str:
        return f"{self._base}/services.jsonld#/situations/{quote(key, safe='')}"

    def _agency_id(self, agency: str) -> str:
        return f"{self._base}/services.jsonld#{quote(agency, safe='')}"

    def _category_id(self, agency: str, key: str) -> str:
        return f"{self._agency_id(agency)}/categories/{quote(key, safe='')}"


def _how_to(texts: Service | Translation, language: str) -> JSONLD:
    supplies = [{"@type": "HowToSupply", "name": supply} for supply in texts.requirements]
    steps = [
        {"@type": "HowToStep", "position": position, "text": step}
        for position, step in enumerate(texts.how_to_apply, start=1)
    ]
    return _node("HowTo", {"inLanguage": language, "supply": supplies, "step": steps})


def _page(path: str) -> JSONLD:
    """Return a path: a page's address, or where it is to be found in words."""
    if path.lower().startswith(("http://", "https://")):
        return {"url": path}
    return {"mainEntityOfPage": _optional("WebPage", {"breadcrumb": path})}


def _texts(
    entry: Agency | Category | Service, translations: Iterable[Translation], *columns: str
) -> list[Any]:
    """Return a text with its translations, whose column is the last."""
    texts = ((getattr(t, columns[-1]), t.language) for t in translations)
    return [getattr(entry, columns[0]), *(_text(*text) for text in texts if text[0].strip())]


def _text(text: str, language: str) -> JSONLD:
    return {"@language": language, "@value": text}


def _node(kind: str, properties: JSONLD) -> JSONLD:
    """Return a node without what is blank."""
    return {"@type": kind, **_filled(properties)}


def _optional(kind: str, properties: JSONLD) -> JSONLD:
    """Return a node, an empty one where all of it is blank."""
    return _node(kind, properties) if _filled(properties) else {}


def _filled(properties: JSONLD) -> JSONLD:
    """Return what is not blank: one value, or a list of several."""
    filled: JSONLD = {}
    for name, value in properties.items():
        items = value if isinstance(value, list) else [value]
        items = [item for item in items if (item.strip() if isinstance(item, str) else item)]
        if items:
            filled[name] = items[0] if len(items) == 1 else items
    return filled
