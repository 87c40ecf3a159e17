"""The Bot API of Telegram, as far as the channel uses it (https://core.telegram.org/bots/api)."""

from __future__ import annotations

from typing import Any

import httpx

from ieim.telegram import calls

PATIENCE = 10.0
"""Seconds for a call, beside what Telegram is asked to wait."""


class Refused(Exception):
    """Telegram does not do it, and would not the next time: ``code`` is its error code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"error {code}")
        self.code = code


class TooMany(Exception):
    """Telegram wants to be asked again after ``seconds``."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"again after {seconds} s")
        self.seconds = seconds


class BotApi:
    """Calls of one bot. Each raises :class:`calls.Unreachable` where nobody answers."""

    def __init__(self, origin: str, token: str) -> None:
        self._client = httpx.Client(base_url=f"{origin}/bot{token}/", timeout=PATIENCE)

    def updates(self, *, after: int, wait: int) -> list[dict[str, Any]]:
        """Return what happened after update ``after``, waiting up to ``wait`` seconds for it.

        Telegram forgets what is not after it.
        """
        parameters = {
            "offset": after + 1,
            "timeout": wait,
            "allowed_updates": ["message", "callback_query"],
        }
        found = self.call("getUpdates", parameters, timeout=PATIENCE + wait)
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []

    def call(self, method: str, given: dict[str, Any], *, timeout: float = PATIENCE) -> Any:
        """Call a method; returns its result. Raises :class:`Refused` and :class:`TooMany`."""
        status, body = calls.answer(self._client, "POST", method, json=given, timeout=timeout)
        payload = body if isinstance(body, dict) else {}
        if payload.get("ok") is True:
            return payload.get("result")
        code = payload.get("error_code", status)
        if code == 429:
            more = payload.get("parameters")
            seconds = more.get("retry_after") if isinstance(more, dict) else None
            raise TooMany(seconds if isinstance(seconds, int | float) else 5)
        if not isinstance(code, int) or code >= 500 or code < 400:
            raise calls.Unreachable(f"status {status}")
        raise Refused(code)
