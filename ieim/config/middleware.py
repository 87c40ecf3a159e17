"""Middleware: compression, cache headers, and pages for errors that people meet.

Text that no server has compressed is compressed here: pages, and files in development. In
production WhiteNoise has compressed each file beforehand. Pages hold secrets: Django puts random
bytes into each compressed one, so that its length reveals nothing of them (Heal the BREACH).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]  # it has none

TEXT = ("text/", "application/javascript", "image/svg+xml")
"""Content types for browsers; REST answers programs, whose proxies can compress."""


_DIGEST: Final = re.compile(r"\.[0-9a-f]{12}(?=\.[^./]+$)")


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]  # without types it is Any
    """Static files; one of another release under the name that it has in this one.

    While processes are replaced, a page of one release may ask a process of the other. What it gets
    is kept for a minute.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the file that is asked for, or what the site answers."""
        path = request.path_info
        response: HttpResponseBase
        if path not in self.files and (file := self.files.get(_DIGEST.sub("", path))):
            response = self.serve(file, request)
        else:
            response = super().__call__(request)
        return response


class Compression(GZipMiddleware):
    """Compress what is text: a typeface or a picture is compressed already."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Return ``response``, compressed where the browser takes that and it is worth it."""
        if not response.headers.get("Content-Type", "").startswith(TEXT):
            return response
        return super().process_response(request, response)


def never_cache_by_default(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: a response without ``Cache-Control`` is kept by no browser or proxy.

    Public responses set the header themselves; static files are served before this.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if "Cache-Control" not in response.headers:
            add_never_cache_headers(response)
        return response

    return middleware


def reject_nul_in_path(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: 404 for a path with a NUL, which PostgreSQL cannot look for."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if "\0" in request.path:
            raise Http404
        return get_response(request)

    return middleware


def wrong_method_page(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: an empty 405 becomes a page.

    People get there: the address of a form that was refused, opened again, or where somebody was
    logged out before sending it. A browser shows an empty answer as a fault of the site.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and not response.content:
            page = render(request, "405.html", status=405)
            response.content = page.content
        return response

    return middleware
