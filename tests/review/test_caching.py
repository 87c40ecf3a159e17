"""No address lets a browser or a proxy keep what it shows, but those that are for everybody."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from ieim.people.models import User
from tests.review.matrix import NAMES
from tests.review.people import browser
from tests.review.world import Variant, World

FOR_EVERYBODY = {
    "administration:colours",
    "administration_api:administration",
    "framing:script",
    *(f"published:{name}" for name in ("services", "services_turtle", "services_cpsv")),
    *(f"published:{name}" for name in ("hsds", "hsds_services", "hsds_organizations")),
}
"""The same for whoever asks, and each says how long it may be kept. A logo and a published service
would be too: there are none here."""


def is_cacheable(response: Any) -> bool:
    """Whether somebody on the way may keep it."""
    result = response.headers.get("Cache-Control", "")
    return not {"no-store", "private"} <= {word.strip() for word in result.split(",")}


@pytest.mark.whole
def test_nothing_is_kept_but_what_is_for_everybody(published: None) -> None:
    world, root = World(Variant.OWN), User.objects.create_superuser("root")
    visitors = browser(root), Client()
    results = set()
    for name, taken in NAMES.items():
        path = world.address(name, taken, root)
        if any(is_cacheable(visitor.get(path)) for visitor in visitors):
            results.add(name)
    assert results == FOR_EVERYBODY


@pytest.mark.parametrize("path", ["/nothing/", "/api/nothing/", "/review/", "/embed/c/x/"])
def test_nor_are_errors_and_redirects(db: None, path: str) -> None:
    assert not is_cacheable(Client().get(path))
