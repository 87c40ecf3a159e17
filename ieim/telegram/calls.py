"""One request with a JSON answer, for both sides of the channel; nothing of it is logged."""

from __future__ import annotations

import logging
from typing import Any

import httpx

# They write down each address, and the bot's token is in Telegram's.
for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class Unreachable(Exception):
    """Nobody answered, or not in JSON: to be tried again. It never holds an address or a text."""


class Broken(Unreachable):
    """Somebody answered that it went wrong there."""


def answer(client: httpx.Client, method: str, path: str, **options: Any) -> tuple[int, Any]:
    """Return status and JSON of an answer (None where it is empty). Raises :class:`Unreachable`."""
    try:
        response = client.request(method, path, **options)
        return response.status_code, response.json() if response.content else None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        # Without the cause: its text and its request have the bot's token in their address.
        raise Unreachable(type(error).__name__) from None
