from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from contextlib import AbstractContextManager
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.utils import timezone

from ieim.audit.canonical import canonical
from ieim.audit.checkpoints import KIND, faults, summary, take_checkpoint
from ieim.audit.models import (
    SYSTEM_CHAIN,
    AuditCheckpoint,
    AuditEvent,
    AuditHead,
    CheckpointHead,
)
from ieim.audit.services import record, record_system
from ieim.audit.verify import Break, ChainReport, verify
from tests.audit.owner import check_all, rewind

pytestmark = pytest.mark.both_databases

Lifted = Callable[[], AbstractContextManager[None]]


def test_a_checkpoint_finds_a_tail_removed_with_its_head(chain: UUID, lifted: Lifted) -> None:
    take_checkpoint()
    rewind(chain, to=3)

    problem = verify(chain).problem
    assert problem is not None
    assert problem.code is Break.CHECKPOINT
    assert problem.message == "event 5 is not there as checkpoint 1 saw it"


def test_a_checkpoint_finds_a_removed_chain(chain: UUID, other_chain: UUID, lifted: Lifted) -> None:
    take_checkpoint()
    rewind(chain, to=0)

    assert [(r.chain, r.events) for r in check_all() if not r.ok] == [(str(chain), 0)]
    assert not verify(chain).ok


def test_a_checkpoint_finds_a_tail_written_anew(chain: UUID, lifted: Lifted) -> None:
    take_checkpoint()
    rewind(chain, to=3)
    for _ in range(3):
        record(chain=chain, kind="a.b", payload={}, actor="system")

    problem = verify(chain).problem
    assert problem is not None
    assert problem.code is Break.CHECKPOINT


def test_it_needs_a_checkpoint_for_that(chain: UUID, lifted: Lifted) -> None:
    rewind(chain, to=3)
    assert verify(chain).ok


def test_a_checkpoint_stores_only_what_moved(chain: UUID, other_chain: UUID) -> None:
    first = take_checkpoint()
    record(chain=chain, kind="a.b", payload={}, actor="citizen")
    second = take_checkpoint()

    stored = CheckpointHead.objects.order_by("checkpoint_id", "chain")
    assert {(h.checkpoint_id, h.chain, h.seq) for h in stored} == {
        (1, chain, 5),
        (1, other_chain, 5),
        (2, chain, 6),
        (2, SYSTEM_CHAIN, 1),
    }
    assert (first.number, first.chains, second.number, second.chains) == (1, 2, 2, 3)
    assert faults() == []


def test_a_checkpoints_digest_is_what_its_docstring_says(chain: UUID, other_chain: UUID) -> None:
    heads = AuditHead.objects.order_by("chain").values_list("chain", "seq", "hash")
    lines = "".join(f'["{c}",{seq},"{digest}"]\n' for c, seq, digest in heads)

    assert take_checkpoint().digest == sha256(lines.encode()).hexdigest()


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (1, ["checkpoint 1 is not what was recorded"]),
        (
            2,
            [
                "checkpoint 2 is not what was recorded",
                "checkpoint 2 does not follow from the heads that are stored with it",
            ],
        ),
    ],
)
def test_it_finds_a_changed_checkpoint(
    chain: UUID, lifted: Lifted, number: int, message: list[str]
) -> None:
    take_checkpoint()
    take_checkpoint()
    with lifted():
        AuditCheckpoint.objects.filter(number=number).update(digest="0" * 64)

    assert faults() == message


def test_it_finds_changed_heads_of_a_checkpoint(
    chain: UUID, other_chain: UUID, lifted: Lifted
) -> None:
    take_checkpoint()
    rewind(chain, to=0)
    with lifted():
        CheckpointHead.objects.filter(chain=chain).delete()

    assert verify(chain).events == 0
    assert faults() == ["checkpoint 1 does not follow from the heads that are stored with it"]


def test_it_finds_a_removed_checkpoint(chain: UUID, lifted: Lifted) -> None:
    take_checkpoint()
    with lifted():
        CheckpointHead.objects.all().delete()
        AuditCheckpoint.objects.all().delete()

    assert faults() == ["checkpoint 1 is missing, though it was recorded"]


def test_it_finds_a_checkpoint_that_was_never_recorded(chain: UUID) -> None:
    taken = take_checkpoint()
    AuditCheckpoint(number=2, at=taken.at, chains=taken.chains, digest=taken.digest).save()

    assert faults() == ["checkpoint 2 was never recorded"]


@pytest.mark.django_db
def test_it_compares_any_number_in_the_same_memory() -> None:
    def store(first: int, last: int) -> None:
        numbers, at = range(first, last + 1), timezone.now()
        of_nothing = {"at": at, "chains": 0, "digest": sha256().hexdigest()}
        taken = [AuditCheckpoint(number=number, **of_nothing) for number in numbers]
        AuditCheckpoint.objects.bulk_create(taken, batch_size=500)
        fields = {"chain": SYSTEM_CHAIN, "kind": KIND, "actor": "system", "at": at}
        events = [
            AuditEvent(seq=entry.number, payload=canonical(summary(entry)).decode(), **fields)
            for entry in taken
        ]
        AuditEvent.objects.bulk_create(events, batch_size=500)

    def peak() -> int:
        tracemalloc.start()
        with transaction.atomic():  # as the command does: PostgreSQL streams in one alone
            assert faults() == []
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    store(1, 2000)
    few = peak()
    store(2001, 8000)
    assert peak() < 1.5 * few


@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="SQLite has one writer at a time")
def test_nobody_waits_while_it_reads_the_heads(
    in_threads: Callable[[list[Callable[[], Any]]], list[Any]],
) -> None:
    for chain in (SYSTEM_CHAIN, uuid4()):
        with transaction.atomic():
            record(chain=chain, kind="a.b", payload={}, actor="system")
    statements: list[str] = []

    def publish() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '2s'")
            record_system(kind="knowledge.published", payload={}, actor="system")

    def meanwhile(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith("INSERT") and CheckpointHead._meta.db_table in sql:
            in_threads([publish])
        statements.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(meanwhile):
        assert take_checkpoint().chains == 2
    (locked,) = [at for at, sql in enumerate(statements) if sql.endswith("FOR UPDATE")]
    # Their foreign keys are looked at before the chain is locked, and nothing walks after it.
    assert any(sql.startswith("SET CONSTRAINTS") for sql in statements[:locked])
    assert not any(CheckpointHead._meta.db_table in sql for sql in statements[locked:])
    # What came meanwhile is left to the next one.
    assert CheckpointHead.objects.get(chain=SYSTEM_CHAIN).seq == 1
    take_checkpoint()
    assert CheckpointHead.objects.filter(chain=SYSTEM_CHAIN, seq=3).exists()
    assert (faults(), [report for report in check_all() if not report.ok]) == ([], [])


def test_it_takes_checkpoints_while_others_write(
    in_threads: Callable[[list[Callable[[], Any]]], list[Any]],
) -> None:
    chains = [uuid4() for _ in range(3)]

    def write() -> list[str]:
        for number in range(60):
            with transaction.atomic():
                record(chain=chains[number % 3], kind="a.b", payload={}, actor="system")
        return []

    def checkpoint() -> list[str]:
        for _ in range(5):
            take_checkpoint()
        return []

    def look() -> list[str]:
        return [fault for _ in range(10) for fault in faults()]

    results = in_threads([write, write, checkpoint, checkpoint, look, look])
    assert results == [[]] * 6

    def problems() -> tuple[int, list[ChainReport], list[str]]:
        broken = [report for report in check_all() if not report.ok]
        return AuditCheckpoint.objects.count(), broken, faults()

    assert in_threads([problems]) == [(10, [], [])]
