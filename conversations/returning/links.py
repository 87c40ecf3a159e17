"""The private link of a conversation, and forms of it that lead to another device."""

from __future__ import annotations

from urllib.parse import quote

import segno
from django.conf import settings
from django.http import HttpRequest
from django.utils.safestring import SafeString, mark_safe

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
    subject = words.link["subject"].format(reference=reference)
    text = words.link["body"].format(reference=reference)
    body = "\r\n\r\n".join((text, link, words.held["private"]))
    return f"mailto:?subject={quote(subject, safe='')}&body={quote(body, safe='')}"
