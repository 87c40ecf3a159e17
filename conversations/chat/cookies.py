"""The cookie that finds a citizen's conversation again: its secret, signed.

The signature only keeps made-up secrets out; what opens a conversation is the secret itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponseBase

_BARE, _BARE_SALT = "ieim_session", "ieim.session"
"""Of before 0.3 in production, where nothing is signed with this salt any more."""
NAME = f"{settings.IEIM_COOKIE_PREFIX}{_BARE}"
MAX_AGE_DAYS = 30
_SALT = f"{settings.IEIM_COOKIE_PREFIX}{_BARE_SALT}"


def set_cookie(response: HttpResponseBase, secret: str) -> None:
    """Set the cookie: for this site's own requests only, and out of reach of scripts."""
    response.set_cookie(
        NAME,
        sign(secret),
        max_age=MAX_AGE_DAYS * 24 * 3600,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def sign(secret: str) -> str:
    return signing.TimestampSigner(salt=_SALT).sign(secret)


def delete_cookie(response: HttpResponseBase) -> None:
    """Remove the cookie; the conversation itself stays."""
    for name in {NAME, _BARE}:
        response.delete_cookie(name, samesite="Lax")


def secret_of_request(request: HttpRequest) -> str | None:
    """Return the secret that came with a request, None without one that we signed."""
    return secret_of(request.COOKIES)


def secret_of(cookies: Mapping[str, str]) -> str | None:
    """Return the secret among cookies by name, None without one that we signed."""
    for name, salt in {NAME: _SALT, _BARE: _BARE_SALT}.items():
        signer = signing.TimestampSigner(salt=salt)
        with suppress(signing.BadSignature):
            return signer.unsign(cookies.get(name, ""), max_age=MAX_AGE_DAYS * 24 * 3600)
    return None
