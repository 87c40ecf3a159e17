"""What a first visit weighs, as a browser fetches it: all of it compressed, and little."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urljoin

import pytest
from django.test import Client

BUDGET = 100 * 1024
"""Bytes of everything that a first visit needs."""
LATIN = "latin-wght"
"""What a page in English, French, German or Spanish fetches of the typeface."""


def fetched(path: str) -> tuple[bytes, str]:
    """Return what is sent of ``path``, and how it is encoded."""
    response = Client().get(path, headers={"Accept-Encoding": "gzip"})
    assert response.status_code == 200, path
    streamed = getattr(response, "streaming", False)
    body = b"".join(response) if streamed else response.content
    return body, response.headers.get("Content-Encoding", "")


def plain(path: str) -> str:
    response = Client().get(path)
    streamed = getattr(response, "streaming", False)
    return (b"".join(response) if streamed else response.content).decode()


def first_visit() -> Iterator[str]:
    """Yield the address of everything that the page asks a browser to fetch."""
    page = plain("/")
    yield "/"
    for tag in re.findall(r"<(?:link|script)\b[^>]*>", page):
        match = re.search(r'(?:href|src)="([^"]+)"', tag)
        assert match, tag
        if 'rel="preload"' not in tag:
            yield match[1]
        if 'rel="stylesheet"' in tag:
            addresses = re.findall(r"url\([\"']?([^\"')]+)", plain(match[1]))
            yield from (urljoin(match[1], address) for address in addresses if LATIN in address)


@pytest.mark.django_db
def test_a_first_visit_weighs_at_most_100_kilobytes() -> None:
    weights = {path: len(fetched(path)[0]) for path in first_visit()}
    # Each kind is among them: a page that fetched nothing would be light.
    for kind in (".css", "htmx-2.min.js", "asking.js", ".woff2", ".svg"):
        assert any(path.endswith(kind) for path in weights), (kind, list(weights))
    assert sum(weights.values()) <= BUDGET, weights


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["/", ".css", ".js", ".svg"])
def test_text_is_sent_compressed(kind: str) -> None:
    for path in first_visit():
        if path.endswith(kind):
            assert fetched(path)[1] == "gzip", path


@pytest.mark.django_db
def test_a_typeface_is_sent_as_it_is_and_fetched_early() -> None:
    (font,) = (path for path in first_visit() if path.endswith(".woff2"))
    assert fetched(font)[1] == ""
    assert f'<link rel="preload" href="{font}" as="font"' in plain("/")
