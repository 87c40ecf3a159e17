"""What a browser has seen of its conversation: a cookie with the conversation's reference and a
moment, and nothing on our side.

The moment is that of the newest thing on the page, in microseconds since 1970 by the server's
clock. The page's script moves it on when something that came later is read, so scripts can reach
it; who makes one up changes what their own page calls new.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from conversations.chat.cookies import MAX_AGE_DAYS

NAME = "ieim_seen"
_VALUE = re.compile(r"([A-Z0-9-]{1,12})\.([0-9]{1,17})", re.ASCII)
_MOMENT = re.compile(r"[0-9]{1,17}", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Visit:
    """What is new on a page: all that came after ``since``, up to ``until`` when it was loaded."""

    since: int
    until: int

    @property
    def query(self) -> str:
        """The visit as a part of an address: :func:`of_query` takes it back."""
        return urlencode({"since": self.since, "until": self.until})

    def has(self, moment: int) -> bool:
        """Whether what came at ``moment`` is new."""
        return self.since < moment <= self.until


def moment(at: datetime) -> int:
    """Return a moment in microseconds since 1970."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def of_request(request: HttpRequest, reference: str) -> int | None:
    """Return up to when the browser has seen a conversation, None where it does not say."""
    found = _VALUE.fullmatch(request.COOKIES.get(NAME, ""))
    return int(found[2]) if found and found[1] == reference else None


def of_query(query: Mapping[str, Sequence[str]]) -> Visit | None:
    """Return the visit that an address names, None for none."""
    since, until = ("".join(query.get(name, ())) for name in ("since", "until"))
    both = _MOMENT.fullmatch(since) and _MOMENT.fullmatch(until)
    return Visit(int(since), int(until)) if both else None


def put(response: HttpResponseBase, reference: str, latest: int) -> None:
    """Let the browser keep that it has seen all of a conversation up to ``latest``."""
    response.set_cookie(
        NAME,
        f"{reference}.{latest}",
        max_age=MAX_AGE_DAYS * 24 * 3600,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def drop(response: HttpResponseBase) -> None:
    """Remove the cookie."""
    response.delete_cookie(NAME, samesite="Lax")
