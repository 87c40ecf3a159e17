"""The lifespan: what the server starts and stops beside itself."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from pytest_django import Settings

from ieim.config import embedded

# Before the first turn the current release is read.
pytestmark = pytest.mark.django_db(transaction=True)


async def answers(*messages: str) -> list[str]:
    """Return the answers of the lifespan to ``messages``."""
    make: Any = ApplicationCommunicator  # asgiref's testing has no types
    communicator = make(embedded.lifespan, {"type": "lifespan"})
    types = []
    for message in messages:
        await communicator.send_input({"type": f"lifespan.{message}"})
        # The first startup of a process reads the language model: the usual second is too short.
        types.append((await communicator.receive_output(timeout=60))["type"])
    await communicator.wait()
    return types


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Put recorders in place of the worker's threads and of the follower; return what they note."""
    calls: list[str] = []

    class Threads:
        def start(self) -> None:
            calls.append("worker starts")

        def stop(self) -> None:
            calls.append("worker stops")

    class Following:
        def start(self, *, trains: bool) -> None:
            calls.append("follower trains" if trains else "follower starts")

        def stop(self) -> None:
            calls.append("follower stops")

    monkeypatch.setattr(embedded, "Embedded", Threads)
    monkeypatch.setattr(embedded, "follower", Following())
    return calls


@pytest.mark.parametrize(
    ("without_redis", "expected"),
    [
        # Only a process that is the worker too trains.
        (True, ["follower trains", "worker starts", "worker stops", "follower stops"]),
        (False, ["follower starts", "follower stops"]),
    ],
)
async def test_it_starts_and_stops_what_the_process_needs(
    settings: Settings, calls: list[str], without_redis: bool, expected: list[str]
) -> None:
    settings.IEIM_EMBEDDED = without_redis
    complete = ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert await answers("startup", "shutdown") == complete
    assert calls == expected


async def test_it_does_not_serve_without_its_worker(
    settings: Settings, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_threads: object) -> None:
        raise RuntimeError("no worker today")

    settings.IEIM_EMBEDDED = True
    monkeypatch.setattr(embedded.Embedded, "start", fail)
    assert await answers("startup") == ["lifespan.startup.failed"]
    assert calls == ["follower trains", "follower stops"]
