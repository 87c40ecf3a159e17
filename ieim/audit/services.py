"""Writing audit events."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC
from secrets import token_bytes, token_hex
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import TruncDay
from django.utils import timezone

from ieim.audit.canonical import (
    GENESIS,
    JSONValue,
    PayloadError,
    Row,
    canonical,
    check_text,
    commitment,
    committed,
    event_hash,
    instant,
    vouch,
)
from ieim.audit.models import (
    PEOPLE_CHAIN,
    SYSTEM_CHAIN,
    VECTORS_CHAIN,
    AuditEvent,
    AuditHead,
)

_KIND = re.compile(r"(?<![a-z0-9_.])[a-z][a-z0-9_]*+(\.[a-z0-9_]+)+")
_ACTOR = re.compile(r"citizen|system|staff:.+", re.DOTALL)


FOR_GOOD: Final = frozenset({SYSTEM_CHAIN, PEOPLE_CHAIN, VECTORS_CHAIN})
"""The chains of what is never erased: the digests of their rows need no key."""

KEY_BYTES: Final = 32

LEFT: Final = "session.left"
"""The kind of the event that vouches for what an erasure leaves: it and its own are not emptied."""
ERASED: Final = "session.erased"
"""The kind of the event after which nothing of its session is left but tombstones."""

MAX_ROWS = 400
"""Stored rows that one event vouches for, half of them where it also says what they were; what is
more goes into further events."""
CONTINUED = "audit.continued"
"""The kind of those further events."""


def record(
    *,
    chain: UUID,
    kind: str,
    payload: Mapping[str, JSONValue],
    actor: str,
    rows: Sequence[Row] = (),
    were: Sequence[str | None] | None = None,
) -> AuditEvent:
    """Append an event to ``chain`` (a session's id) inside the caller's transaction.

    ``kind`` is lower-case words with dots (``turn.received``), ``actor`` is ``citizen``, ``system``
    or ``staff:<username>``. ``payload`` carries ids, codes, digests and counts, never a citizen's
    words. ``rows`` are the stored rows that the event vouches for, as
    :meth:`~ieim.audit.audited.AuditedModel.row` gives them; the payload's ``rows`` are these, of a
    session with its key (:class:`ieim.audit.models.AuditHead`). ``were`` are the digests that the
    same rows had before, None for one that was not there, in a chain without a key: so no change
    hides an earlier one that no event tells of. With them the payload has both, though empty. Until
    the transaction ends, other writers of the same chain wait. Returns the (first) event.

    Raises :class:`RuntimeError` outside ``transaction.atomic()``: the event and what it tells of
    stand or fall together. Raises :class:`ieim.audit.canonical.PayloadError` for a payload that
    cannot be recorded, :class:`ValueError` for a kind or an actor of another form.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError(
            f"audit event {kind!r} outside a transaction: call record() inside "
            "transaction.atomic(), in the same block as the change that it records"
        )
    _check(kind, actor)
    if "rows" in payload or "were" in payload:
        raise PayloadError("rows and were are what an event vouches for: pass them as such")
    canonical(payload)  # What cannot be recorded is refused before anybody waits for it.
    head = lock_head(chain)
    if chain not in FOR_GOOD and not head.key:
        head.key = token_bytes(KEY_BYTES)
    vouched = [vouch(row, bytes(head.key)) for row in rows]
    if kind == ERASED:
        head.key = b""
    first, *others = _parts(vouched, were)
    event = _append(head, kind, canonical({**payload, **first}), actor)
    for part in others:
        _append(head, CONTINUED, canonical({"of": event.seq, **part}), actor)
    return event


def empty(chain: UUID, *, before: int) -> None:
    """Leave kind, actor and day of the events of a chain with a number below ``before``.

    The database lets it happen once :data:`ERASED` is the chain's last event, and not to events
    that were recorded when their hash still covered all that they say.
    """
    events = AuditEvent.objects.filter(chain=chain, seq__lt=before).exclude(digest="")
    events.update(payload="{}", salt="", at=TruncDay("at", tzinfo=UTC))


def record_each(*, kind: str, rows: Mapping[UUID, Row]) -> None:
    """Append to each of many chains an event of the system that vouches for one row.

    It takes three statements for any number, and so gives no chain a key that has none: the rows
    have to hold something random. A chain without an event yet is left out. Inside the caller's
    transaction, as :func:`record`.
    """
    _check(kind, "system")
    heads = AuditHead.objects.filter(pk__in=list(rows), seq__gt=0)
    AuditEvent.objects.bulk_create(
        _next(head, kind, canonical({"rows": [vouch(rows[head.chain], bytes(head.key))]}), "system")
        for head in heads.select_for_update().order_by("pk")
    )
    event = AuditEvent.objects.filter(chain=OuterRef("chain"), seq=OuterRef("seq") + 1)
    heads.update(seq=F("seq") + 1, hash=Subquery(event.values("hash")))


def _parts(rows: Sequence[Row], were: Sequence[str | None] | None) -> list[dict[str, JSONValue]]:
    """Return what each event says of the rows; there is one event at least."""
    size = MAX_ROWS if were is None else MAX_ROWS // 2
    parts = [slice(start, start + size) for start in range(0, len(rows) or 1, size)]
    if were is not None:
        return [{"rows": rows[part], "were": were[part]} for part in parts]
    return [{"rows": rows[part]} for part in parts] if rows else [{}]


def _append(head: AuditHead, kind: str, data: bytes, actor: str) -> AuditEvent:
    """Append an event to the chain of a locked ``head``, and move the head to it."""
    event = _next(head, kind, data, actor)
    event.save()
    # Not where there never is one: the role that seals may not write it (ieim.audit.roles).
    key = {} if head.chain in FOR_GOOD else {"key": head.key}
    AuditHead.objects.filter(pk=head.chain).update(seq=head.seq, hash=head.hash, **key)
    return event


def _next(head: AuditHead, kind: str, data: bytes, actor: str) -> AuditEvent:
    """Return the unsaved next event of a chain, with ``head`` moved to it."""
    chain = head.chain
    at = timezone.now()
    seq = head.seq + 1
    salt = digest = ""
    when, content = instant(at), data
    if chain not in FOR_GOOD:
        salt = token_hex(32)
        digest = commitment(salt=salt, at=when, payload=data)
        when, content = committed(when, digest)
    hashed = event_hash(
        chain=str(chain),
        seq=seq,
        kind=kind,
        actor=actor,
        at=when,
        payload=content,
        prev_hash=head.hash,
    )
    event = AuditEvent(
        chain=chain,
        seq=seq,
        kind=kind,
        actor=actor,
        at=at,
        payload=data.decode(),
        salt=salt,
        digest=digest,
        prev_hash=head.hash,
        hash=hashed,
    )
    head.seq, head.hash = seq, hashed
    return event


def record_system(
    *, kind: str, payload: Mapping[str, JSONValue], actor: str, rows: Sequence[Row] = ()
) -> AuditEvent:
    """Append an event that belongs to no session (see :func:`record`)."""
    return record(chain=SYSTEM_CHAIN, kind=kind, payload=payload, actor=actor, rows=rows)


def lock_head(chain: UUID) -> AuditHead:
    """Return the head of ``chain``, locked until the transaction ends; ``seq`` 0 for a new chain.

    On SQLite the whole database is locked already, because transactions are IMMEDIATE.
    """
    heads = AuditHead.objects.select_for_update().filter(pk=chain)
    for head in heads:
        return head
    # Two writers may start a chain at once: one inserts, the other waits here for it.
    AuditHead.objects.bulk_create(
        [AuditHead(chain=chain, seq=0, hash=GENESIS)], ignore_conflicts=True
    )
    return heads.get()


def _check(kind: str, actor: str) -> None:
    if not _KIND.fullmatch(kind) or len(kind) > 64:
        raise ValueError(f"{kind!r} is no kind of event: use up to 64 of a-z, 0-9, _ with dots")
    if not _ACTOR.fullmatch(check_text(actor, "the actor")) or len(actor) > 160:
        raise ValueError(f"{actor!r} is no actor: use citizen, system or staff:<username>")
