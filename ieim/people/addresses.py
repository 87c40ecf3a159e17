"""Whose address a request or a socket comes from, as it is counted.

``IEIM_TRUSTED_PROXIES`` says how many proxies in a row stand in front. Each adds whom it has heard
from to the right of ``X-Forwarded-For``; what stands further left, anybody can have written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest

WIDE: Final = 4
"""How many times what one /64 may do all of its /48 may: one customer can have all of that, and a
company's or a carrier's many people too."""


def of_request(request: HttpRequest) -> str:
    """Return the address of a request; empty where it has none (a Unix socket)."""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return _client(request.META.get("REMOTE_ADDR", ""), forwarded)


def of_scope(scope: Mapping[str, Any]) -> str:
    """Return the address of a websocket, as :func:`of_request` does."""
    named = (value for name, value in scope["headers"] if name == b"x-forwarded-for")
    peer = scope.get("client")
    return _client(peer[0] if peer else "", ",".join(value.decode("latin-1") for value in named))


def counted_as(address: str) -> Sequence[tuple[str, int]]:
    """Return what is counted for an address from here, each with how many times a limit it may
    have: itself once, and for one of IPv6 its /48 too."""
    if ":" not in address:
        return [(address, 1)]
    wide = IPv6Address(int(IPv6Address(address)) >> 80 << 80)
    return [(address, 1), (f"{wide}/48", WIDE)]


def _client(peer: str, forwarded: str) -> str:
    hops: int = settings.IEIM_TRUSTED_PROXIES
    named = forwarded.split(",")
    # With fewer names than proxies it did not come through all of them: only the peer is known.
    found = _counted(named[-hops]) if 0 < hops <= len(named) else ""
    return found or _counted(peer)


def _counted(text: str) -> str:
    """Return an address in its usual form, one of IPv6 as its /64: that is one customer's."""
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
