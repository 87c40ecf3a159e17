"""Fixtures that many tests need: a published release, and messages through the real services."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest
from django.conf import settings
from django.db import connections

from conversations import running, services
from conversations.models import Turn
from ieim.knowledge import services as knowledge
from ieim.knowledge.bundle import Bundle, read_bundle
from ieim.pipeline.ports import Model
from ieim.pipeline.runner import afterwards

DEMO = Path(settings.BASE_DIR) / "ieim" / "knowledge" / "demo"
VISA = "I want to extend my tourist visa"

Ask = Callable[..., Turn]
T = TypeVar("T")


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a call be tried again at once."""
    monkeypatch.setattr(running, "BACKOFF", (0.0, 0.0))


@pytest.fixture(autouse=True)
def _triage_where_it_can_see(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run triage after the flow where a test's rows are never committed.

    Another thread has a connection of its own, and would not see them.
    """
    marker = request.node.get_closest_marker("django_db")
    committed = "transactional_db" in request.fixturenames or (
        marker is not None and marker.kwargs.get("transaction")
    )
    if not committed:
        monkeypatch.setattr(running, "beside", afterwards)


@cache
def demo_bundle() -> Bundle:
    """The demo knowledge, read once: hundreds of tests publish it."""
    return read_bundle(DEMO)


@pytest.fixture
def published(db: None) -> None:
    """The demo knowledge as release 1."""
    knowledge.import_bundle(bundle=demo_bundle(), by=None)
    knowledge.publish(note="demo", by=None)


@pytest.fixture
def ask(published: None) -> Ask:
    """Send a message and run its turn to the end, as a worker would."""

    def send(text: str = VISA, *, secret: str | None = None, model: Model | None = None) -> Turn:
        secret = secret or services.new_secret()
        turn = services.receive_turn(secret=secret, text=text, enqueue=False)
        running.run_turn(turn_id=turn.pk, model=model)
        return Turn.objects.select_related("session").get(pk=turn.pk)

    return send


@pytest.fixture
def in_threads(transactional_db: None) -> Callable[[list[Callable[[], T]]], list[T]]:
    """Run functions at once, each on a connection of its own; returns what they return."""

    def closing(function: Callable[[], T]) -> T:
        try:
            return function()
        finally:
            connections.close_all()

    def run(functions: list[Callable[[], T]]) -> list[T]:
        with ThreadPoolExecutor(len(functions)) as pool:
            return list(pool.map(closing, functions))

    return run
