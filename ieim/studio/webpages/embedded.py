"""What a web page says of itself as data: JSON-LD, and microdata in the form of JSON-LD.

Both as the HTML standard has them, but for what would let a short page say the same again and
again: ``itemref``, and more than :data:`_MOST_AROUND` properties around one. What cannot be read is
left out: the page's text says the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

from html_text import etree_to_text
from lxml.html import HtmlElement

_JSON_LD = "application/ld+json"
_ADDRESSES = {
    **dict.fromkeys(("a", "area", "link"), "href"),
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    "object": "data",
}
_VALUES = {"meta": "content", "data": "value", "meter": "value", "time": "datetime"}
_MOST_AROUND = 3


def data_of(tree: HtmlElement, address: str) -> tuple[Any, ...]:
    """Return the data in a page at ``address``, first its JSON-LD."""
    items = tree.xpath("//*[@itemscope][not(@itemprop)]")
    return (*_json_ld(tree), *(_item(item, address) for item in items))


def _json_ld(tree: HtmlElement) -> Iterator[Any]:
    for script in tree.iter("script"):
        if script.get("type", "").partition(";")[0].strip().lower() == _JSON_LD:
            try:
                found = json.loads(script.text or "", strict=False)
            except (ValueError, RecursionError):
                continue
            yield from found if isinstance(found, list) else [found]


def _item(scope: HtmlElement, address: str) -> dict[str, Any]:
    node: dict[str, Any] = {}
    if types := scope.get("itemtype", "").split():
        vocabulary, _, name = types[0].rpartition("/")
        node |= {"@context": vocabulary, "@type": name if len(types) == 1 else types}
    pending = [(element, 0) for element in scope.iterchildren("*", reversed=True)]
    while pending:
        element, around = pending.pop()
        if names := element.get("itemprop", "").split():
            around += 1
            value = _value(element, address)
            for name in names:
                node.setdefault(name, []).append(value)
        if element.get("itemscope") is None and around < _MOST_AROUND:
            pending += [(inner, around) for inner in element.iterchildren("*", reversed=True)]
    return node


def _value(element: HtmlElement, address: str) -> Any:
    if element.get("itemscope") is not None:
        return _item(element, address)
    if attribute := _ADDRESSES.get(element.tag):
        written = element.get(attribute, "")
        try:
            return urljoin(address, written) if written else ""
        except ValueError:  # it is no address
            return written
    attribute = _VALUES.get(element.tag)
    value = element.get(attribute) if attribute else None
    return etree_to_text(element) if value is None else value
