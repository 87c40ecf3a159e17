"""What the audit tests share: chains, and an owner's powers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from uuid import UUID, uuid4

import pytest
from django.db import transaction

from ieim.audit.services import record
from tests.audit.owner import triggers_lifted


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
