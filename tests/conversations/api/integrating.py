"""An integrator's program: a session's token and plain HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client

from ieim.config.variables import parse_rate

SESSIONS = "/api/v1/sessions/"
JSON = "application/json"


def set_rates(monkeypatch: pytest.MonkeyPatch, **rates: str) -> None:
    """Set rates by their scope; those that are not named are no limit."""
    cache.clear()
    parsed = {scope: parse_rate(rates.get(scope, "none")) for scope in settings.IEIM_RATES}
    monkeypatch.setattr(settings, "IEIM_RATES", parsed)


@pytest.fixture
def no_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test ask as often as it likes."""
    set_rates(monkeypatch)


class Integrator:
    """A program with a session of its own; ``opened`` is the body that it is opened with."""

    opened = b""

    def __init__(self, *, raises: bool = True) -> None:
        self.http = Client(enforce_csrf_checks=True, raise_request_exception=raises)
        response = self.http.post(SESSIONS, self.opened, content_type=JSON)
        assert response.status_code == 201
        self.id, self.token = response.json()["id"], response.json()["token"]
        self.link = response.json()["link"].removeprefix("http://testserver")
        self.bearer = f"Bearer {self.token}"
        self.path = f"{SESSIONS}{self.id}/"

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send a request with the token; returns the test client's response.

        A body that is not bytes is sent as JSON.
        """
        all_headers = {"Authorization": self.bearer, **headers}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.http.generic(
            method,
            path,
            b"" if body is None else data,
            content_type=all_headers.pop("Content-Type", JSON),
            headers={name: value for name, value in all_headers.items() if value},
        )

    def get(self, path: str = "") -> Any:
        """Read the session, or another address."""
        return self.call("GET", path or self.path)

    def ask(self, text: Any, **fields: Any) -> Any:
        """Send a message."""
        return self.call("POST", f"{self.path}turns/", {"text": text, **fields})
