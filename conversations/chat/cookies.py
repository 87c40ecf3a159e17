"""The cookie that finds a citizen's conversation again: its secret, signed.

The signature only keeps made-up secrets out; what opens a conversation is the secret itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponseBase

NAME = "ieim_session"
MAX_AGE_DAYS = 30
_SALT = "ieim.session"


def put(response: HttpResponseBase, secret: str) -> None:
    """Set the cookie: for this site's own requests only, and out of reach of scripts."""
    response.set_cookie(
        NAME,
        sealed(secret),
        max_age=MAX_AGE_DAYS * 24 * 3600,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def sealed(secret: str) -> str:
    return signing.TimestampSigner(salt=_SALT).sign(secret)


def drop(response: HttpResponseBase) -> None:
    """Remove the cookie; the conversation itself stays."""
    response.delete_cookie(NAME, samesite="Lax")


def secret_of_request(request: HttpRequest) -> str | None:
    """Return the secret that came with a request, None without one that we signed."""
    return secret_of(request.COOKIES)


def secret_of(cookies: Mapping[str, str]) -> str | None:
    """Return the secret among cookies by name, None without one that we signed."""
    try:
        return signing.TimestampSigner(salt=_SALT).unsign(
            cookies.get(NAME, ""), max_age=MAX_AGE_DAYS * 24 * 3600
        )
    except signing.BadSignature:
        return None
