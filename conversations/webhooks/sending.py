"""Where may be sent to: said when an address is taken, and again at every try."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Mapping
from functools import cache
from ipaddress import IPv4Address, IPv6Address

import httpx2
from django.conf import settings

MOST = 500
_REFUSED = [
    ipaddress.ip_network(network)
    for network in (
        # IPv6 addresses that lead to an IPv4 one, which may be anything.
        *("::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16"),
        # Metadata and other services of a cloud's host that are not link-local.
        *("fd00:ec2::/32", "fd20:ce::/32", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
    )
]
_SITE_LOCAL = ipaddress.ip_network("fec0::/10")
"""A network of an operator's; ``is_global`` takes it for the internet."""


class Unusable(Exception):
    """An address that nothing is sent to; the message says why."""


def read(url: str) -> httpx2.URL:
    """Return an address in its parts. Raises :class:`Unusable`."""
    if len(url) > MOST or not url.isprintable() or not url.isascii():
        raise Unusable(f"Give an address of up to {MOST} letters, digits and signs, in ASCII.")
    try:
        parts = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise Unusable(f"This is no address: {error}.") from error
    here = not settings.PRODUCTION and parts.scheme == "http" and _is_loopback(parts.host)
    if parts.scheme != "https" and not here:
        raise Unusable(
            "The address has to begin with https://. In development http:// may lead to this "
            "machine: http://127.0.0.1:9000/."
        )
    if not parts.host or parts.userinfo or parts.fragment or not 0 < _port(parts) < 2**16:
        raise Unusable(
            "Give a host, if need be a port below 65536, and neither a user, a password nor a # "
            "in the address."
        )
    return parts


async def resolve(parts: httpx2.URL, *, private: bool) -> list[str]:
    """Return the IP addresses of a host that may be sent to, the preferred one first.

    Raises :class:`Unusable` where there are none, OSError where nobody knows the host.
    """
    loop = asyncio.get_running_loop()
    host = parts.raw_host.decode()
    found = await loop.getaddrinfo(host, _port(parts), type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    allowed = [each for each in addresses if _allowed(each, parts.scheme, private=private)]
    if not allowed:
        raise Unusable(f"{parts.host} is none of the addresses that may be sent to.")
    return allowed


def _allowed(text: str, scheme: str, *, private: bool) -> bool:
    """Whether an IP address may be sent to: of the internet, or of the operator's own network."""
    address: IPv4Address | IPv6Address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    if scheme != "https":
        return address.is_loopback and not settings.PRODUCTION
    # What a cloud tells its machines, secrets among it, is link-local.
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return False
    if any(address in net for net in _REFUSED):
        return False
    return private or (address.is_global and address not in _SITE_LOCAL)


def _port(parts: httpx2.URL) -> int:
    return (443 if parts.scheme == "https" else 80) if parts.port is None else parts.port


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


DEADLINE = 10.0
"""Seconds for a try in all, from the name of the host to the status."""


class Failed(Exception):
    """It has not arrived; ``trouble`` is a short word for why. ``gone``: it is not wanted there."""

    def __init__(self, trouble: str, *, gone: bool = False) -> None:
        super().__init__(trouble)
        self.trouble = trouble
        self.gone = gone


@cache
def _trusted() -> ssl.SSLContext:
    # Made once: reading all certificates takes a while.
    return httpx2.create_ssl_context()


def send(url: str, *, private: bool, headers: Mapping[str, str], body: bytes) -> None:
    """Send ``body``; raises :class:`Failed` for everything but a status of 200 to 299."""
    try:
        status = asyncio.run(_send(url, private=private, headers=headers, body=body))
    except Unusable as error:
        raise Failed("address") from error
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise Failed("timeout") from error
    except (OSError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise Failed("connection") from error
    if not 200 <= status <= 299:
        raise Failed(f"status-{status}", gone=status == 410)


async def _send(url: str, *, private: bool, headers: Mapping[str, str], body: bytes) -> int:
    # The deadline is for all of it: a receiver that sends a byte now and then is slow, not alive.
    async with asyncio.timeout(DEADLINE):
        parts = read(url)
        found = await resolve(parts, private=private)
        # No proxy of the environment: it would look the host up again, and may find another one.
        async with httpx2.AsyncClient(
            verify=_trusted(), trust_env=False, follow_redirects=False, timeout=DEADLINE
        ) as client:
            for number, address in enumerate(found, start=1):
                # The address that was looked at is the one that is called; the host's name is for
                # its certificate and its virtual host.
                request = client.build_request(
                    "POST",
                    parts.copy_with(host=address),
                    headers={**headers, "Host": parts.netloc.decode()},
                    content=body,
                    extensions={"sni_hostname": parts.raw_host.decode()},
                )
                try:
                    response = await client.send(request, stream=True)
                except httpx2.ConnectError:
                    if number == len(found):
                        raise
                    continue
                await response.aclose()  # unread, whatever it says
                return response.status_code
    raise AssertionError("resolve gives at least one")
