"""IEIM's REST API, as far as the channel uses it (docs/integrating.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from ieim.telegram import calls

PATIENCE = 30.0
"""Seconds for a call."""


@dataclass
class Problem(Exception):
    """What was refused: ``name`` for programs, ``detail`` for people, and what comes with it."""

    status: int
    name: str
    detail: str
    contacts: tuple[str, ...] = ()
    found: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation, and the token that opens it."""

    id: str
    reference: str
    token: str


class Assistant:
    """The calls. Each raises :class:`Problem`, or :class:`calls.Unreachable`: to be tried again."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self._client = httpx.Client(base_url=f"{origin}/api/v1/", timeout=PATIENCE)

    def administration(self, *, language: str) -> dict[str, Any]:
        """Return whose assistant this is."""
        return self._call("GET", "administration/", language)

    def open(self, *, language: str) -> Session:
        made = self._call("POST", "sessions/", language)
        return Session(str(made["id"]), str(made["reference"]), str(made["token"]))

    def ask(
        self,
        session: Session,
        text: str,
        *,
        client_id: str,
        language: str,
        personal_data: str | None = None,
    ) -> None:
        """Send a message; the same ``client_id`` is the same message."""
        body = {"text": text, "client_id": client_id}
        if personal_data is not None:
            body["personal_data"] = personal_data
        self._call("POST", f"sessions/{session.id}/turns/", language, session, body)

    def choose(self, session: Session, turn: str, number: int | None, *, language: str) -> None:
        """Choose one of the services of a turn, None for none of these."""
        self._call("PUT", f"turns/{turn}/choice/", language, session, {"choice": number})

    def something_else(self, session: Session, turn: str, *, language: str) -> None:
        """Ask a turn's words again, as something else than the talk was about."""
        self._call("POST", f"turns/{turn}/something-else/", language, session)

    def read(self, session: Session, *, language: str) -> dict[str, Any]:
        """Return the conversation with its turns."""
        return self._call("GET", f"sessions/{session.id}/", language, session)

    def erase(self, session: Session, *, language: str) -> None:
        self._call("DELETE", f"sessions/{session.id}/", language, session)

    def _call(
        self,
        method: str,
        path: str,
        language: str,
        session: Session | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        headers = {"Accept-Language": language}
        if session is not None:
            headers["Authorization"] = f"Bearer {session.token}"
        options: dict[str, Any] = {"headers": headers}
        if body is not None:
            options["json"] = body
        status, payload = calls.answer(self._client, method, path, **options)
        payload = payload if isinstance(payload, dict) else {}
        if 200 <= status <= 299:
            return payload
        # Of a fault of theirs nobody can be told more than that: the next try may do.
        if not 400 <= status <= 499 and payload.get("type") != "urn:ieim:problem:not-ready":
            raise calls.Broken(f"status {status}")
        raise Problem(
            status=status,
            name=str(payload.get("type", "")).removeprefix("urn:ieim:problem:"),
            detail=str(payload.get("detail", "")),
            contacts=tuple(map(str, payload.get("contacts", []))),
            found=tuple((each["start"], each["end"]) for each in payload.get("found", [])),
        )
