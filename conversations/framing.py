"""On other sites: the pages of citizens in a frame, the script that opens it, and CORS.

``/embed/help/`` is ``/help/`` in a frame, and ``/embed/~PASS/help/`` the same for a browser that
refuses every cookie there. What is not below ``/embed/`` can never be framed. A view and a template
see a request as of a page by itself: the address without its prefix, and the cookies that the
citizen would have there. What a response sets goes back the same way.

A cookie of its own, which browsers keep apart for each site around the frame (``Partitioned``),
carries whose page it is and its language. Where a browser refuses that too, the same is in the
address, as a *pass*. Either way it is signed and nothing else comes along: no page in a frame ever
sees a cookie of a page by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from http.cookies import Morsel
from typing import Any

from csp.constants import NONE
from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import Resolver404, get_script_prefix, path, resolve, set_script_prefix
from django.utils import translation
from django.utils.cache import get_conditional_response
from django.utils.crypto import salted_hmac
from django.utils.http import quote_etag, urlencode
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from conversations import page_languages
from conversations.chat import cookies
from conversations.turns.services import new_secret
from ieim.administration import selectors as administration
from ieim.pipeline.canonical import digest

COOKIE = "ieim_frame"
ROOT = "/embed/"
MAX_AGE = cookies.MAX_AGE_DAYS * 24 * 3600
_SALT = "ieim.frame"


@dataclass(frozen=True, slots=True)
class FrameIdentity:
    """A citizen's secret, and the code of their page's language or nothing."""

    secret: str
    language: str = ""

    @property
    def csrf_secret(self) -> str:
        """What Django's check of forms takes in place of its own cookie: 32 characters."""
        # Keyed with the citizen's secret alone: a new key of the site refuses no open form.
        key = salted_hmac("ieim.frame.csrf", "", secret=self.secret, algorithm="sha256")
        return key.hexdigest()[:32]


def sign(identity: FrameIdentity) -> str:
    """Return it as text that goes into a cookie or an address."""
    return signing.dumps([identity.secret, identity.language], salt=_SALT)


def unsign(text: str) -> FrameIdentity | None:
    """Return what was sealed, None for what we have not sealed or too long ago."""
    try:
        secret, language = signing.loads(text, salt=_SALT, max_age=MAX_AGE)
    except (signing.BadSignature, ValueError):
        return None
    return FrameIdentity(secret, language)


class _Partitioned(Morsel[str]):
    """A cookie with the attribute that Python's own cookies have from 3.14 on."""

    def OutputString(self, attrs: Container[str] | None = None) -> str:  # noqa: N802 - Python's name
        return f"{super().OutputString(attrs)}; Partitioned"


def set_cookie(response: HttpResponseBase, identity: FrameIdentity) -> None:
    """Set the cookie of a page in a frame: for pages in frames alone, and for no script.

    Secure always: browsers take it from loopback without TLS as well.
    """
    text = sign(identity)
    cookie = _Partitioned()
    cookie.set(COOKIE, text, text)
    flags = {"path": ROOT, "max-age": str(MAX_AGE), "samesite": "None"}
    cookie.update({**flags, "httponly": "1", "secure": "1"})
    response.cookies[COOKIE] = cookie


PAGES = "conversations:"
NEVER = frozenset(
    f"{PAGES}{name}" for name in ("resume", "mail_link", "mail_link_stop", "offline", "worker")
)
"""Private links, links in e-mails and the offline page open in a separate window: without a
connection the surrounding page is not available either."""
ASSETS = ("administration:colours", "administration:logo")
"""What these pages fetch: the same for everybody, and never framed itself."""


@dataclass(frozen=True, slots=True)
class Address:
    """An address below ``/embed/``: ``prefix`` is what it has before that of the page itself.

    ``token`` is the text of a pass, None where a cookie carries; ``page`` is false for what pages
    fetch.
    """

    prefix: str
    path: str
    token: str | None
    page: bool


def framed(path: str) -> Address | None:
    """Return what an address is in a frame, None where it is nothing there."""
    if not path.startswith(ROOT):
        return None
    token, rest = None, path.removeprefix(ROOT)
    if rest.startswith("~"):
        token, slash, rest = rest.removeprefix("~").partition("/")
        if not slash:
            return None
    prefix = prefix_of(token)
    try:
        name = resolve(f"/{rest}").view_name
    except Resolver404:
        return None
    if name in ASSETS or (name.startswith(PAGES) and name not in NEVER):
        return Address(prefix, f"/{rest}", token, name not in ASSETS)
    return None


def prefix_of(token: str | None) -> str:
    """Return the path prefix of a frame's addresses."""
    return ROOT if token is None else f"{ROOT}~{token}/"


def of_socket(scope: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the path prefix of the addresses of a socket's page, and its citizen's secret."""
    if not scope["path"].startswith(ROOT):
        return "/", cookies.secret_of(scope.get("cookies", {}))
    token = scope["url_route"]["kwargs"].get("token")
    text = scope.get("cookies", {}).get(COOKIE, "") if token is None else token
    identity = unsign(text)
    return prefix_of(token), identity.secret if identity else None


FRESH = "fresh"
"""In an address: the pass cannot be used, so begin anew."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a template asks of the frame that its page is in.

    ``is_without_cookie``: no cookie came. ``without_cookies`` is the address then for a browser
    that refuses them, empty where there is no safe way.
    """

    home: str
    by_pass: bool
    is_without_cookie: bool
    without_cookies: str
    fresh: bool


def in_a_frame(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Serve the citizen's pages below ``/embed/`` to the sites that may frame them."""

    def middleware(request: HttpRequest) -> HttpResponse:
        address = framed(request.path_info)
        if address is None:
            return get_response(request)
        request.path_info = address.path
        cookie, request.COOKIES = request.COOKIES.get(COOKIE, ""), {}
        if not address.page:
            return get_response(request)
        response = _framed_page(request, address, cookie, get_response)
        _for_frames(response)
        return response

    return middleware


def _framed_page(
    request: HttpRequest,
    address: Address,
    cookie: str,
    get_response: Callable[[HttpRequest], HttpResponse],
) -> HttpResponse:
    site = request.headers.get("Sec-Fetch-Site")
    if address.token is None:
        stored = unsign(cookie)
    else:
        if site != "same-origin":
            # Somebody else's pass must not put a citizen's question into their conversation.
            return redirect(ROOT)
        stored = unsign(address.token)
        if stored is None:
            return redirect(f"{ROOT}?{urlencode({FRESH: 1})}")
    requested = page_languages.find(request.GET.get("language", ""))
    identity = stored or FrameIdentity(new_secret(), requested.code if requested else "")
    request.COOKIES = {
        cookies.NAME: cookies.sign(identity.secret),
        settings.LANGUAGE_COOKIE_NAME: identity.language,
        settings.CSRF_COOKIE_NAME: identity.csrf_secret,
    }
    is_without_cookie = stored is None
    offers = is_without_cookie and site is not None
    request.frame = Frame(  # type: ignore[attr-defined]  # as Django's own middleware adds to it
        home=address.prefix,
        by_pass=address.token is not None,
        is_without_cookie=is_without_cookie,
        without_cookies=prefix_of(sign(identity)) if offers else "",
        fresh=FRESH in request.GET,
    )
    before = get_script_prefix()
    set_script_prefix(address.prefix)
    try:
        response = get_response(request)
    finally:
        set_script_prefix(before)
    return _carry_on(response, address, identity, is_without_cookie=is_without_cookie)


def _carry_on(
    response: HttpResponse, address: Address, identity: FrameIdentity, *, is_without_cookie: bool
) -> HttpResponse:
    """Put what a page by itself would have set into what a frame carries."""
    updated = identity
    renewed = is_without_cookie
    if (set_session := response.cookies.get(cookies.NAME)) is not None:
        secret = cookies.secret_of({cookies.NAME: set_session.value})
        updated, renewed = replace(updated, secret=secret or new_secret()), True
    if (language := response.cookies.get(settings.LANGUAGE_COOKIE_NAME)) is not None:
        updated = replace(updated, language=language.value)
    response.cookies.clear()
    if address.token is None:
        if renewed or updated != identity:
            set_cookie(response, updated)
    elif updated != identity and (location := response.headers.get("Location", "")):
        prefix = prefix_of(sign(updated))
        response.headers["Location"] = location.replace(address.prefix, prefix, 1)
    return response


def _for_frames(response: HttpResponse) -> None:
    origins = list(administration.current().other_sites)
    response._csp_replace = {"frame-ancestors": origins or [NONE]}  # type: ignore[attr-defined]  # what csp's decorator does
    if origins:
        # It knows no list of origins, and browsers that know frame-ancestors go by that.
        del response.headers["X-Frame-Options"]


FRESH_SECONDS = 300
"""How long a browser may go on with what was set before: languages, colours and sites."""
_BRAND_COLOUR = "#0d5a6c"


@require_safe
def embed(request: HttpRequest) -> HttpResponseBase:
    """The script: the same for everybody, without a cookie."""
    script_settings = json.dumps(_script_settings(), ensure_ascii=True, separators=(",", ":"))
    text = render_to_string("conversations/framing/embed.js", {"script_settings": script_settings})
    etag = quote_etag(digest(text))
    response = HttpResponse(text, content_type="text/javascript; charset=utf-8")
    response.headers["Cache-Control"] = f"public, max-age={FRESH_SECONDS}"
    response.headers["ETag"] = etag
    # For sites that let in only what says so.
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return get_conditional_response(request, etag=etag, response=response) or response


def _script_settings() -> dict[str, Any]:
    organisation = administration.current()
    words = {}
    for language in page_languages.offered():
        with translation.override(language.code):
            words[page_languages.iso_code(language.code)] = {
                "language": language.code,
                "direction": language.direction,
                "ask": gettext("Ask about a public service"),
                "close": gettext("Close"),
            }
    return {
        "words": words,
        "sites": list(organisation.other_sites),
        "colour": organisation.colours.brand if organisation.colours else _BRAND_COLOUR,
    }


def is_allowed_origin(sender: Any, request: HttpRequest, **_: Any) -> bool:
    """Whether a site that the settings name calls the citizens' API.

    The middleware asks for every address, and takes a yes for any of them.
    """
    if not re.match(settings.CORS_URLS_REGEX, request.path_info):
        return False
    origin = request.headers.get("Origin", "")
    return bool(origin) and origin in administration.current().other_sites


# Pages in frames have no list of addresses: they are the citizen's own.
app_name = "framing"
urlpatterns = [path("embed.js", embed, name="script")]
