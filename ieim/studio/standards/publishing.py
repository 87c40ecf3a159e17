"""The current release in open standards: no login, no cookie, any site's scripts may read it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.cache import get_conditional_response, patch_cache_control
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from conversations.api import errors
from ieim.knowledge import selectors
from ieim.pipeline.knowledge import Release
from ieim.studio.standards import hsds_api
from ieim.studio.standards.addresses import identifier_of
from ieim.studio.standards.cpsv_ap import release_cpsv, turtle
from ieim.studio.standards.schema_org import JSONLD, release_json_ld, service_json_ld

JSON_LD, TURTLE, JSON = "application/ld+json", "text/turtle; charset=utf-8", "application/json"
FRESH_SECONDS = 60
"""How long anybody may keep an answer without asking again: a new release is seen after that."""

_NOT_PUBLISHED = "Nothing has been published yet. Please try again later."
_NOT_FOUND = "There is no such entry in the current release. /services.jsonld has all of them."

app_name = "published"


def _view(document: Callable[..., Any], media_type: str) -> Callable[..., HttpResponse]:
    """Return a view of a document: 404 before the first release, 304 for who has it already.

    ``document`` gets the release, the site's address, the query and the parts of the address; it
    returns bytes or what JSON can say, None for an entry that is not there (404), and raises
    ValueError for a query that it refuses (400).
    """

    @gzip_page
    @require_safe
    def view(request: HttpRequest, **parts: Any) -> HttpResponse:
        response = _response(request, partial(document, **parts), media_type)
        response.headers["Access-Control-Allow-Origin"] = "*"
        return response

    return view


def _response(request: HttpRequest, document: Callable[..., Any], media_type: str) -> HttpResponse:
    release = selectors.current_release()
    if release is None:
        return errors.answer(404, _NOT_PUBLISHED)
    # The address that is set, or in development that of the request.
    base = settings.IEIM_PUBLIC_URL or f"{request.scheme}://{request.get_host()}"
    try:
        content = document(release, base, request.GET)
    except ValueError as error:
        return errors.answer(400, str(error))
    if content is None:
        return errors.answer(404, _NOT_FOUND)
    body = content if isinstance(content, bytes) else _json_bytes(content)
    headers = {"Content-Type": media_type, "ETag": f'"{release.sha256}"'}
    response = HttpResponse(body, headers=headers)
    patch_cache_control(response, public=True, max_age=FRESH_SECONDS)
    return get_conditional_response(request, etag=headers["ETag"], response=response) or response


def _json_bytes(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _whole(form: str, release: Release, base: str, query: Mapping[str, str]) -> bytes:
    # The digest is part of the key: another database may have another release of that number.
    return _written(form, release.number, release.sha256, base)


@lru_cache(maxsize=4)
def _written(form: str, number: int, sha256: str, base: str) -> bytes:
    release = selectors.release(number)
    if form == "schema.org":
        return _json_bytes(release_json_ld(release, base))
    document = release_cpsv(release, base, settings.IEIM_MODEL["LANGUAGES"][0])
    return turtle(document).encode() if form == "Turtle" else _json_bytes(document)


def _service(
    release: Release, base: str, query: Mapping[str, str], agency: str, key: str
) -> JSONLD | None:
    service = release.services.get((identifier_of(agency), identifier_of(key)))
    return None if service is None else service_json_ld(release, service, base)


urlpatterns = [
    path(address, _view(document, media_type), name=name)
    for address, document, media_type, name in (
        ("services.jsonld", partial(_whole, "schema.org"), JSON_LD, "services"),
        ("services/<str:agency>/<str:key>.jsonld", _service, JSON_LD, "service"),
        ("services.cpsv.jsonld", partial(_whole, "CPSV-AP"), JSON_LD, "services_cpsv"),
        ("services.ttl", partial(_whole, "Turtle"), TURTLE, "services_turtle"),
        ("hsds/", lambda *_: hsds_api.PROFILE, JSON, "hsds"),
        ("hsds/services", hsds_api.services, JSON, "hsds_services"),
        ("hsds/services/<uuid:identifier>", hsds_api.service, JSON, "hsds_service"),
        ("hsds/organizations", hsds_api.organizations, JSON, "hsds_organizations"),
    )
]
