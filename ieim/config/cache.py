"""The cache in Redis, with one pool of connections a process."""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

from django.core.cache.backends.redis import RedisCache, RedisCacheClient

_client = cache(RedisCacheClient)


class PooledRedisCache(RedisCache):
    """Django's cache in Redis over connections that outlive a request.

    Django makes a cache for each thread, and with it a pool and a new connection: under ASGI a
    request is a thread. The pool is safe for threads, and begins anew in a forked process.
    """

    @cached_property
    def _cache(self) -> Any:
        # The stubs leave out what Django's own class keeps for its client.
        return _client(tuple(self._servers), **self._options)  # type: ignore[attr-defined]
