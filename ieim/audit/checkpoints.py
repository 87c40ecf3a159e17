"""Checkpoints: so that the removal of a whole chain, or of a tail with its head, is noticed."""

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
"""The kind of the event that says that a checkpoint was sealed and kept outside (its number)."""

SEALED_WITHIN = timedelta(minutes=15)
"""How old the last seal may be; one comes every five minutes."""

_LOOK = "Look at the log of ieim-seal.service."
_BATCH = 1000
_IN_FLIGHT = timedelta(minutes=10)
"""How long before it is committed an event may have got its time, clocks that differ included."""
_NOT_FOLLOWING = "checkpoint {} does not follow from the heads that are stored with it"


class HeadsDigest:
    """The digest of :class:`ieim.audit.models.AuditCheckpoint`, fed one head at a time."""

    def __init__(self) -> None:
        self.chains = 0
        self._sha256 = sha256()

    def add(self, chain: UUID, seq: int, head_hash: str) -> None:
        """Add a head; heads come in ascending order of ``chain``."""
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
    _one_at_a_time()
    number = (AuditCheckpoint.objects.aggregate(last=Max("number"))["last"] or 0) + 1
    at = timezone.now()
    digest = HeadsDigest()
    # The rows come before the checkpoint that they belong to, whose digest is known last: foreign
    # keys are checked on commit.
    heads = _heads()
    while batch := list(islice(heads, _BATCH)):
        for chain, seq, head_hash, _ in batch:
            digest.add(chain, seq, head_hash)
        CheckpointHead.objects.bulk_create(
            CheckpointHead(checkpoint_id=number, chain=chain, seq=seq, hash=head_hash)
            for chain, seq, head_hash, moved in batch
            if moved
        )
    checkpoint = AuditCheckpoint(
        number=number, at=at, chains=digest.chains, digest=digest.hexdigest()
    )
    checkpoint.save()
    if connection.vendor == "postgresql":
        connection.check_constraints()  # The foreign keys, now: on commit the chain is locked.
    record_system(kind=KIND, payload=summary(checkpoint), actor="system")
    return checkpoint


def _one_at_a_time() -> None:
    """Wait until no other checkpoint is being taken: its number and heads are then seen.

    On SQLite the whole database is locked already, because transactions are IMMEDIATE.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            table = AuditCheckpoint._meta.db_table
            cursor.execute("SELECT pg_advisory_xact_lock(%s::regclass::bigint)", [table])


def summary(checkpoint: AuditCheckpoint) -> dict[str, JSONValue]:
    """Return what an operator keeps of ``checkpoint``, and what its event says."""
    return {
        "number": checkpoint.number,
        "at": instant(checkpoint.at),
        "chains": checkpoint.chains,
        "digest": checkpoint.digest,
    }


class Sealed(NamedTuple):
    """What the record says of a seal: the checkpoint's ``number`` (0 where that cannot be read) and
    when; ``sound`` is False for what nobody who seals can have written."""

    number: int
    at: datetime
    sound: bool


def last_sealed() -> Sealed | None:
    """Return the seal that was recorded last."""
    # Not by time, which whoever adds an event sets as they like.
    event = _seals().order_by("-seq").first()
    if event is None:
        return None
    number = _number(event.payload)
    return Sealed(number, event.at, sound=number > 0 and event.at <= timezone.now() + AHEAD)


def missing_seal() -> str:
    """Return why the record does not count as sealed now, and what to do; empty where it does, and
    where it never was and nobody has said that it is (``IEIM_SEALED``)."""
    sealed = last_sealed()
    if sealed is None:
        problem = "The record was never sealed, though IEIM_SEALED says that it is."
        return f"{problem} {_LOOK}" if settings.IEIM_SEALED else ""
    if not sealed.sound:
        problem = "The event of the last seal is from the future or cannot be read: "
        todo = "Look with `manage.py verify_audit --seals`."
        return f"{problem}a clock is wrong, or somebody else wrote it. {todo}"
    age = timezone.now() - sealed.at
    minutes = age // timedelta(minutes=1)
    problem = f"Checkpoint {sealed.number} was sealed {minutes} minutes ago."
    return f"{problem} {_LOOK}" if age > SEALED_WITHIN else ""


def greatest_sealed() -> int:
    """Return the greatest number of a checkpoint that the record says was sealed, 0 for none."""
    payloads = _seals().values_list("payload", flat=True).iterator(chunk_size=_BATCH)
    return max(map(_number, payloads), default=0)


def _seals() -> QuerySet[AuditEvent]:
    return AuditEvent.objects.filter(chain=SYSTEM_CHAIN, kind=SEALED)


def _number(payload: str) -> int:
    """Return the number that an event of a seal names, 0 where somebody has planted another."""
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
    # One may be taken meanwhile, row and event at once: what was recorded before the rows are read
    # is among them, and what is among them is recorded after.
    before = _recorded().count()
    found = []
    told = merge(_as_stored(), _as_recorded(), key=itemgetter(0))  # which begins with the rows
    for number, both in groupby(told, key=itemgetter(0)):
        says = {recorded: payload for _, recorded, payload in both}
        if True not in says:
            found.append(f"checkpoint {number} was never recorded")
        elif False not in says:
            if number <= before:
                found.append(f"checkpoint {number} is missing, though it was recorded")
        elif says[True] != says[False]:
            found.append(f"checkpoint {number} is not what was recorded")
    newest = AuditCheckpoint.objects.first()
    if newest and not _follows(newest):
        found.append(_NOT_FOLLOWING.format(newest.number))
    return found


@dataclass(frozen=True, slots=True)
class CheckpointComparison:
    """The result of comparing the record with a checkpoint, found by a digest noted elsewhere.

    ``faults`` are sentences; ``since`` counts the events after it, without its own and its seal's.
    """

    faults: list[str]
    since: int


def expected(digest: str) -> CheckpointComparison:
    """Return whether the record still begins with everything that a digest covers.

    The digest alone decides: which checkpoint it was, and over which heads, is read from the
    database, and counts only because the digest follows from it. (:mod:`ieim.audit.verify`
    checks that those heads are still in the record; the events below them are chained.)
    """
    for checkpoint in AuditCheckpoint.objects.filter(digest=digest).order_by("number"):
        if not _follows(checkpoint):
            return CheckpointComparison([_NOT_FOLLOWING.format(checkpoint.number)], 0)
        after = _after(checkpoint)
        # Something that was being written while the checkpoint was taken may be a little older.
        earliest = checkpoint.at - _IN_FLIGHT
        day = earliest.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        # Of one whose conversation was erased since, the day alone is left.
        early = after.filter(Q(at__lt=day) | ~EMPTIED & Q(at__lt=earliest)).order_by("chain", "seq")
        found = [
            f"{event.chain}: event {event.seq} says that it is from before checkpoint "
            f"{checkpoint.number}, which did not see it"
            for event in early.iterator(chunk_size=_BATCH)
        ]
        sealed = canonical({"number": checkpoint.number}).decode()
        own = after.filter(chain=SYSTEM_CHAIN, kind=SEALED, payload=sealed)[:1].count()
        return CheckpointComparison(found, max(0, after.count() - 1 - own))
    return CheckpointComparison(
        [
            "no checkpoint with the digest that was kept is stored: it was removed or changed, or "
            "this is an older or another database"
        ],
        0,
    )


def _after(checkpoint: AuditCheckpoint) -> QuerySet[AuditEvent]:
    """Return the events that a checkpoint did not see."""
    seen = CheckpointHead.objects.filter(
        checkpoint_id__lte=checkpoint.number, chain=OuterRef("chain"), seq__gte=OuterRef("seq")
    )
    return AuditEvent.objects.filter(~Exists(seen))


def _as_stored() -> Iterator[tuple[int, bool, str]]:
    """Yield (number, False, what its event has to say) of the checkpoints, by number."""
    for each in AuditCheckpoint.objects.order_by("number").iterator(chunk_size=_BATCH):
        yield each.number, False, canonical(summary(each)).decode()


def _as_recorded() -> Iterator[tuple[int, bool, str]]:
    """Yield (number, True, what its event says) of the events, of which the nth is of number n."""
    events = _recorded().order_by("seq").values_list("payload", flat=True)
    for number, payload in enumerate(events.iterator(chunk_size=_BATCH), start=1):
        yield number, True, payload


def _recorded() -> QuerySet[AuditEvent]:
    return AuditEvent.objects.filter(chain=SYSTEM_CHAIN, kind=KIND)


def _heads() -> Iterator[tuple[UUID, int, str, bool]]:
    """Yield (chain, seq, hash, whether it moved since the last checkpoint) in order of chain."""
    covered = CheckpointHead.objects.filter(chain=OuterRef("chain"), seq=OuterRef("seq"))
    # A head with seq 0 is a chain whose first event is being written in this very transaction.
    heads = AuditHead.objects.filter(seq__gt=0).order_by("chain").annotate(moved=~Exists(covered))
    return heads.values_list("chain", "seq", "hash", "moved").iterator(chunk_size=_BATCH)


def _follows(checkpoint: AuditCheckpoint) -> bool:
    """Whether a checkpoint's digest is that of the heads stored up to it."""
    heads = CheckpointHead.objects.filter(checkpoint_id__lte=checkpoint.number)
    rows = heads.order_by("chain", "seq").values_list("chain", "seq", "hash")
    digest = HeadsDigest()
    for _, of_chain in groupby(rows.iterator(chunk_size=_BATCH), key=itemgetter(0)):
        *_, newest = of_chain
        digest.add(*newest)
    return (digest.chains, digest.hexdigest()) == (checkpoint.chains, checkpoint.digest)
