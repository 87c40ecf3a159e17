"""The lifespan: what the server starts and stops beside itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from pytest_django import Settings

from ieim.config import embedded

# Before the first turn the current release is read.
pytestmark = pytest.mark.django_db(transaction=True)


class Recorder:
    """Stands in for the threads."""

    def __init__(self, fails: bool = False) -> None:
        self.calls: list[str] = []
        self.fails = fails

    def start(self) -> None:
        """Note the start."""
        self.calls.append("start")
        if self.fails:
            raise RuntimeError("no worker today")

    def stop(self) -> None:
        """Note the stop."""
        self.calls.append("stop")


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], Recorder]:
    """Put a recorder in place of the threads."""

    def put(fails: bool = False) -> Recorder:
        recorder = Recorder(fails)
        monkeypatch.setattr(embedded, "Embedded", lambda: recorder)
        return recorder

    return put


async def answers(*messages: str) -> list[str]:
    """What the lifespan answers to ``messages``."""
    make: Any = ApplicationCommunicator  # asgiref's testing has no types
    communicator = make(embedded.lifespan, {"type": "lifespan"})
    said = []
    for message in messages:
        await communicator.send_input({"type": f"lifespan.{message}"})
        # The first startup of a process reads the language model: the usual second is too short.
        said.append((await communicator.receive_output(timeout=60))["type"])
    await communicator.wait()
    return said


async def test_it_starts_and_stops_the_worker_without_redis(
    settings: Settings, recorder: Callable[..., Recorder]
) -> None:
    settings.IEIM_EMBEDDED = True
    threads = recorder()
    assert await answers("startup", "shutdown") == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]
    assert threads.calls == ["start", "stop"]


@pytest.mark.parametrize("embedded_worker", [True, False])
async def test_it_follows_what_is_published_while_it_serves(
    settings: Settings,
    recorder: Callable[..., Recorder],
    monkeypatch: pytest.MonkeyPatch,
    embedded_worker: bool,
) -> None:
    settings.IEIM_EMBEDDED = embedded_worker
    recorder()
    calls: list[object] = []

    class Following:
        def start(self, *, trains: bool) -> None:
            calls.append(trains)

        def stop(self) -> None:
            calls.append("stop")

    monkeypatch.setattr(embedded, "follower", Following())
    await answers("startup", "shutdown")
    # Only a process that is the worker too trains.
    assert calls == [embedded_worker, "stop"]


async def test_it_starts_nothing_with_redis(
    settings: Settings, recorder: Callable[..., Recorder]
) -> None:
    settings.IEIM_EMBEDDED = False
    threads = recorder()
    assert await answers("startup", "shutdown") == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]
    assert threads.calls == []


async def test_it_does_not_serve_without_its_worker(
    settings: Settings, recorder: Callable[..., Recorder]
) -> None:
    settings.IEIM_EMBEDDED = True
    recorder(fails=True)
    assert await answers("startup") == ["lifespan.startup.failed"]
