"""Verifying the record: every hash recomputed from what is stored, in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BinaryField, Exists, Func, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import Combinable
from django.db.models.sql.compiler import SQLCompiler

from ieim.audit.audited import ChangedBefore, Expected, SecondDigest, add_event
from ieim.audit.canonical import GENESIS, commitment, committed, event_hash, instant
from ieim.audit.models import AuditEvent, AuditHead, CheckpointHead
from ieim.audit.services import ERASED


class Break(StrEnum):
    """What can be wrong with a chain."""

    EMPTY = "empty"
    """Nothing is recorded under this id."""
    UNREADABLE = "unreadable"
    """A stored value is not of the form that its column holds."""
    GAP = "gap"
    """An event is missing, doubled or out of place."""
    LINK = "link"
    """``prev_hash`` is not the hash of the event before."""
    CONTENT = "content"
    """The event's hash does not follow from its content."""
    HEAD = "head"
    """The last event is not the one that the head names: a tail was removed or added."""
    NO_HEAD = "no_head"
    """There are events and no head."""
    SECOND_DIGEST = "second_digest"
    """An event vouches for another content of a row that never changes."""
    CHANGED_BEFORE = "changed_before"
    """An event changes a row that was not then as the record had it."""
    CHECKPOINT = "checkpoint"
    """An event that a checkpoint saw is not there any more."""
    AHEAD = "ahead"
    """An event says that it is from a time that has not come."""


AHEAD: Final = timedelta(minutes=10)
"""How far an event may be ahead of the clock of the verifying machine."""
_CHUNK = 500  # rows in memory at once, of at most 64 KiB each


@dataclass(frozen=True, slots=True)
class Problem:
    """The first break of a chain, at the event ``seq`` or where it was expected."""

    code: Break
    seq: int
    message: str


@dataclass(frozen=True, slots=True)
class ChainReport:
    """The result of verifying one chain.

    ``chain`` is the UUID as text (as stored, when it is none), ``events`` counts the rows that were
    read, ``problem`` is None when the chain holds. ``rows`` are what its events vouch for; whether
    those are stored is for :mod:`ieim.audit.comparing`.
    """

    chain: str
    events: int
    problem: Problem | None
    rows: Expected = field(default_factory=dict, compare=False)

    @property
    def ok(self) -> bool:
        """Whether the whole chain holds."""
        return self.problem is None


def verify(chain: UUID) -> ChainReport:
    """Verify one chain; one without any event is reported as :attr:`Break.EMPTY`."""
    with reading():
        for report in _reports(Q(chain=chain)):
            return report
    return ChainReport(str(chain), 0, Problem(Break.EMPTY, 1, "nothing is recorded under this id"))


def verify_all() -> Iterator[ChainReport]:
    """Verify every chain, in ascending order of id; call it inside :func:`reading`.

    Events may be written meanwhile: each statement sees one moment, an event and its head are
    committed together, and what a checkpoint saw never goes away.
    """
    return _reports(Q())


def go_on(report: ChainReport, *, after: int) -> None:
    """Add to a report's ``rows`` the rows of later events, whose primary keys are above ``after``.

    A primary key, unlike a number in its chain, cannot be forged into another form. What is wrong
    with these events is found by the verification that reads them all.
    """
    events = AuditEvent.objects.filter(chain=report.chain, pk__gt=after).order_by("pk")
    for seq, kind, payload in events.values_list("seq", _Stored("kind"), _Stored("payload")):
        _add_rows(report.rows, seq, kind, payload)


def reading() -> AbstractContextManager[object]:
    """Return the context in which the record streams.

    PostgreSQL streams only inside a transaction (else it first copies the whole result); a
    transaction on SQLite would lock out every writer, and SQLite streams without one.
    """
    return nullcontext() if connection.vendor == "sqlite" else transaction.atomic()


class _Stored(Func):
    """The bytes of a column as they are stored.

    SQLite keeps any value in any column; read as it is, a planted one becomes a finding here
    instead of an exception in the driver.
    """

    output_field = BinaryField()
    on_postgresql = "convert_to((%(expressions)s)::text, 'UTF8')"

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any
    ) -> tuple[str, Any]:
        return self.as_sql(compiler, connection, template="CAST(%(expressions)s AS BLOB)", **extra)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any
    ) -> tuple[str, Any]:
        return self.as_sql(compiler, connection, template=self.on_postgresql, **extra)


class _StoredInstant(_Stored):
    """A time as stored, free of the session's date style on PostgreSQL."""

    on_postgresql = (
        "convert_to(to_char(%(expressions)s AT TIME ZONE 'UTC', "
        "'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), 'UTF8')"
    )


class _LostHead(NamedTuple):
    """A head that a checkpoint saw and whose event is not there."""

    seq: bytes
    checkpoint: bytes


class _BareHead(NamedTuple):
    """A head of a chain without events."""

    seq: bytes
    hash: bytes


class _Event(NamedTuple):
    """An event, and the head of its chain (None where it has none)."""

    seq: bytes
    kind: bytes
    actor: bytes
    at: bytes
    payload: bytes
    prev_hash: bytes
    hash: bytes
    salt: bytes
    digest: bytes
    head_seq: bytes | None
    head_hash: bytes | None


_Item = _LostHead | _BareHead | _Event
_Head = tuple[bytes | None, bytes | None] | None
_EVENT_COLUMNS = (
    *("seq", "kind", "actor", _StoredInstant("at"), "payload"),
    *("prev_hash", "hash", "salt", "digest"),
)


def _reports(condition: Q) -> Iterator[ChainReport]:
    heads = AuditHead.objects.filter(chain=OuterRef("chain"))
    of_chain = AuditEvent.objects.filter(chain=OuterRef("chain"))
    same = of_chain.filter(seq=OuterRef("seq"), hash=OuterRef("hash"))
    lost = CheckpointHead.objects.filter(condition).filter(~Exists(same)).order_by("chain", "seq")
    bare = AuditHead.objects.filter(condition, seq__gt=0).filter(~Exists(of_chain))
    events = AuditEvent.objects.filter(condition).order_by("chain", "seq")
    head_columns = (Subquery(heads.values("seq")), Subquery(heads.values("hash")))
    streams = (
        _stream(_LostHead, lost, "seq", "checkpoint_id"),
        _stream(_BareHead, bare.order_by("chain"), "seq", "hash"),
        _stream(_Event, events, *_EVENT_COLUMNS, *head_columns),
    )
    for chain, items in groupby(merge(*streams, key=itemgetter(0)), key=itemgetter(0)):
        yield _report(chain, (item for _, item in items))


def _stream(
    form: Callable[..., _Item], rows: QuerySet[Any], *columns: str | Combinable
) -> Iterator[tuple[bytes, _Item]]:
    stored = [c if isinstance(c, _Stored) else _Stored(c) for c in ("chain", *columns)]
    for chain, *values in rows.values_list(*stored).iterator(chunk_size=_CHUNK):
        yield chain, form(*values)


def _report(stored_chain: bytes, items: Iterable[_Item]) -> ChainReport:
    """Verify the items of one chain, heads before events."""
    count = emptied = 0
    previous_hash = GENESIS.encode()
    head: _Head = None
    rows: Expected = {}
    problem = lost = ahead = None
    try:
        chain = str(UUID(stored_chain.decode()))
    except ValueError:
        chain = stored_chain.decode(errors="replace")
        problem = Problem(Break.UNREADABLE, 1, f"the chain's id {chain!r} is no UUID")
    for item in items:
        if isinstance(item, _LostHead):
            lost = lost or _lost(item)
            continue
        if isinstance(item, _BareHead):
            head = item
            continue
        count += 1
        if problem is None:
            problem = _fault(chain, count, previous_hash, item)
            ahead = ahead or (None if problem else _ahead(count, item.at))
            previous_hash, head = item.hash, (item.head_seq, item.head_hash)
            if item.digest and not item.salt:
                emptied = emptied or count
            elif item.kind == ERASED.encode():
                emptied = 0
        # Also beyond a break: the rows say what to look for.
        unreadable = _add_rows(rows, count, item.kind, item.payload)
        problem = problem or unreadable
    if emptied and not problem:
        message = f"event {emptied} was emptied, and no event after it says that all was erased"
        problem = Problem(Break.CONTENT, emptied, message)
    problem = problem or _head_fault(count, previous_hash, head) or lost or ahead
    return ChainReport(chain, count, problem, rows)


def _fault(chain: str, seq: int, previous_hash: bytes, event: _Event) -> Problem | None:
    if event.seq != b"%d" % seq:
        text = event.seq.decode(errors="replace")
        return Problem(Break.GAP, seq, f"event {seq} is missing; the next one there is {text}")
    if event.prev_hash != previous_hash:
        message = f"event {seq} does not follow event {seq - 1}: its prev_hash is another"
        return Problem(Break.LINK, seq, message)
    try:
        at, payload = instant(_utc(str(event.at, "utf-8"))), event.payload
        holds = True
        if event.digest:
            salt, digest = str(event.salt, "utf-8"), str(event.digest, "utf-8")
            holds = (
                commitment(salt=salt, at=at, payload=payload) == digest
                if salt
                else payload == b"{}" and at.endswith("T00:00:00.000000Z")
            )
            at, payload = committed(at, digest)
        computed = event_hash(
            chain=chain,
            seq=seq,
            kind=str(event.kind, "utf-8"),
            actor=str(event.actor, "utf-8"),
            at=at,
            payload=payload,
            prev_hash=str(event.prev_hash, "utf-8"),
        )
    except (TypeError, ValueError) as error:
        return Problem(Break.UNREADABLE, seq, f"event {seq} cannot be read: {error}")
    if computed.encode() != event.hash or not holds:
        message = f"event {seq} was changed: its hash is not that of its content"
        return Problem(Break.CONTENT, seq, message)
    return None


def _ahead(seq: int, at: bytes) -> Problem | None:
    text = str(at, "utf-8")
    if _utc(text) <= datetime.now(UTC) + AHEAD:
        return None
    return Problem(Break.AHEAD, seq, f"event {seq} says that it is of {text}, which has not come")


def _add_rows(rows: Expected, seq: int, kind: bytes, payload: bytes) -> Problem | None:
    """Add the rows that an event vouches for, and return what is wrong with them."""
    try:
        add_event(rows, str(kind, "utf-8"), payload, seq)
    except SecondDigest as row:
        message = f"event {seq} vouches for another content of {row}, which never changes"
        return Problem(Break.SECOND_DIGEST, seq, message)
    except ChangedBefore as row:
        message = f"event {seq} changed {row}, which was not then as the record had it"
        return Problem(Break.CHANGED_BEFORE, seq, message)
    except (TypeError, ValueError, KeyError) as error:
        return Problem(Break.UNREADABLE, seq, f"event {seq} cannot be read: {error}")
    return None


def _head_fault(count: int, last_hash: bytes, head: _Head) -> Problem | None:
    if not count and head is None:
        return None
    seq, head_hash = head or (None, None)
    if seq is None or head_hash is None:
        return Problem(Break.NO_HEAD, count, "the chain's head is missing")
    if seq != b"%d" % count:
        text = seq.decode(errors="replace")
        message = f"the head names event {text}, and the last one is {count}"
        return Problem(Break.HEAD, count + 1, message)
    if head_hash != last_hash:
        return Problem(Break.HEAD, count, f"the head has another hash than event {count}")
    return None


def _lost(head: _LostHead) -> Problem:
    seq, number = (value.decode(errors="replace") for value in head)
    message = f"event {seq} is not there as checkpoint {number} saw it"
    return Problem(Break.CHECKPOINT, int(seq) if seq.isdecimal() else 0, message)


def _utc(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)
