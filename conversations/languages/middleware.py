"""Each request in its language: citizens' pages in theirs, everything for staff in English."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django.utils import translation
from django.utils.cache import patch_vary_headers

from conversations.languages import pages

CITIZENS = "conversations"
PROGRAMS = "api"


def in_its_language(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: what is said meanwhile is said in the language of the page.

    An address of nothing is a citizen's as well: what they see there is that nothing is.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        whose = _whose(request)
        varies: tuple[str, ...]
        if whose == CITIZENS:
            language, varies = pages.of_page(request), ("Accept-Language", "Cookie")
        elif whose == PROGRAMS:
            language = pages.of_header(request.headers.get("Accept-Language", ""))
            varies = ("Accept-Language",)
        else:
            with translation.override(settings.LANGUAGE_CODE):
                return get_response(request)
        with translation.override(language):
            response = get_response(request)
        patch_vary_headers(response, varies)
        response.headers.setdefault("Content-Language", language)
        return response

    return middleware


def _whose(request: HttpRequest) -> str:
    try:
        return resolve(request.path_info).namespace
    except Resolver404:
        return PROGRAMS if request.path_info.startswith("/api/") else CITIZENS
