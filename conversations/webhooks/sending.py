"""HTTP client of webhooks, the link check and web pages: it sends to allowed addresses only."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Mapping
from functools import cache
from ipaddress import IPv6Address
from urllib.request import proxy_bypass

import httpx2
from django.conf import settings

MAX_LENGTH = 500
"""Characters of an address."""
DEADLINE = 10.0
"""Seconds for a request, from the lookup of the host to the status."""

_FORBIDDEN = [
    ipaddress.ip_network(network)
    for network in (
        # IPv6 addresses that lead to an IPv4 address, which may be any.
        *("::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16"),
        # Metadata and other services of a cloud's host that are not link-local.
        *("fd00:ec2::/32", "fd20:ce::/32", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
    )
]
_SITE_LOCAL = ipaddress.ip_network("fec0::/10")
"""A private network, which ``is_global`` takes for the internet."""


class ForbiddenAddress(Exception):
    """An address that nothing is sent to; the message says why."""


class DeliveryError(Exception):
    """A failed attempt: ``address``, ``timeout``, ``connection`` or ``status-NNN``."""


def parse(url: str) -> httpx2.URL:
    """Return the parts of an address. Raises: ForbiddenAddress."""
    if len(url) > MAX_LENGTH or not url.isprintable() or not url.isascii():
        raise ForbiddenAddress(
            f"Give an address of up to {MAX_LENGTH} letters, digits and signs, in ASCII."
        )
    try:
        parts = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise ForbiddenAddress(f"This is no address: {error}.") from error
    is_local = not settings.PRODUCTION and parts.scheme == "http" and _is_loopback(parts.host)
    if parts.scheme != "https" and not is_local:
        raise ForbiddenAddress(
            "The address has to begin with https://. In development http:// may lead to this "
            "machine: http://127.0.0.1:9000/."
        )
    if not parts.host or parts.userinfo or parts.fragment or not 0 < _port(parts) < 2**16:
        raise ForbiddenAddress(
            "Give a host, if need be a port below 65536, and neither a user, a password nor a # "
            "in the address."
        )
    return parts


def send(url: str, *, private: bool, headers: Mapping[str, str], body: bytes) -> None:
    """Post ``body``; ``private`` allows hosts in the operator's own network.

    Raises: DeliveryError for everything but a status of 200 to 299.
    """
    try:
        post = request("POST", parse(url), private=private, headers=headers, body=body)
        response, _ = asyncio.run(post)
    except ForbiddenAddress as error:
        raise DeliveryError("address") from error
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise DeliveryError("timeout") from error
    except (OSError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise DeliveryError("connection") from error
    if not response.is_success:
        raise DeliveryError(f"status-{response.status_code}")


async def request(
    method: str,
    parts: httpx2.URL,
    *,
    private: bool,
    plain: bool = False,
    headers: Mapping[str, str],
    body: bytes = b"",
    limit: int = 0,
    deadline: float = DEADLINE,
) -> tuple[httpx2.Response, bytes]:
    """Return the closed response and its body; no redirect is followed.

    ``private`` allows hosts in the operator's own network, ``plain`` also http:// to public ones.
    Of the body ``limit`` bytes are read, and one more where it is longer. ``deadline``: seconds.

    Raises:
        ForbiddenAddress: The host has no address that is allowed.
        OSError, httpx2.HTTPError, httpx2.InvalidURL: There is no response.
    """
    # The deadline also covers a receiver that sends a byte now and then.
    async with asyncio.timeout(deadline):
        proxy = _proxy(parts)
        try:
            addresses = await _resolve(parts, private=private, plain=plain)
        except OSError:
            if proxy is None:
                raise
        if proxy:
            # It looks the host up itself, which nobody here may be able to.
            addresses = [parts.raw_host.decode()]
        async with httpx2.AsyncClient(
            verify=_ssl_context(),
            proxy=proxy,
            trust_env=False,
            follow_redirects=False,
            timeout=DEADLINE,
        ) as client:
            for number, address in enumerate(addresses, start=1):
                # The checked address is called; the name is for certificate and virtual host.
                request = client.build_request(
                    method,
                    parts.copy_with(host=address),
                    headers={**headers, "Host": parts.netloc.decode()},
                    content=body,
                    extensions={"sni_hostname": parts.raw_host.decode()},
                )
                try:
                    response = await client.send(request, stream=True)
                except httpx2.ConnectError:
                    if number == len(addresses):
                        raise
                    continue
                try:
                    return response, await _start(response, limit)
                finally:
                    await response.aclose()
    raise AssertionError("_resolve returns at least one address")


async def _start(response: httpx2.Response, limit: int) -> bytes:
    result = bytearray()
    if limit:
        async for chunk in response.aiter_bytes():
            result += chunk
            if len(result) > limit:
                break
    return bytes(result[: limit + 1])


def _proxy(parts: httpx2.URL) -> str | None:
    excepted = {"no": ",".join(settings.IEIM_PROXY_EXCEPT)}
    is_direct = not settings.IEIM_PROXY_URL or proxy_bypass(parts.host, excepted)
    return None if is_direct else settings.IEIM_PROXY_URL


async def _resolve(parts: httpx2.URL, *, private: bool, plain: bool) -> list[str]:
    """Return the allowed IP addresses of a host, the preferred one first.

    Raises: ForbiddenAddress without any, OSError for an unknown host.
    """
    host, loop = parts.raw_host.decode(), asyncio.get_running_loop()
    infos = await loop.getaddrinfo(host, _port(parts), type=socket.SOCK_STREAM)
    addresses = dict.fromkeys(str(info[4][0]) for info in infos)
    allowed = [t for t in addresses if _is_allowed(t, parts.scheme, private=private, plain=plain)]
    if not allowed:
        raise ForbiddenAddress(f"{parts.host} has no address that may be sent to.")
    return allowed


def _is_allowed(text: str, scheme: str, *, private: bool, plain: bool) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    is_local = address.is_loopback and not settings.PRODUCTION
    if scheme != "https" and (is_local or not plain):
        return is_local
    # Link-local addresses tell a cloud's machines secrets.
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return False
    if any(address in network for network in _FORBIDDEN):
        return False
    return private or (address.is_global and address not in _SITE_LOCAL)


def _port(parts: httpx2.URL) -> int:
    return (443 if parts.scheme == "https" else 80) if parts.port is None else parts.port


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@cache
def _ssl_context() -> ssl.SSLContext:
    # Reading all certificates takes a while.
    return httpx2.create_ssl_context()
