"""The release as JSON-LD, for everybody: no login, no cookie, any site's scripts may read it."""

from __future__ import annotations

import json
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.cache import get_conditional_response, patch_cache_control
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from conversations.api import errors
from ieim.knowledge import selectors
from ieim.pipeline.knowledge import Release
from ieim.studio.standards.publishing import identifier_of, release_json_ld, service_json_ld

MEDIA_TYPE = "application/ld+json"
FRESH_SECONDS = 60
"""How long anybody may keep an answer without asking again: a new release is seen after that."""

_NOT_PUBLISHED = "Nothing has been published yet. Please try again later."
_NO_SERVICE = "There is no such service in the current release. /services.jsonld has all of them."

app_name = "published"


@gzip_page
@require_safe
def services(request: HttpRequest) -> HttpResponse:
    """The whole current release; 404 before the first, 304 for who has it already."""
    release = selectors.current_release()
    if release is None:
        return _problem(_NOT_PUBLISHED)
    return _known(request, release) or _answer(
        request, release, _whole(release.number, release.sha256, _base(request))
    )


@gzip_page
@require_safe
def service(request: HttpRequest, agency: str, key: str) -> HttpResponse:
    """One service of the current release with its agency and categories, 404 for another."""
    release = selectors.current_release()
    if release is None:
        return _problem(_NOT_PUBLISHED)
    found = release.services.get((identifier_of(agency), identifier_of(key)))
    if found is None:
        return _problem(_NO_SERVICE)
    body = _dumped(service_json_ld(release, found, _base(request)))
    return _known(request, release) or _answer(request, release, body)


urlpatterns = [
    path("services.jsonld", services, name="services"),
    path("services/<str:agency>/<str:key>.jsonld", service, name="service"),
]


@lru_cache(maxsize=2)
def _whole(number: int, sha256: str, base: str) -> bytes:
    # The digest is part of the key: another database may have another release of that number.
    return _dumped(release_json_ld(selectors.release(number), base))


def _dumped(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _known(request: HttpRequest, release: Release) -> HttpResponse | None:
    """Return 304 where the browser's copy is of this release, None where it needs another."""
    response = get_conditional_response(request, etag=_etag(release))
    if isinstance(response, HttpResponse):
        return _open(response, release)
    return None


def _answer(request: HttpRequest, release: Release, body: bytes) -> HttpResponse:
    return _open(HttpResponse(body, content_type=MEDIA_TYPE), release)


def _open(response: HttpResponse, release: Release) -> HttpResponse:
    response.headers["ETag"] = _etag(release)
    patch_cache_control(response, public=True, max_age=FRESH_SECONDS)
    response.headers["Access-Control-Allow-Origin"] = "*"
    return response


def _etag(release: Release) -> str:
    return f'"{release.sha256}"'


def _problem(detail: str) -> HttpResponse:
    response = errors.answer(404, detail)
    response.headers["Access-Control-Allow-Origin"] = "*"
    return response


def _base(request: HttpRequest) -> str:
    """Return the site's address: the one that is set, or in development the one that was asked."""
    return settings.IEIM_PUBLIC_URL or f"{request.scheme}://{request.get_host()}"
