"""Checkpoints, by which the removal of a whole chain, or of a tail with its head, is noticed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from heapq import merge
from itertools import groupby, islice
from operator import itemgetter
from typing import NamedTuple
from uuid import UUID

import rfc8785
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from ieim.audit.canonical import JSONValue, canonical, instant
from ieim.audit.models import (
    EMPTIED,
    SYSTEM_CHAIN,
    AuditCheckpoint,
    AuditEvent,
    AuditHead,
    CheckpointHead,
)
from ieim.audit.services import record_system
from ieim.audit.verify import AHEAD

KIND = "audit.checkpoint"
"""The kind of the event that each checkpoint leaves in the system chain."""
SEALED = "audit.sealed"
"""The kind of the event that names a checkpoint (its number) of which a seal was written."""

SEALED_WITHIN = timedelta(minutes=15)
"""How old the last seal may be; one comes every five minutes."""

_BATCH = 1000
_IN_FLIGHT = timedelta(minutes=10)
"""How long before its commit an event may have got its time, clocks that differ included."""
_NOT_FOLLOWING = "checkpoint {} does not follow from the heads that are stored with it"

Head = tuple[UUID, int, str]
"""A chain, the number of its last event, and that event's hash."""


class HeadsDigest:
    """The digest that :class:`ieim.audit.models.AuditCheckpoint` defines, fed in order of chain."""

    def __init__(self) -> None:
        self.chains = 0
        self._sha256 = sha256()

    def add(self, chain: UUID, seq: int, head_hash: str) -> None:
        """Add a head."""
        self.chains += 1
        self._sha256.update(rfc8785.dumps([str(chain), seq, head_hash]) + b"\n")

    def hexdigest(self) -> str:
        """Return the lower-case hex digest over all heads so far."""
        return self._sha256.hexdigest()


@transaction.atomic
def take_checkpoint() -> AuditCheckpoint:
    """Store a checkpoint over all heads and return it.

    Chains may grow meanwhile: one statement reads all heads, so the checkpoint is of one moment.
    Nobody waits for that but another checkpoint: the system chain is locked for the event alone.
    On SQLite writers wait: for 100,000 chains three seconds the first time, later less than one.
    """
    if connection.vendor == "postgresql":
        # Another checkpoint waits. On SQLite the whole database is locked already.
        with connection.cursor() as cursor:
            table = AuditCheckpoint._meta.db_table
            cursor.execute("SELECT pg_advisory_xact_lock(%s::regclass::bigint)", [table])
    number = (AuditCheckpoint.objects.aggregate(last=Max("number"))["last"] or 0) + 1
    at = timezone.now()
    digest = HeadsDigest()
    # The rows come before the checkpoint that they belong to, whose digest is known last: foreign
    # keys are checked on commit.
    heads = _heads()
    while batch := list(islice(heads, _BATCH)):
        for head, _ in batch:
            digest.add(*head)
        CheckpointHead.objects.bulk_create(
            CheckpointHead(checkpoint_id=number, chain=chain, seq=seq, hash=head_hash)
            for (chain, seq, head_hash), has_moved in batch
            if has_moved
        )
    checkpoint = AuditCheckpoint.objects.create(
        number=number, at=at, chains=digest.chains, digest=digest.hexdigest()
    )
    if connection.vendor == "postgresql":
        connection.check_constraints()  # The foreign keys, now: on commit the chain is locked.
    record_system(kind=KIND, payload=summary(checkpoint), actor="system")
    return checkpoint


def _heads() -> Iterator[tuple[Head, bool]]:
    """Yield the heads in order of chain, and whether they moved since the last checkpoint."""
    covered = CheckpointHead.objects.filter(chain=OuterRef("chain"), seq=OuterRef("seq"))
    # A head with seq 0 is a chain whose first event is being written in this very transaction.
    heads = AuditHead.objects.filter(seq__gt=0).order_by("chain").annotate(moved=~Exists(covered))
    columns = heads.values_list("chain", "seq", "hash", "moved")
    for chain, seq, head_hash, has_moved in columns.iterator(chunk_size=_BATCH):
        yield (chain, seq, head_hash), has_moved


def summary(checkpoint: AuditCheckpoint) -> dict[str, JSONValue]:
    """Return the payload of a checkpoint's event, which is also what an operator keeps of it."""
    return {
        "number": checkpoint.number,
        "at": instant(checkpoint.at),
        "chains": checkpoint.chains,
        "digest": checkpoint.digest,
    }


class Sealed(NamedTuple):
    """The event of a seal.

    ``number`` is the checkpoint's, 0 where it cannot be read; ``sound`` is False for an event that
    no sealing can have written.
    """

    number: int
    at: datetime
    sound: bool


def last_sealed() -> Sealed | None:
    """Return the seal that was recorded last."""
    # Not by time, which whoever adds an event sets as they like.
    event = _seal_events().order_by("-seq").first()
    if event is None:
        return None
    number = _number(event.payload)
    return Sealed(number, event.at, sound=number > 0 and event.at <= timezone.now() + AHEAD)


def missing_seal() -> str:
    """Return why the record does not count as sealed now, and what to do; empty where it does.

    A record that was never sealed is in order unless ``IEIM_SEALED`` says that it is sealed.
    """
    sealed = last_sealed()
    todo = "Look at the log of ieim-seal.service."
    if sealed is None:
        problem = "The record was never sealed, though IEIM_SEALED says that it is."
        return f"{problem} {todo}" if settings.IEIM_SEALED else ""
    if not sealed.sound:
        return (
            "The event of the last seal is from the future or cannot be read: a clock is wrong, or "
            "somebody else wrote it. Look with `manage.py verify_audit --seals`."
        )
    age = timezone.now() - sealed.at
    minutes = age // timedelta(minutes=1)
    problem = f"Checkpoint {sealed.number} was sealed {minutes} minutes ago."
    return f"{problem} {todo}" if age > SEALED_WITHIN else ""


def greatest_sealed() -> int:
    """Return the greatest number of a checkpoint that the record calls sealed, 0 for none."""
    payloads = _seal_events().values_list("payload", flat=True).iterator(chunk_size=_BATCH)
    return max(map(_number, payloads), default=0)


def _seal_events() -> QuerySet[AuditEvent]:
    return AuditEvent.objects.filter(chain=SYSTEM_CHAIN, kind=SEALED)


def _number(payload: str) -> int:
    """Return the number in the payload of a seal's event, 0 where somebody has planted another."""
    with suppress(ValueError, TypeError, LookupError, RecursionError):
        number = json.loads(payload)["number"]
        if isinstance(number, int):
            return number
    return 0


def faults() -> list[str]:
    """Return a sentence for each fault of the checkpoints themselves.

    Each must equal its event in the system chain, none may be missing, and the digest of the newest
    one must follow from the heads stored with it. (:mod:`ieim.audit.verify` checks that those heads
    are still in the record.)
    """
    # One may be taken meanwhile, row and event at once: an event from before the rows are read has
    # its row among them, and a row's event is read after it.
    count = _events().count()
    messages = []
    for number, entries in groupby(merge(_rows(), _recorded(), key=_of_number), key=_of_number):
        summaries = {source: text for _, source, text in entries}
        if "event" not in summaries:
            messages.append(f"checkpoint {number} was never recorded")
        elif "row" not in summaries:
            if number <= count:
                messages.append(f"checkpoint {number} is missing, though it was recorded")
        elif summaries["event"] != summaries["row"]:
            messages.append(f"checkpoint {number} is not what was recorded")
    newest = AuditCheckpoint.objects.first()
    if newest and not _follows(newest):
        messages.append(_NOT_FOLLOWING.format(newest.number))
    return messages


_of_number = itemgetter(0)


def _rows() -> Iterator[tuple[int, str, str]]:
    for checkpoint in AuditCheckpoint.objects.order_by("number").iterator(chunk_size=_BATCH):
        yield checkpoint.number, "row", canonical(summary(checkpoint)).decode()


def _recorded() -> Iterator[tuple[int, str, str]]:
    """Yield the events' payloads, of which the nth is of checkpoint n."""
    payloads = _events().order_by("seq").values_list("payload", flat=True)
    for number, payload in enumerate(payloads.iterator(chunk_size=_BATCH), start=1):
        yield number, "event", payload


def _events() -> QuerySet[AuditEvent]:
    return AuditEvent.objects.filter(chain=SYSTEM_CHAIN, kind=KIND)


@dataclass(frozen=True, slots=True)
class CheckpointComparison:
    """The result of comparing the record with a checkpoint, found by a digest kept elsewhere.

    ``faults`` are sentences; ``since`` counts the events after it, without its own and its seal's.
    """

    faults: list[str]
    since: int = 0


def compare_with_digest(digest: str) -> CheckpointComparison:
    """Return whether the record still begins with everything that a checkpoint's digest covers.

    The digest alone decides: which checkpoint it was, and over which heads, is read from the
    database, and counts only because the digest follows from it. (:mod:`ieim.audit.verify`
    checks that those heads are still in the record; the events below them are chained.)
    """
    checkpoint = AuditCheckpoint.objects.filter(digest=digest).order_by("number").first()
    if checkpoint is None:
        return CheckpointComparison(
            [
                "no checkpoint with the digest that was kept is stored: it was removed or changed, "
                "or this is an older or another database"
            ]
        )
    if not _follows(checkpoint):
        return CheckpointComparison([_NOT_FOLLOWING.format(checkpoint.number)])
    covering_heads = CheckpointHead.objects.filter(
        checkpoint_id__lte=checkpoint.number, chain=OuterRef("chain"), seq__gte=OuterRef("seq")
    )
    later = AuditEvent.objects.filter(~Exists(covering_heads))
    # An event that was being written while the checkpoint was taken may be a little older.
    earliest = checkpoint.at - _IN_FLIGHT
    day = earliest.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    # Of one whose conversation was erased since, the day alone is left.
    too_early = later.filter(Q(at__lt=day) | ~EMPTIED & Q(at__lt=earliest))
    messages = [
        f"{event.chain}: event {event.seq} says that it is from before checkpoint "
        f"{checkpoint.number}, which did not see it"
        for event in too_early.order_by("chain", "seq").iterator(chunk_size=_BATCH)
    ]
    payload = canonical({"number": checkpoint.number}).decode()
    seals = later.filter(chain=SYSTEM_CHAIN, kind=SEALED, payload=payload)[:1].count()
    return CheckpointComparison(messages, max(0, later.count() - 1 - seals))


def _follows(checkpoint: AuditCheckpoint) -> bool:
    """Whether a checkpoint's digest is that of the heads stored up to it."""
    heads = CheckpointHead.objects.filter(checkpoint_id__lte=checkpoint.number)
    columns = heads.order_by("chain", "seq").values_list("chain", "seq", "hash")
    digest = HeadsDigest()
    for _, of_chain in groupby(columns.iterator(chunk_size=_BATCH), key=itemgetter(0)):
        *_, newest = of_chain
        digest.add(*newest)
    return (digest.chains, digest.hexdigest()) == (checkpoint.chains, checkpoint.digest)
