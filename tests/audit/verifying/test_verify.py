from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.utils import timezone

from ieim.audit.canonical import GENESIS
from ieim.audit.checkpoints import faults, take_checkpoint
from ieim.audit.models import SYSTEM_CHAIN, AuditEvent, AuditHead
from ieim.audit.services import record
from ieim.audit.verify import Break, ChainReport, verify
from tests.audit.owner import check_all, rehash

pytestmark = pytest.mark.both_databases

Lifted = Callable[[], AbstractContextManager[None]]


def broken(chain: UUID) -> tuple[Break, int, str]:
    """Return the break of a chain."""
    problem = verify(chain).problem
    assert problem is not None
    return problem.code, problem.seq, problem.message


def event(chain: UUID, seq: int) -> AuditEvent:
    return AuditEvent.objects.get(chain=chain, seq=seq)


def test_it_passes_what_was_recorded(chain: UUID, other_chain: UUID) -> None:
    take_checkpoint()

    assert verify(chain) == ChainReport(str(chain), 5, None)
    expected = [(str(c), True) for c in sorted([chain, other_chain, SYSTEM_CHAIN])]
    assert [(report.chain, report.ok) for report in check_all()] == expected
    assert faults() == []


@pytest.mark.django_db
def test_it_passes_an_empty_record() -> None:
    assert check_all() == []


@pytest.mark.django_db
def test_it_knows_nothing_of_an_unknown_chain() -> None:
    assert broken(uuid4())[0] is Break.EMPTY


@pytest.mark.parametrize(
    ("seq", "change", "code", "message"),
    [
        (3, {"payload": '{"a": 1}'}, Break.CONTENT, "event 3 was changed"),
        (1, {"actor": "staff:eve"}, Break.CONTENT, "event 1 was changed"),
        (5, {"kind": "stage.failed"}, Break.CONTENT, "event 5 was changed"),
        (2, {"at": timezone.now()}, Break.CONTENT, "event 2 was changed"),
        (2, {"hash": "0" * 64}, Break.CONTENT, "event 2 was changed"),
        (1, {"prev_hash": "1" * 64}, Break.LINK, "event 1 does not follow"),
        (4, {"prev_hash": GENESIS}, Break.LINK, "event 4 does not follow event 3"),
        (4, {"seq": 9}, Break.GAP, "event 4 is missing; the next one there is 5"),
        (5, {"seq": 6}, Break.GAP, "event 5 is missing; the next one there is 6"),
        (1, {"seq": 0}, Break.GAP, "event 1 is missing; the next one there is 0"),
    ],
)
def test_it_finds_a_changed_event(
    chain: UUID, lifted: Lifted, seq: int, change: dict[str, Any], code: Break, message: str
) -> None:
    with lifted():
        assert AuditEvent.objects.filter(chain=chain, seq=seq).update(**change) == 1
    result = broken(chain)
    assert result[0] is code
    assert message in result[2]


@pytest.mark.parametrize(("seq", "expected"), [(3, (Break.LINK, 4)), (5, (Break.HEAD, 5))])
def test_it_finds_a_change_with_its_hash_made_anew(
    chain: UUID, lifted: Lifted, seq: int, expected: tuple[Break, int]
) -> None:
    changed = event(chain, seq)
    changed.payload = '{"codes":[]}'
    forged = {"payload": changed.payload, "hash": rehash(changed), "digest": changed.digest}
    with lifted():
        AuditEvent.objects.filter(pk=changed.pk).update(**forged)
    assert broken(chain)[:2] == expected


def test_it_reports_the_first_break_only(chain: UUID, lifted: Lifted) -> None:
    with lifted():
        AuditEvent.objects.filter(chain=chain, seq__in=[2, 4]).update(actor="staff:eve")
        AuditHead.objects.filter(chain=chain).delete()
    assert [report.events for report in check_all()] == [5]
    assert broken(chain)[:2] == (Break.CONTENT, 2)


def test_it_finds_an_event_from_the_future_and_a_change_after_it(
    chain: UUID, lifted: Lifted, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = timezone.now()
    for minutes in (9, 20, 0):
        monkeypatch.setattr(timezone, "now", lambda m=minutes: at + timedelta(minutes=m))
        with transaction.atomic():
            record(chain=chain, kind="a.b", payload={}, actor="system")
    assert broken(chain)[:2] == (Break.AHEAD, 7)
    with lifted():
        AuditEvent.objects.filter(chain=chain, seq=8).update(actor="staff:eve")
    assert broken(chain)[:2] == (Break.CONTENT, 8)


@pytest.mark.parametrize(
    ("removed", "message"),
    [
        ({"seq": 2}, "event 2 is missing; the next one there is 3"),
        ({"seq__gt": 3}, "the head names event 5, and the last one is 3"),
        ({}, "the head names event 5, and the last one is 0"),
    ],
)
def test_it_finds_removed_events(
    chain: UUID, lifted: Lifted, removed: dict[str, int], message: str
) -> None:
    with lifted():
        AuditEvent.objects.filter(chain=chain, **removed).delete()
    assert broken(chain)[2] == message
    assert [report.chain for report in check_all()] == [str(chain)]


def test_it_finds_an_event_added_behind_the_head(chain: UUID) -> None:
    last = event(chain, 5)
    fields = {"kind": "a.b", "actor": "system", "at": last.at, "payload": "{}"}
    added = AuditEvent(chain=chain, seq=6, prev_hash=last.hash, **fields)
    added.hash = rehash(added)
    added.save()
    assert broken(chain)[2] == "the head names event 5, and the last one is 6"


def test_it_finds_a_removed_head(chain: UUID, lifted: Lifted) -> None:
    with lifted():
        AuditHead.objects.filter(chain=chain).delete()
    assert broken(chain)[0] is Break.NO_HEAD


def test_it_finds_events_moved_to_another_chain(
    chain: UUID, other_chain: UUID, lifted: Lifted
) -> None:
    with lifted():
        AuditEvent.objects.filter(chain=other_chain).delete()
        AuditHead.objects.filter(chain=other_chain).delete()
        AuditEvent.objects.filter(chain=chain).update(chain=other_chain)
        AuditHead.objects.filter(chain=chain).update(chain=other_chain)
    assert broken(other_chain)[:2] == (Break.CONTENT, 1)


@pytest.mark.sqlite  # any value in any column
@pytest.mark.parametrize("column", ["kind", "actor", "at", "payload", "prev_hash", "hash", "seq"])
@pytest.mark.parametrize("value", ["x", b"\xff\xfe", 3.5])
def test_it_reports_what_cannot_be_read(
    chain: UUID, lifted: Lifted, column: str, value: str | bytes | float
) -> None:
    with lifted(), connection.cursor() as cursor:
        cursor.execute("PRAGMA ignore_check_constraints = ON")
        statement = f"UPDATE audit_auditevent SET {column} = %s WHERE seq = 3"  # noqa: S608 - our names
        cursor.execute(statement, [value])
        cursor.execute("PRAGMA ignore_check_constraints = OFF")

    assert [report.events for report in check_all()] == [5]
    assert broken(chain)[1] == 3


@pytest.mark.sqlite  # any value in any column
def test_it_reports_a_chain_whose_id_is_none(chain: UUID, lifted: Lifted) -> None:
    with lifted(), connection.cursor() as cursor:
        cursor.execute("UPDATE audit_auditevent SET chain = 'x' || seq WHERE seq = 3")

    problems = {report.chain: report.problem for report in check_all()}
    assert set(problems) == {str(chain), "x3"}
    assert problems["x3"] is not None
    assert problems["x3"].code is Break.UNREADABLE
