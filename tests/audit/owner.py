"""The powers of a database's owner, which no trigger withstands: for tests, which own theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest
from django.db import connection
from django.test import TransactionTestCase

from ieim.audit.canonical import commitment, committed, event_hash, instant
from ieim.audit.models import AuditEvent, AuditHead
from ieim.audit.verify import ChainReport, reading, verify_all


@contextmanager
def triggers_lifted() -> Iterator[None]:
    """Take the triggers of :mod:`ieim.audit.triggers` off their tables, and put them back."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name GLOB '*_no_*'"
            )
            triggers = cursor.fetchall()
            off = [f"DROP TRIGGER {name}" for name, _ in triggers]
            on = [sql for _, sql in triggers]
        else:
            cursor.execute(
                "SELECT tgrelid::regclass, tgname FROM pg_trigger "
                "WHERE NOT tgisinternal AND strpos(tgname, '_no_') > 0"
            )
            triggers = cursor.fetchall()
            off = [f"ALTER TABLE {table} DISABLE TRIGGER {name}" for table, name in triggers]
            on = [f"ALTER TABLE {table} ENABLE TRIGGER {name}" for table, name in triggers]
            # PostgreSQL does not alter a table whose foreign keys are still to be checked.
            checked, later = "SET CONSTRAINTS ALL IMMEDIATE", "SET CONSTRAINTS ALL DEFERRED"
            off, on = [checked, *off, later], [checked, *on, later]
        for statement in off:
            cursor.execute(statement)
        try:
            yield
        finally:
            for statement in on:
                cursor.execute(statement)


@contextmanager
def flushable() -> Iterator[None]:
    """Let Django empty append-only tables after a transactional test.

    The triggers have no switch (:mod:`ieim.audit.triggers` says why), so they are taken off around
    the flush, and only there: within a test they hold.
    """
    flush = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]

    def flush_without_triggers(case: TransactionTestCase) -> None:
        with triggers_lifted():
            flush(case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", flush_without_triggers)
        yield


def rehash(event: AuditEvent) -> str:
    """Return the hash that the event's present content would have; its commitment fits too."""
    at, payload = instant(event.at), event.payload.encode()
    if event.digest:
        event.digest = commitment(salt=event.salt, at=at, payload=payload)
        at, payload = committed(at, event.digest)
    return event_hash(
        chain=str(event.chain),
        seq=event.seq,
        kind=event.kind,
        actor=event.actor,
        at=at,
        payload=payload,
        prev_hash=event.prev_hash,
    )


def rewind(chain: UUID, *, to: int) -> None:
    """Remove a chain's tail and make its head fit, so that the chain holds in itself."""
    with triggers_lifted():
        AuditEvent.objects.filter(chain=chain, seq__gt=to).delete()
        heads = AuditHead.objects.filter(chain=chain)
        if to:
            heads.update(seq=to, hash=AuditEvent.objects.get(chain=chain, seq=to).hash)
        else:
            heads.delete()


def check_all() -> list[ChainReport]:
    """Verify the whole record."""
    with reading():
        return list(verify_all())
