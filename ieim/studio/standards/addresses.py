"""The addresses (IRIs) of agencies, categories, services and situations that this site publishes.

They are the same in every standard, so that what two documents say of one service can be joined.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from ieim.studio.standards.texts import segment

_PUBLISHED = re.compile(
    r"/services(?:\.jsonld#(?:[^/#]+/categories/|/situations/)?([^/#]+)|/[^/#]+/([^/#]+)\.jsonld)$"
)


class Addresses:
    """Addresses below ``base``, the site's address without a slash at its end."""

    def __init__(self, base: str) -> None:
        self._base = base

    def agency(self, agency: str) -> str:
        return f"{self._base}/services.jsonld#{quote(agency, safe='')}"

    def category(self, agency: str, key: str) -> str:
        return f"{self.agency(agency)}/categories/{quote(key, safe='')}"

    def service(self, agency: str, key: str) -> str:
        agency, key = quote(segment(agency), safe=""), quote(segment(key), safe="")
        return f"{self._base}/services/{agency}/{key}.jsonld"

    def situation(self, key: str) -> str:
        return f"{self._base}/services.jsonld#/situations/{quote(key, safe='')}"


def published_identifier(address: str) -> str:
    """Return the id or key that an address of this application ends in, "" for another address."""
    match = _PUBLISHED.search(address)
    if match is None:
        return ""
    return unquote(match[1]) if match[1] else identifier_of(unquote(match[2]))


def identifier_of(part: str) -> str:
    """Return the id that :func:`~ieim.studio.standards.texts.segment` made ``part`` of."""
    return part.replace("~1", "/").replace("~0", "~")
