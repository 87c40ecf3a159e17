"""The addresses of a sitemap (https://www.sitemaps.org/protocol.html), and of those it leads to."""

from __future__ import annotations

import zlib

from lxml import etree

from ieim.studio.webpages.fetching import Fetcher
from ieim.studio.webpages.reading import Unreadable

MAX_SITEMAP = 10 * 2**20
"""Bytes of a sitemap, packed and unpacked."""
MAX_SITEMAPS = 50
MAX_ADDRESSES = 50_000
_MAX_DEPTH = 2
_SMALLER = "Give one of the sitemaps that it leads to."


def addresses(fetcher: Fetcher, address: str) -> list[str]:
    """Return the addresses of the pages of a sitemap, in its order.

    Raises:
        Unreadable, Busy: as :meth:`Fetcher.page`; the sentence is about the sitemap.
    """
    result: dict[str, None] = {}
    seen, level = {address}, [address]
    for _ in range(_MAX_DEPTH + 1):
        following: list[str] = []
        for sitemap in level:
            root = _root(fetcher.read(sitemap, MAX_SITEMAP))
            result.update(dict.fromkeys(_locations(root, "url")))
            following += [a for a in _locations(root, "sitemap") if a not in seen]
            seen.update(following)
            if len(seen) > MAX_SITEMAPS or len(result) > MAX_ADDRESSES:
                raise Unreadable(f"The sitemap is of a very large site. {_SMALLER}")
        if not following:
            return list(result)
        level = list(dict.fromkeys(following))
    raise Unreadable(f"The sitemap leads to others more than {_MAX_DEPTH} levels deep. {_SMALLER}")


def _root(body: bytes) -> etree._Element:
    if body[:2] == b"\x1f\x8b":
        try:
            body = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body, MAX_SITEMAP + 1)
        except zlib.error as error:
            raise Unreadable("The sitemap is packed, and cannot be unpacked.") from error
        if len(body) > MAX_SITEMAP:
            raise Unreadable(f"The sitemap is larger than {MAX_SITEMAP // 2**20} MiB unpacked.")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring(body, parser)
    except etree.XMLSyntaxError as error:
        raise Unreadable("It is no sitemap in XML that can be read.") from error


def _locations(root: etree._Element, name: str) -> list[str]:
    locations = (element.text or "" for element in root.iterfind(f"{{*}}{name}/{{*}}loc"))
    return [text.strip() for text in locations if text.strip()]
