"""Coming back: the private link in other forms, and what is new since the last visit.

What a browser has seen of its conversation is a cookie with the reference of the conversation and a
moment, and nothing on our side. The moment is that of the newest thing on the page, in microseconds
since 1970 by the clock of the server. The script of the page moves it on when something that came
later is read, so scripts can reach it; who makes one up changes what their own page calls new.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlencode

import segno
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from conversations.chat.cookies import MAX_AGE_DAYS
from conversations.chat.wording import Words


def base_url(request: HttpRequest) -> str:
    """Return the address of the site, as a link in an e-mail needs it; without a slash."""
    return settings.IEIM_PUBLIC_URL or f"{request.scheme}://{request.get_host()}"


def qr_code(link: str) -> SafeString:
    """Return a link as a QR code: SVG, black on white whatever is around it."""
    code = segno.make(link, error="m", micro=False)
    svg = code.svg_inline(border=4, dark="#000", light="#fff", omitsize=True, lineclass=None)
    return mark_safe(svg)  # noqa: S308  # drawn by the library: no text is in it


def mailto(words: Words, reference: str, link: str) -> str:
    """Return the address that opens an e-mail to nobody yet, with the link in it (RFC 6068)."""
    subject = words.translate(_("My questions, reference {reference}"), reference=reference)
    text = words.translate(
        _("This private link opens my conversation {reference}:"), reference=reference
    )
    warning = words.translate(
        _("Everybody who has the link can read this conversation. Do not pass it on.")
    )
    body = "\r\n\r\n".join((text, link, warning))
    return f"mailto:?subject={quote(subject, safe='')}&body={quote(body, safe='')}"


SEEN_COOKIE = "ieim_seen"
_SEEN = re.compile(r"([A-Z0-9-]{1,12})\.([0-9]{1,17})", re.ASCII)
_MOMENT = re.compile(r"[0-9]{1,17}", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Visit:
    """What is new on a page: all that came after ``since``, up to ``until`` when it was loaded."""

    since: int
    until: int

    @property
    def query(self) -> str:
        """The visit as a part of an address: :func:`visit_of` takes it back."""
        return urlencode({"since": self.since, "until": self.until})

    def has(self, moment: int) -> bool:
        """Whether what came at ``moment`` is new."""
        return self.since < moment <= self.until


def moment(time: datetime) -> int:
    """Return a moment in microseconds since 1970."""
    return (time - _EPOCH) // timedelta(microseconds=1)


def seen_until(request: HttpRequest, reference: str) -> int | None:
    """Return up to when the browser has seen a conversation, None where it does not say."""
    match = _SEEN.fullmatch(request.COOKIES.get(SEEN_COOKIE, ""))
    return int(match[2]) if match and match[1] == reference else None


def visit_of(query: Mapping[str, Sequence[str]]) -> Visit | None:
    """Return the visit that an address names, None for none."""
    since, until = ("".join(query.get(name, ())) for name in ("since", "until"))
    both = _MOMENT.fullmatch(since) and _MOMENT.fullmatch(until)
    return Visit(int(since), int(until)) if both else None


def mark_seen(response: HttpResponseBase, reference: str, latest: int) -> None:
    """Let the browser keep that it has seen all of a conversation up to ``latest``."""
    response.set_cookie(
        SEEN_COOKIE,
        f"{reference}.{latest}",
        max_age=MAX_AGE_DAYS * 24 * 3600,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def forget_seen(response: HttpResponseBase) -> None:
    response.delete_cookie(SEEN_COOKIE, samesite="Lax")
