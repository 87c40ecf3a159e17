"""The cache, over connections that outlive a request."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connections


@pytest.mark.postgres
@pytest.mark.django_db
def test_the_cache_connects_once_however_many_threads_use_it() -> None:
    # On PostgreSQL the tests have Redis too; each request is a thread.
    def connected() -> int:
        # Django's cache has no way to its client that the stubs know.
        client: Any = cache._cache  # type: ignore[attr-defined]
        return int(client.get_client().info("stats")["total_connections_received"])

    def use() -> None:
        cache.set("thread", 1)
        connections.close_all()

    cache.set("thread", 1)
    before = connected()
    for _ in range(5):
        thread = Thread(target=use)
        thread.start()
        thread.join()
    assert connected() == before
