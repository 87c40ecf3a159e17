"""Verifying the record: every hash recomputed from what is stored, in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BinaryField, Exists, Func, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import Combinable
from django.db.models.sql.compiler import SQLCompiler

from ieim.audit.audited import ChangedBefore, Expected, SecondDigest, note
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


@dataclass(frozen=True, slots=True)
class Problem:
    """The first break of a chain: at event ``seq`` (what was expected there), in one sentence."""

    code: Break
    seq: int
    message: str


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What became of one chain.

    ``chain`` is the UUID as text (as stored, when it is none), ``events`` how many rows were read,
    ``problem`` None when the chain holds. ``rows`` are what its events vouch for; whether those
    are there is for :mod:`ieim.audit.comparing`.
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


def go_on(report: ChainReport, *, after: int) -> None:
    """Add to a report's ``rows`` what the events of its chain say whose keys are above ``after``.

    A key, unlike a number in its chain, is always one. What is wrong with these events is found by
    the verification that reads them all.
    """
    events = AuditEvent.objects.filter(chain=report.chain, pk__gt=after).order_by("pk")
    for seq, kind, payload in events.values_list("seq", _Stored("kind"), _Stored("payload")):
        _noted(report.rows, seq, kind, payload)


def verify_all() -> Iterator[ChainReport]:
    """Verify every chain, in ascending order of id; call it inside :func:`reading`.

    Events may be written meanwhile: each statement sees one moment, an event and its head are
    committed together, and what a checkpoint saw never goes away.
    """
    return _reports(Q())


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
        template = "CAST(%(expressions)s AS BLOB)"
        return self.as_sql(compiler, connection, template=template, **extra)

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


AHEAD: Final = timedelta(minutes=10)
"""How far an event may be ahead of the clock of who reads it."""
_CHUNK = 500  # rows in memory at once, of at most 64 KiB each
_LOST, _BARE_HEAD, _EVENT = range(3)
_Row = tuple[bytes, ...]
_Item = tuple[bytes, int, _Row]


def _reports(which: Q) -> Iterator[ChainReport]:
    heads = AuditHead.objects.filter(chain=OuterRef("chain"))
    events = AuditEvent.objects.filter(which).order_by("chain", "seq")
    bare = AuditHead.objects.filter(which, seq__gt=0).order_by("chain")
    bare = bare.filter(~Exists(AuditEvent.objects.filter(chain=OuterRef("chain"))))
    same = AuditEvent.objects.filter(
        chain=OuterRef("chain"), seq=OuterRef("seq"), hash=OuterRef("hash")
    )
    lost = CheckpointHead.objects.filter(which).filter(~Exists(same)).order_by("chain", "seq")
    items = merge(
        _stream(_LOST, lost, "seq", "checkpoint_id"),
        _stream(_BARE_HEAD, bare, "seq", "hash"),
        _stream(
            _EVENT,
            events,
            "seq",
            "kind",
            "actor",
            _StoredInstant("at"),
            "payload",
            "prev_hash",
            "hash",
            "salt",
            "digest",
            Subquery(heads.values("seq")),
            Subquery(heads.values("hash")),
        ),
    )
    for chain, of_chain in groupby(items, key=itemgetter(0)):
        yield _report(chain, of_chain)


def _stream(tag: int, rows: QuerySet[Any], *columns: str | Combinable) -> Iterator[_Item]:
    stored = [c if isinstance(c, _Stored) else _Stored(c) for c in ("chain", *columns)]
    for chain, *row in rows.values_list(*stored).iterator(chunk_size=_CHUNK):
        yield chain, tag, tuple(row)


def _report(stored_chain: bytes, items: Iterable[_Item]) -> ChainReport:
    events = 0
    previous = GENESIS.encode()
    head: _Row = ()
    rows: Expected = {}
    problem = lost = ahead = None
    emptied = 0
    try:
        chain = str(UUID(stored_chain.decode()))
    except ValueError:
        chain = stored_chain.decode(errors="replace")
        problem = Problem(Break.UNREADABLE, 1, f"the chain's id {chain!r} is no UUID")
    for _, tag, row in items:
        if tag == _LOST:
            lost = lost or _lost(row)
            continue
        if tag == _BARE_HEAD:
            head = row
            continue
        events += 1
        if problem is None:
            problem = _fault(chain, events, previous, row)
            ahead = ahead or (None if problem else _ahead(events, row))
            previous, head = row[6], row[9:]
            if row[8] and not row[7]:
                emptied = emptied or events
            elif row[1] == ERASED.encode():
                emptied = 0
        unreadable = _noted(rows, events, row[1], row[4])
        problem = problem or unreadable
    if emptied and not problem:
        message = f"event {emptied} was emptied, and no event after it says that all was erased"
        problem = Problem(Break.CONTENT, emptied, message)
    problem = problem or _head_fault(events, previous, head) or lost or ahead
    return ChainReport(chain, events, problem, rows)


def _fault(chain: str, seq: int, previous: bytes, row: _Row) -> Problem | None:
    found, kind, actor, at, payload, prev_hash, stored_hash, salt, digest, *_ = row
    if found != b"%d" % seq:
        text = found.decode(errors="replace")
        return Problem(Break.GAP, seq, f"event {seq} is missing; the next one there is {text}")
    if prev_hash != previous:
        return Problem(
            Break.LINK,
            seq,
            f"event {seq} does not follow event {seq - 1}: its prev_hash is another",
        )
    try:
        when = instant(_utc(str(at, "utf-8")))
        holds = True
        if digest:
            holds = (
                commitment(salt=str(salt, "utf-8"), at=when, payload=payload).encode() == digest
                if salt
                else payload == b"{}" and when.endswith("T00:00:00.000000Z")
            )
            when, payload = committed(when, str(digest, "utf-8"))
        computed = event_hash(
            chain=chain,
            seq=seq,
            kind=str(kind, "utf-8"),
            actor=str(actor, "utf-8"),
            at=when,
            payload=payload,
            prev_hash=str(prev_hash, "utf-8"),
        )
    except (TypeError, ValueError) as error:
        return Problem(Break.UNREADABLE, seq, f"event {seq} cannot be read: {error}")
    if computed.encode() != stored_hash or not holds:
        return Problem(
            Break.CONTENT, seq, f"event {seq} was changed: its hash is not that of its content"
        )
    return None


def _ahead(seq: int, row: _Row) -> Problem | None:
    at = str(row[3], "utf-8")
    if _utc(at) <= datetime.now(UTC) + AHEAD:
        return None
    return Problem(Break.AHEAD, seq, f"event {seq} says that it is of {at}, which has not come")


def _noted(rows: Expected, seq: int, kind: bytes, payload: bytes) -> Problem | None:
    """Add what an event vouches for to ``rows``, also beyond a break: it says what to look for."""
    try:
        note(rows, str(kind, "utf-8"), payload, seq)
    except SecondDigest as which:
        message = f"event {seq} vouches for another content of {which}, which never changes"
        return Problem(Break.SECOND_DIGEST, seq, message)
    except ChangedBefore as which:
        message = f"event {seq} changed {which}, which was not then as the record had it"
        return Problem(Break.CHANGED_BEFORE, seq, message)
    except (TypeError, ValueError, KeyError) as error:
        return Problem(Break.UNREADABLE, seq, f"event {seq} cannot be read: {error}")
    return None


def _head_fault(events: int, previous: bytes, head: _Row) -> Problem | None:
    if not events and not head:
        return None
    if None in head or not head:
        return Problem(Break.NO_HEAD, events, "the chain's head is missing")
    seq, head_hash = head
    if seq != b"%d" % events:
        text = seq.decode(errors="replace")
        return Problem(
            Break.HEAD, events + 1, f"the head names event {text}, and the last one is {events}"
        )
    if head_hash != previous:
        return Problem(Break.HEAD, events, f"the head has another hash than event {events}")
    return None


def _lost(row: _Row) -> Problem:
    seq, number = (value.decode(errors="replace") for value in row)
    message = f"event {seq} is not there as checkpoint {number} saw it"
    return Problem(Break.CHECKPOINT, int(seq) if seq.isdecimal() else 0, message)


def _utc(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)
