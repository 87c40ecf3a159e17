"""What the audit tests share: chains, an owner's powers, threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TypeVar
from uuid import UUID, uuid4

import pytest
from django.db import connections, transaction

from ieim.audit.services import record
from tests.audit.owner import triggers_lifted

T = TypeVar("T")


@pytest.fixture
def lifted() -> Callable[[], AbstractContextManager[None]]:
    """A context manager within which nothing is append-only."""
    return triggers_lifted


@pytest.fixture
def chain(db: None) -> UUID:
    """A chain of five events."""
    return _five_events()


@pytest.fixture
def other_chain(db: None) -> UUID:
    """Another one."""
    return _five_events()


def _five_events() -> UUID:
    chain = uuid4()
    with transaction.atomic():
        for number in range(1, 6):
            record(
                chain=chain,
                kind="stage.passed",
                payload={"stage": "judgement_v1", "number": number, "codes": ["schema", "é"]},
                actor="system",
            )
    return chain


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
