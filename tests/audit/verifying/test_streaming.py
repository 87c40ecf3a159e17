from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ieim.audit.canonical import GENESIS
from ieim.audit.models import AuditEvent, AuditHead
from ieim.audit.services import record
from ieim.audit.verify import ChainReport, reading, verify_all
from tests.audit.owner import check_all, rehash

pytestmark = pytest.mark.both_databases


def store(chain: UUID, events: int) -> None:
    """Store a long chain at once."""
    previous, at = GENESIS, timezone.now()
    rows = []
    for seq in range(1, events + 1):
        row = AuditEvent(chain=chain, seq=seq, kind="a.b", actor="system", at=at)
        row.payload, row.prev_hash = '{"a":"%s"}' % ("x" * 2000), previous
        row.hash = previous = rehash(row)
        rows.append(row)
    AuditEvent.objects.bulk_create(rows, batch_size=500)
    AuditHead.objects.create(chain=chain, seq=events, hash=previous)


@pytest.mark.django_db
def test_it_needs_no_more_memory_for_a_longer_record() -> None:
    def peak() -> int:
        tracemalloc.start()
        with transaction.atomic(), reading():
            assert all(report.ok for report in verify_all())
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    store(uuid4(), 1000)
    short = peak()
    store(uuid4(), 4000)
    assert peak() < 1.5 * short


def test_it_asks_as_often_for_many_chains_as_for_one(chain: UUID) -> None:
    with CaptureQueriesContext(connection) as one:
        check_all()
    for _ in range(5):
        record(chain=uuid4(), kind="a.b", payload={}, actor="system")
    with CaptureQueriesContext(connection) as many:
        assert len(check_all()) == 6
    assert len(many) == len(one)


def test_it_verifies_while_others_write(
    in_threads: Callable[[list[Callable[[], Any]]], list[Any]],
) -> None:
    chains = [uuid4() for _ in range(3)]

    def write() -> list[ChainReport]:
        for number in range(60):
            with transaction.atomic():
                record(chain=chains[number % 3], kind="a.b", payload={}, actor="system")
        return []

    def read() -> list[ChainReport]:
        return [report for _ in range(12) for report in check_all() if not report.ok]

    assert in_threads([write, write, read, read]) == [[], [], [], []]
