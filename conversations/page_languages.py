"""The languages that pages are in, and each request in its own.

Pages are by the code that Django knows them by (``settings.LANGUAGES``). Knowledge and messages
name languages as ISO 639-1 does, pages a little more exactly: ``zh-hans`` is Chinese as this page
writes it, and Tagalog is what Filipino is called there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from babel import Locale, UnknownLocaleError
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import trans_real

from ieim.administration import selectors as administration

_PAGE_CODES = {"en": "en-gb", "zh": "zh-hans", "tl": "fil"}
_ISO_CODES = {"en-gb": "en", "zh-hans": "zh"}


@dataclass(frozen=True, slots=True)
class PageLanguage:
    """A language that pages are in; ``name`` is what it calls itself."""

    code: str
    name: str

    @property
    def direction(self) -> str:
        """``ltr`` or ``rtl``, as in HTML."""
        return "rtl" if translation.get_language_info(self.code)["bidi"] else "ltr"

    @property
    def offer(self) -> str:
        """The sentence, in this language, that the page can be had in it."""
        with translation.override(self.code):
            return translation.gettext("You can have this page in English.")

    @property
    def others(self) -> tuple[PageLanguage, ...]:
        """The other languages that the administration offers its pages in."""
        return tuple(language for language in offered() if language != self)


def languages() -> tuple[PageLanguage, ...]:
    """Return the languages that pages are in, in the order of the settings."""
    return tuple(PageLanguage(code, name) for code, name in settings.LANGUAGES)


def offered() -> tuple[PageLanguage, ...]:
    """Return those of them that the administration offers its pages in: one at least."""
    chosen = {_PAGE_CODES.get(code, code) for code in administration.offered_languages()}
    return tuple(language for language in languages() if language.code in chosen)


def find(language: str) -> PageLanguage | None:
    """Return the page's language for one of a message or a page, None where pages have it not."""
    code = _PAGE_CODES.get(language, language)
    return next((candidate for candidate in languages() if candidate.code == code), None)


def of_this_page() -> PageLanguage:
    """Return the language that the page at hand is in."""
    language = find(translation.get_language() or settings.LANGUAGE_CODE)
    return language or languages()[0]


def iso_code(code: str) -> str:
    """Return how messages name the language of a page."""
    return _ISO_CODES.get(code, code)


def current() -> str:
    """Return the language that the page at hand is in, as messages name it."""
    return iso_code(translation.get_language() or settings.LANGUAGE_CODE)


_chosen: ContextVar[bool] = ContextVar("chosen", default=False)


@contextmanager
def by_choice(chosen: bool) -> Iterator[None]:
    """Say for what is shown inside whether the citizen has ``chosen`` the page's language."""
    token = _chosen.set(chosen)
    try:
        yield
    finally:
        _chosen.reset(token)


def is_chosen() -> bool:
    """Return whether the citizen has chosen the language of the page at hand themselves."""
    return _chosen.get()


def wording_language(language: str) -> str:
    """Return the language of the fixed words around what is in ``language`` (ISO 639-1).

    Who has chosen the page's language reads all of the page's own words in it; for everybody else
    they are in the language that they write in.
    """
    return current() if is_chosen() else language


def of_request(request: HttpRequest) -> str:
    """Return the language of a citizen's page: the one that they chose, or else the browser's.

    Where neither is offered it is English, or the first that is.
    """
    codes = [language.code for language in offered()]
    chosen = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
    candidates = [
        chosen,
        *_accepted(request.headers.get("Accept-Language", "")),
        settings.LANGUAGE_CODE,
    ]
    return next((code for code in candidates if code in codes), codes[0])


def of_header(accepted: str) -> str:
    """Return the language for a program that sends this ``Accept-Language``."""
    return next(_accepted(accepted), settings.LANGUAGE_CODE)


def _accepted(header: str) -> Iterator[str]:
    """Yield the languages of pages that an ``Accept-Language`` names, the dearest first."""
    for code, _ in trans_real.parse_accept_lang_header(header.lower()):
        if code == "*":
            return
        try:
            yield translation.get_supported_language_variant(code)
        except LookupError:
            continue


def of_socket(query: Mapping[bytes, list[bytes]]) -> str:
    """Return the language of the page that opened a socket, which its address names."""
    language = find(query.get(b"language", [b""])[0].decode("latin-1"))
    return language.code if language else settings.LANGUAGE_CODE


def locale(language: str) -> Locale:
    """Return the locale data of a language, English where there are none."""
    code = _PAGE_CODES.get(language, language)
    try:
        return Locale.parse(translation.to_locale(code))
    except (ValueError, UnknownLocaleError):
        return Locale.parse(translation.to_locale(settings.LANGUAGE_CODE))


def name(language: str, *, in_language: str) -> str:
    """Return what a language is called in another one, or by itself, or by its code."""
    language_name = locale(in_language).languages.get(iso_code(_PAGE_CODES.get(language, language)))
    return language_name or language


_CITIZENS = "conversations"
_PROGRAMS = "api"


def page_language_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: process the request in the language of the page.

    An unknown address counts as a citizen's page: they see the 404 page.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        namespace = _namespace(request)
        varies: tuple[str, ...]
        if namespace == _CITIZENS:
            language, varies = of_request(request), ("Accept-Language", "Cookie")
        elif namespace == _PROGRAMS:
            language = of_header(request.headers.get("Accept-Language", ""))
            varies = ("Accept-Language",)
        else:
            with translation.override(settings.LANGUAGE_CODE):
                return get_response(request)
        chosen = (
            namespace == _CITIZENS
            and request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME) == language
        )
        with translation.override(language), by_choice(chosen):
            response = get_response(request)
        patch_vary_headers(response, varies)
        response.headers.setdefault("Content-Language", language)
        return response

    return middleware


def _namespace(request: HttpRequest) -> str:
    try:
        return resolve(request.path_info).namespace
    except Resolver404:
        return _PROGRAMS if request.path_info.startswith("/api/") else _CITIZENS
