"""What a service shares with a message."""

from __future__ import annotations

from copy import deepcopy

from ieim.search import index_for
from tests.search.releases import release


def test_a_release_that_was_read_again_has_the_same_services() -> None:
    first = release(sha256="e" * 64)
    again = [deepcopy(service) for service in first.services.values()]
    index = index_for(first)
    assert index.evidence("passport", again) == index.evidence(
        "passport", [*first.services.values()]
    )
