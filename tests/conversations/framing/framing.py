"""A browser whose page is in a frame of another site."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client

from tests.administration.setting import put

SITE = "https://www.example.org"


def allow(*origins: str) -> None:
    """Set the other sites."""
    put("other_sites", origins="\n".join(origins))


def framed(**options: Any) -> Client:
    """A browser that checks forms as a real one has them checked."""
    return Client(enforce_csrf_checks=True, **options)


def form(html: str) -> dict[str, str]:
    """The token of a page's forms."""
    match = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', html)
    assert match
    return {"csrfmiddlewaretoken": match[1]}


def without_cookies(html: str) -> str:
    """Where the page says that its conversation goes on without cookies."""
    match = re.search(r'data-without-cookies="([^"]*)"', html)
    assert match
    return match[1]
