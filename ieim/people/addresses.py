"""Client addresses of requests and sockets, for rate limits.

``IEIM_TRUSTED_PROXIES`` is the number of proxies in front of the application. Each appends its
client to the right of ``X-Forwarded-For``; entries further left are not trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest

WIDE: Final = 4
"""The factor by which the limit of a /48 exceeds that of a /64: a customer can have all of a /48,
and so can many people of a company or a carrier."""


def of_request(request: HttpRequest) -> str:
    """Return the address of a request, "" if it has none (a Unix socket)."""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return _client(request.META.get("REMOTE_ADDR", ""), forwarded)


def of_scope(scope: Mapping[str, Any]) -> str:
    """Return the address of a websocket, as :func:`of_request` does."""
    values = (value for name, value in scope["headers"] if name == b"x-forwarded-for")
    peer = scope.get("client")
    return _client(peer[0] if peer else "", ",".join(value.decode("latin-1") for value in values))


def counted_as(address: str) -> Sequence[tuple[str, int]]:
    """Return what is counted for an address, each with a factor of the limit: the address itself,
    and for IPv6 its /48, too."""
    if ":" not in address:
        return [(address, 1)]
    wide = IPv6Address(int(IPv6Address(address)) >> 80 << 80)
    return [(address, 1), (f"{wide}/48", WIDE)]


def _client(peer: str, forwarded: str) -> str:
    hops: int = settings.IEIM_TRUSTED_PROXIES
    clients = forwarded.split(",")
    # With fewer entries than proxies the request did not pass through all: trust only the peer.
    client = _counted(clients[-hops]) if 0 < hops <= len(clients) else ""
    return client or _counted(peer)


def _counted(text: str) -> str:
    """Return an address in its usual form, of IPv6 the /64: that is one customer's."""
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:  # with a port
        host = host.partition(":")[0]
    try:
        address: IPv4Address | IPv6Address = ip_address(host)
    except ValueError:
        return ""
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64)
    return str(address)
