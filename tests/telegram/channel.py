"""The channel between the stand-in and the real site, whose model says what a test wants."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from ieim.telegram import bot as bots
from ieim.telegram.api import BotApi
from ieim.telegram.assistant import Assistant
from ieim.telegram.bot import Bot
from ieim.telegram.state import State
from tests import live
from tests.model_server import ScriptedServer, scripted_model
from tests.telegram.standin import TOKEN, Telegram, telegram

PATIENCE = 60.0


@dataclass
class Site:
    """The site and its model."""

    base_url: str
    model: ScriptedServer


@contextmanager
def site(folder: Path) -> Iterator[Site]:
    """Run the site with a scripted model until the block ends."""
    with scripted_model({}) as (_, server):
        model = {"IEIM_MODEL_BASE_URL": server.base_url, "IEIM_MODEL_NAME": "scripted"}
        with live.site(folder, **model) as running:
            yield Site(running.base_url, server)


def expect(true: Callable[[], Any], what: str, meanwhile: Callable[[], Any] = dict) -> None:
    """Wait until something is true, and do something meanwhile."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"waited for {what}"
        meanwhile()


class Channel:
    """A channel that a test drives: :meth:`until` takes its steps."""

    def __init__(self, site: Site, telegram: Telegram, path: Path) -> None:
        self.site, self.telegram, self.path = site, telegram, path
        self.start()

    def start(self) -> None:
        """Start it, or start it again after :meth:`crash`."""
        self.state = State(self.path)
        api = BotApi(self.telegram.origin, TOKEN)
        self.bot = Bot(api, Assistant(self.site.base_url), self.state)

    def crash(self) -> None:
        """End it, with whatever it has not stored."""
        self.state.close()

    def step(self) -> None:
        """Do what there is to do, and wait for nothing."""
        self.bot.step(wait=0)

    def until(self, true: Callable[[], Any], what: str) -> None:
        """Take steps until something is true."""
        expect(true, what, self.step)

    def until_said(self, words: str) -> str:
        """Take steps until a message has these words; returns the last one that has."""
        self.until(lambda: self.said(words), words)
        return self.said(words)[-1]

    def said(self, words: str) -> list[str]:
        """The messages that have these words."""
        return [text for text in self.telegram.texts if words in text]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site, once for all tests of a file."""
    with site(tmp_path_factory.mktemp("telegram")) as running:
        yield running


@pytest.fixture
def channel(house: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Channel]:
    """A channel of its own for each test, that looks at conversations without pauses."""
    for name in ("SOON", "LATER", "RARELY"):
        monkeypatch.setattr(bots, name, 0.0)
    house.model.script = {}
    with telegram() as stand_in:
        running = Channel(house, stand_in, tmp_path / "channel.sqlite3")
        yield running
        running.state.close()


class Caseworker:
    """A caseworker's program, by the REST API for reviewers."""

    def __init__(self, base_url: str) -> None:
        self.http = httpx.Client(base_url=base_url, timeout=30)
        self.http.get("/staff/login/")
        form = {"username": "caseworker", "password": "demo-caseworker"}
        done = self.http.post(
            "/staff/login/", data={**form, "csrfmiddlewaretoken": self.http.cookies["csrftoken"]}
        )
        assert done.status_code == 302, done.status_code

    def write(self, reference: str, text: str) -> None:
        """Answer the question of a conversation in one's own words."""
        items = self.http.get("/api/v1/review/items/", params={"q": reference}).json()["items"]
        path = f"/api/v1/review/items/{items[0]['id']}/"
        claimed = self._post(f"{path}claim/")
        body = {"action": "write", "reason": "Known.", "payload": {"text": text}}
        decided = self._post(f"{path}decide/", body, **{"If-Match": claimed.headers["ETag"]})
        assert decided.status_code in (200, 201), decided.text

    def _post(self, path: str, body: Any = None, **headers: str) -> httpx.Response:
        given = {"X-CSRFToken": self.http.cookies["csrftoken"], **headers}
        return self.http.post(path, json=body, headers=given)


def reference_in(text: str) -> str:
    """The reference that a message names."""
    found = re.search(r"\b[0-9A-Z]{3}-[0-9A-Z]{4}\b", text)
    assert found, text
    return found.group()
