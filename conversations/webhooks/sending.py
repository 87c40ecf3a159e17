"""One try to tell one address: a POST, of whose answer only the status counts."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from functools import cache

import httpx

from conversations.webhooks import addresses

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
    return httpx.create_ssl_context()


def send(url: str, *, private: bool, headers: Mapping[str, str], body: bytes) -> None:
    """Send ``body``; raises :class:`Failed` for everything but a status of 200 to 299."""
    try:
        status = asyncio.run(_send(url, private=private, headers=headers, body=body))
    except addresses.Unusable as error:
        raise Failed("address") from error
    except (TimeoutError, httpx.TimeoutException) as error:
        raise Failed("timeout") from error
    except (OSError, httpx.HTTPError, httpx.InvalidURL) as error:
        raise Failed("connection") from error
    if not 200 <= status <= 299:
        raise Failed(f"status-{status}", gone=status == 410)


async def _send(url: str, *, private: bool, headers: Mapping[str, str], body: bytes) -> int:
    # The deadline is for all of it: a receiver that sends a byte now and then is slow, not alive.
    async with asyncio.timeout(DEADLINE):
        parts = addresses.read(url)
        found = await addresses.resolve(parts, private=private)
        # No proxy of the environment: it would look the host up again, and may find another one.
        async with httpx.AsyncClient(
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
                except httpx.ConnectError:
                    if number == len(found):
                        raise
                    continue
                await response.aclose()  # unread, whatever it says
                return response.status_code
    raise AssertionError("resolve gives at least one")
