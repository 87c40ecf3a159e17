"""Middleware of the pages in frames: which they are, what they carry, and who may frame them.

A view and a template see a request as of a page by itself: the address without what stands before
it, and the cookies that the citizen would have there. What a response sets goes back the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from csp.constants import NONE
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import get_script_prefix, set_script_prefix
from django.utils.http import urlencode

from conversations.chat import cookies
from conversations.framing import carrying
from conversations.framing.addresses import Address, framed, prefix_of
from conversations.framing.carrying import Carried
from conversations.languages import pages
from conversations.turns.services import new_secret
from ieim.administration import selectors as administration

FRESH = "fresh"
"""In an address: what was carried is of no use, so begin anew."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a template asks of the frame that its page is in.

    ``unheard`` says that no cookie came. ``without_cookies`` is the address then for a browser that
    refuses them, empty where there is no safe way.
    """

    home: str
    by_pass: bool
    unheard: bool
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
        brought, request.COOKIES = request.COOKIES.get(carrying.COOKIE, ""), {}
        if not address.page:
            return get_response(request)
        response = _page(request, address, brought, get_response)
        _for_frames(response)
        return response

    return middleware


def _page(
    request: HttpRequest,
    address: Address,
    cookie: str,
    get_response: Callable[[HttpRequest], HttpResponse],
) -> HttpResponse:
    site = request.headers.get("Sec-Fetch-Site")
    if address.token is None:
        brought = carrying.opened(cookie)
    else:
        if site != "same-origin":
            # Somebody else's pass must not put a citizen's question into their conversation.
            return redirect(carrying.ROOT)
        brought = carrying.opened(address.token)
        if brought is None:
            return redirect(f"{carrying.ROOT}?{urlencode({FRESH: 1})}")
    wanted = pages.find(request.GET.get("language", ""))
    carried = brought or Carried(new_secret(), wanted.code if wanted else "")
    request.COOKIES = {
        cookies.NAME: cookies.sealed(carried.secret),
        settings.LANGUAGE_COOKIE_NAME: carried.language,
        settings.CSRF_COOKIE_NAME: carried.csrf_secret,
    }
    unheard = brought is None
    offers = unheard and site is not None
    request.frame = Frame(  # type: ignore[attr-defined]  # as Django's own middleware adds to it
        home=address.prefix,
        by_pass=address.token is not None,
        unheard=unheard,
        without_cookies=prefix_of(carrying.sealed(carried)) if offers else "",
        fresh=FRESH in request.GET,
    )
    before = get_script_prefix()
    set_script_prefix(address.prefix)
    try:
        response = get_response(request)
    finally:
        set_script_prefix(before)
    return _carry_on(response, address, carried, unheard=unheard)


def _carry_on(
    response: HttpResponse, address: Address, carried: Carried, *, unheard: bool
) -> HttpResponse:
    """Put what a page by itself would have set into what a frame carries."""
    after = carried
    renewed = unheard
    if (set_session := response.cookies.get(cookies.NAME)) is not None:
        secret = cookies.secret_of({cookies.NAME: set_session.value})
        after, renewed = replace(after, secret=secret or new_secret()), True
    if (language := response.cookies.get(settings.LANGUAGE_COOKIE_NAME)) is not None:
        after = replace(after, language=language.value)
    response.cookies.clear()
    if address.token is None:
        if renewed or after != carried:
            carrying.put(response, after)
    elif after != carried and (place := response.headers.get("Location", "")):
        there = prefix_of(carrying.sealed(after))
        response.headers["Location"] = place.replace(address.prefix, there, 1)
    return response


def _for_frames(response: HttpResponse) -> None:
    origins = list(administration.current().other_sites)
    response._csp_replace = {"frame-ancestors": origins or [NONE]}  # type: ignore[attr-defined]  # what csp's decorator does
    if origins:
        # It knows no list of origins, and browsers that know frame-ancestors go by that.
        del response.headers["X-Frame-Options"]
