"""The current release in open standards: no login, no cookie, any site's scripts may read it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, TypeVar
from uuid import UUID

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
from ieim.studio.standards.hsds_api import HsdsWriter
from ieim.studio.standards.schema_org import release_json_ld, service_json_ld

JSON_LD, TURTLE, JSON = "application/ld+json", "text/turtle; charset=utf-8", "application/json"
FRESH_SECONDS = 60
"""How long anybody may keep an answer without asking again: a new release is seen after that."""

PAGE_SIZE: Final = 50
LARGEST_PAGE: Final = 500
"""Items of a page of HSDS, without and with ``per_page``."""

_FILTERS: Final = (
    *("search", "taxonomy_term_id", "taxonomy_id", "organization_id", "modified_after", "minimal"),
)
"""Parameters of HSDS that choose items, which are refused: ignored, they would give too many."""

_NOT_PUBLISHED = "Nothing has been published yet. Please try again later."
_NOT_FOUND = "There is no such entry in the current release. /services.jsonld has all of them."
_BAD_PAGE = f"Give page as a number from 1, and per_page as one from 1 to {LARGEST_PAGE}."
_NO_FILTER = "{} is not offered: leave it out, and choose from all entries."

app_name = "published"
T = TypeVar("T")
Document = Callable[[Release, str], "bytes | None"]
"""What is written of a release for the site's address; None for an entry that it does not have."""


@gzip_page
@require_safe
def services(request: HttpRequest) -> HttpResponse:
    """The whole current release; 404 before the first, 304 for who has it already."""
    return _whole_release(request, "schema.org", JSON_LD)


@gzip_page
@require_safe
def services_cpsv(request: HttpRequest) -> HttpResponse:
    """The same as CPSV-AP."""
    return _whole_release(request, "CPSV-AP", JSON_LD)


@gzip_page
@require_safe
def services_turtle(request: HttpRequest) -> HttpResponse:
    """The same as CPSV-AP in Turtle."""
    return _whole_release(request, "Turtle", TURTLE)


@gzip_page
@require_safe
def service(request: HttpRequest, agency: str, key: str) -> HttpResponse:
    """One service of the current release with its agency and categories, 404 for another."""

    def document(release: Release, base: str) -> bytes | None:
        match = release.services.get((identifier_of(agency), identifier_of(key)))
        return None if match is None else _json_bytes(service_json_ld(release, match, base))

    return _answer(request, document, JSON_LD)


@gzip_page
@require_safe
def hsds(request: HttpRequest) -> HttpResponse:
    """Which version of HSDS the addresses below have."""
    return _answer(request, lambda release, base: _json_bytes(hsds_api.PROFILE), JSON)


@gzip_page
@require_safe
def hsds_services(request: HttpRequest) -> HttpResponse:
    """A page of services, each with all that belongs to it."""
    return _hsds_page(
        request,
        lambda release: list(release.services.values()),
        lambda writer, item: writer.service(item),
    )


@gzip_page
@require_safe
def hsds_organizations(request: HttpRequest) -> HttpResponse:
    """A page of organizations."""
    return _hsds_page(
        request,
        lambda release: list(release.agencies.values()),
        lambda writer, item: writer.organization(item),
    )


@gzip_page
@require_safe
def hsds_service(request: HttpRequest, identifier: UUID) -> HttpResponse:
    """One service by its id in HSDS, 404 for another."""

    def document(release: Release, base: str) -> bytes | None:
        writer = HsdsWriter(release, base)
        match = writer.find_service(identifier)
        return None if match is None else _json_bytes(writer.service(match))

    return _answer(request, document, JSON)


@gzip_page
@require_safe
def hsds_organization(request: HttpRequest, identifier: UUID) -> HttpResponse:
    """One organization by its id in HSDS, 404 for another."""

    def document(release: Release, base: str) -> bytes | None:
        writer = HsdsWriter(release, base)
        match = writer.find_agency(identifier)
        return None if match is None else _json_bytes(writer.organization(match))

    return _answer(request, document, JSON)


urlpatterns = [
    path("services.jsonld", services, name="services"),
    path("services.cpsv.jsonld", services_cpsv, name="services_cpsv"),
    path("services.ttl", services_turtle, name="services_turtle"),
    path("services/<str:agency>/<str:key>.jsonld", service, name="service"),
    path("hsds/", hsds, name="hsds"),
    path("hsds/services", hsds_services, name="hsds_services"),
    path("hsds/services/<uuid:identifier>", hsds_service, name="hsds_service"),
    path("hsds/organizations", hsds_organizations, name="hsds_organizations"),
    path("hsds/organizations/<uuid:identifier>", hsds_organization, name="hsds_organization"),
]


def _whole_release(request: HttpRequest, form: str, media_type: str) -> HttpResponse:
    def document(release: Release, base: str) -> bytes:
        return _whole(release.number, release.sha256, base, form)

    return _answer(request, document, media_type)


@lru_cache(maxsize=4)
def _whole(number: int, sha256: str, base: str, form: str) -> bytes:
    # The digest is part of the key: another database may have another release of that number.
    release = selectors.release(number)
    if form == "schema.org":
        return _json_bytes(release_json_ld(release, base))
    document = release_cpsv(release, base, settings.IEIM_MODEL["LANGUAGES"][0])
    return turtle(document).encode() if form == "Turtle" else _json_bytes(document)


def _hsds_page(
    request: HttpRequest,
    items: Callable[[Release], Sequence[T]],
    written: Callable[[HsdsWriter, T], hsds_api.JSON],
) -> HttpResponse:
    """Return a page of items; 400 for a page that there cannot be, and for filters."""
    if refused := next((name for name in _FILTERS if name in request.GET), ""):
        return _readable_by_all(errors.answer(400, _NO_FILTER.format(refused)))
    number = _positive(request.GET.get("page", "1"))
    size = _positive(request.GET.get("per_page", str(PAGE_SIZE)))
    if not number or not 0 < size <= LARGEST_PAGE:
        return _readable_by_all(errors.answer(400, _BAD_PAGE))

    def document(release: Release, base: str) -> bytes:
        writer = HsdsWriter(release, base)
        listed = hsds_api.page(items(release), number, size, lambda item: written(writer, item))
        return _json_bytes(listed)

    return _answer(request, document, JSON)


def _positive(text: str) -> int:
    """Return the number that a text is, 0 for any other text."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _json_bytes(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _answer(request: HttpRequest, document: Document, media_type: str) -> HttpResponse:
    """Return the document of the current release, or 304 where the browser's copy is of it.

    ``document`` gets the release and the site's address: the one that is set, or in development
    that of the request.
    """
    release = selectors.current_release()
    base = settings.IEIM_PUBLIC_URL or f"{request.scheme}://{request.get_host()}"
    body = release and document(release, base)
    if release is None or body is None:
        return _readable_by_all(errors.answer(404, _NOT_FOUND if release else _NOT_PUBLISHED))
    etag = f'"{release.sha256}"'
    response = HttpResponse(body, content_type=media_type)
    not_modified = get_conditional_response(request, etag=etag)
    response = not_modified if isinstance(not_modified, HttpResponse) else response
    response.headers["ETag"] = etag
    patch_cache_control(response, public=True, max_age=FRESH_SECONDS)
    return _readable_by_all(response)


def _readable_by_all(response: HttpResponse) -> HttpResponse:
    response.headers["Access-Control-Allow-Origin"] = "*"
    return response
