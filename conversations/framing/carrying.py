"""What a page in a frame carries from request to request: whose it is, and its language.

In a cookie of its own, which browsers keep apart for each site around the frame (``Partitioned``).
Where a browser refuses that too, the same is in the address, as a *pass*. Either way it is signed
and nothing else comes along: no page in a frame ever sees a cookie of a page by itself.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from http.cookies import Morsel

from django.core import signing
from django.http import HttpResponseBase
from django.utils.crypto import salted_hmac

from conversations.chat import cookies

COOKIE = "ieim_frame"
ROOT = "/embed/"
MAX_AGE = cookies.MAX_AGE_DAYS * 24 * 3600
_SALT = "ieim.frame"


@dataclass(frozen=True, slots=True)
class Carried:
    """A citizen's secret, and the code of their page's language or nothing."""

    secret: str
    language: str = ""

    @property
    def csrf_secret(self) -> str:
        """What Django's check of forms takes in place of its own cookie: 32 characters."""
        return salted_hmac("ieim.frame.csrf", self.secret, algorithm="sha256").hexdigest()[:32]


def sealed(carried: Carried) -> str:
    """Return it as text that goes into a cookie or an address."""
    return signing.dumps([carried.secret, carried.language], salt=_SALT)


def opened(text: str) -> Carried | None:
    """Return what was sealed, None for what we have not sealed or too long ago."""
    try:
        secret, language = signing.loads(text, salt=_SALT, max_age=MAX_AGE)
    except (signing.BadSignature, ValueError):
        return None
    return Carried(secret, language)


class _Partitioned(Morsel[str]):
    """A cookie with the attribute that Python's own cookies have from 3.14 on."""

    def OutputString(self, attrs: Container[str] | None = None) -> str:  # noqa: N802 - Python's name
        """Return the cookie as its header has it."""
        return f"{super().OutputString(attrs)}; Partitioned"


def put(response: HttpResponseBase, carried: Carried) -> None:
    """Set the cookie of a page in a frame: for pages in frames alone, and for no script.

    Secure always: browsers take it from loopback without TLS as well.
    """
    text = sealed(carried)
    cookie = _Partitioned()
    cookie.set(COOKIE, text, text)
    flags = {"path": ROOT, "max-age": str(MAX_AGE), "samesite": "None"}
    cookie.update({**flags, "httponly": "1", "secure": "1"})
    response.cookies[COOKIE] = cookie
