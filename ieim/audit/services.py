"""Writing audit events."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC
from secrets import token_bytes, token_hex
from typing import Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models.functions import TruncDay
from django.utils import timezone

from ieim.audit.canonical import (
    GENESIS,
    JSONValue,
    PayloadError,
    Row,
    canonical,
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
"""The chains that are never erased: the digests of their rows need no key."""

KEY_BYTES: Final = 32

LEFT: Final = "session.left"
"""The kind of the event that vouches for the rows that an erasure leaves; it is not emptied."""
ERASED: Final = "session.erased"
"""The kind of the event after which only tombstones of its session are left."""

MAX_ROWS = 400
"""Rows that one event vouches for, half as many with their digests of before."""
_MOVE_AND_INSERT: Final = """
WITH head AS (
    UPDATE audit_audithead SET seq = %(seq)s, hash = %(hash)s{key}
    WHERE chain = %(chain)s AND seq = %(seq)s - 1 AND hash = %(prev_hash)s RETURNING 1
)
INSERT INTO audit_auditevent
    (chain, seq, kind, actor, at, payload, salt, digest, prev_hash, hash)
SELECT %(chain)s, %(seq)s, %(kind)s, %(actor)s, %(at)s, %(payload)s, %(salt)s, %(digest)s,
    %(prev_hash)s, %(hash)s
FROM head RETURNING id
"""
CONTINUED = "audit.continued"
"""The kind of the events that have the rest of an event's rows."""


def record(
    *,
    chain: UUID,
    kind: str,
    payload: Mapping[str, JSONValue],
    actor: str,
    rows: Sequence[Row] = (),
    were: Sequence[str | None] | None = None,
    head: AuditHead | None = None,
) -> AuditEvent:
    """Append an event to ``chain`` (a session's id) inside the caller's transaction.

    Other writers of the chain wait until the transaction ends. With more rows than one event holds,
    further events follow; the first one is returned.

    Args:
        chain: A session's id, or one of :data:`FOR_GOOD`.
        kind: Lower-case words with dots, such as ``turn.received``.
        payload: Ids, codes, digests and counts, never a citizen's words.
        actor: ``citizen``, ``system`` or ``staff:<username>``.
        rows: The stored rows that the event vouches for, as
            :meth:`~ieim.audit.audited.AuditedModel.row` gives them. In a session's chain their
            digests are keyed (:class:`ieim.audit.models.AuditHead`).
        were: The digests that the same rows had before, None for one that was not there, in a chain
            without a key: so no change hides an earlier one that no event names.
        head: The head as the caller's last event left it, or a new one of a chain that cannot have
            begun. It is moved on; where somebody else has written since, it is read again.

    Raises:
        RuntimeError: outside ``transaction.atomic()``; an event and its change are stored together.
        PayloadError: the payload cannot be recorded.
        ValueError: a kind or an actor of another form.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError(
            f"audit event {kind!r} outside a transaction: call record() inside "
            "transaction.atomic(), in the same block as the change that it records"
        )
    _check(kind, actor)
    if "rows" in payload or "were" in payload:
        raise PayloadError("rows and were are what an event vouches for: pass them as such")
    canonical(payload)  # A wrong payload is refused before the chain is locked.
    head = head or lock_head(chain)
    while True:
        if chain not in FOR_GOOD and not head.key:
            head.key = token_bytes(KEY_BYTES)
        vouched = [vouch(row, bytes(head.key)) for row in rows]
        if kind == ERASED:
            head.key = b""
        first, *rest = _parts(vouched, were)
        event = _append(head, kind, canonical({**payload, **first}), actor)
        if event is not None:
            break
        current = lock_head(chain)
        head.seq, head.hash, head.key = current.seq, current.hash, current.key
    for part in rest:
        _append(head, CONTINUED, canonical({"of": event.seq, **part}), actor)
    return event


def empty(chain: UUID, *, before: int) -> None:
    """Empty the events of a chain with a number below ``before``, but for kind, actor and day.

    The database permits it once :data:`ERASED` is the chain's last event, and not for events
    without a ``digest``, whose hash covers their payload itself.
    """
    events = AuditEvent.objects.filter(chain=chain, seq__lt=before).exclude(digest="")
    events.update(payload="{}", salt="", at=TruncDay("at", tzinfo=UTC))


def record_each(*, kind: str, rows: Mapping[UUID, Sequence[Row]]) -> None:
    """Append to each of many sessions' chains an event of the system that vouches for its rows.

    A chain without an event is left out. It takes three statements for any number of chains, inside
    the caller's transaction as :func:`record`.
    """
    _check(kind, "system")
    locked = AuditHead.objects.select_for_update().filter(pk__in=list(rows), seq__gt=0)
    heads = list(locked.order_by("pk"))
    events = []
    for head in heads:
        head.key = bytes(head.key) or token_bytes(KEY_BYTES)
        payload = {"rows": [vouch(row, head.key) for row in rows[head.chain]]}
        events.append(_next(head, kind, canonical(payload), "system"))
    AuditEvent.objects.bulk_create(events)
    AuditHead.objects.bulk_update(heads, ["seq", "hash", "key"])


def _parts(rows: Sequence[Row], were: Sequence[str | None] | None) -> list[dict[str, JSONValue]]:
    """Return the rows of each event; there is one event at least."""
    size = MAX_ROWS if were is None else MAX_ROWS // 2
    parts = [slice(start, start + size) for start in range(0, len(rows) or 1, size)]
    if were is not None:
        return [{"rows": rows[part], "were": were[part]} for part in parts]
    return [{"rows": rows[part]} for part in parts] if rows else [{}]


def _append(head: AuditHead, kind: str, data: bytes, actor: str) -> AuditEvent | None:
    """Append an event to the chain of ``head``, and move the head to it; None where it is no longer
    the chain's head."""
    event = _next(head, kind, data, actor)
    if head._state.adding:
        head.save(force_insert=True)
    elif connection.vendor == "postgresql":
        return event if _move_and_insert(head, event) else None
    else:
        heads = AuditHead.objects.filter(pk=head.chain, seq=event.seq - 1, hash=event.prev_hash)
        if not heads.update(seq=head.seq, hash=head.hash, key=head.key):
            return None
    event.save()
    return event


def _move_and_insert(head: AuditHead, event: AuditEvent) -> bool:
    """Store an event and its head in one statement; False where the head was another one."""
    # Not where there never is one: the role that seals may not write it (ieim.audit.roles).
    key = "" if head.chain in FOR_GOOD else ", key = %(key)s"
    with connection.cursor() as cursor:
        cursor.execute(_MOVE_AND_INSERT.format(key=key), {**vars(event), "key": bytes(head.key)})
        row = cursor.fetchone()
    if row is None:
        return False
    event.pk, event._state.adding = row[0], False
    return True


def _next(head: AuditHead, kind: str, data: bytes, actor: str) -> AuditEvent:
    """Return the unsaved next event of a chain, with ``head`` moved to it."""
    event = AuditEvent(
        chain=head.chain,
        seq=head.seq + 1,
        kind=kind,
        actor=actor,
        at=timezone.now(),
        payload=data.decode(),
        prev_hash=head.hash,
    )
    at, content = instant(event.at), data
    if head.chain not in FOR_GOOD:
        event.salt = token_hex(32)
        event.digest = commitment(salt=event.salt, at=at, payload=data)
        at, content = committed(at, event.digest)
    event.hash = event_hash(
        chain=str(head.chain),
        seq=event.seq,
        kind=kind,
        actor=actor,
        at=at,
        payload=content,
        prev_hash=head.hash,
    )
    head.seq, head.hash = event.seq, event.hash
    return event


def record_system(
    *, kind: str, payload: Mapping[str, JSONValue], actor: str, rows: Sequence[Row] = ()
) -> AuditEvent:
    """Append an event that belongs to no session (see :func:`record`)."""
    return record(chain=SYSTEM_CHAIN, kind=kind, payload=payload, actor=actor, rows=rows)


def new_head(chain: UUID) -> AuditHead:
    """Return the head of a chain that cannot have begun, for its first event."""
    return AuditHead(chain=chain, seq=0, hash=GENESIS)


def lock_head(chain: UUID) -> AuditHead:
    """Return the head of ``chain``, locked until the transaction ends; ``seq`` 0 for a new chain.

    On SQLite the whole database is locked already, because transactions are IMMEDIATE.
    """
    heads = AuditHead.objects.select_for_update().filter(pk=chain)
    for head in heads:
        return head
    # Two writers may start a chain at once: one inserts, the other waits here for it.
    AuditHead.objects.bulk_create([new_head(chain)], ignore_conflicts=True)
    return heads.get()


def _check(kind: str, actor: str) -> None:
    if not _KIND.fullmatch(kind) or len(kind) > 64:
        raise ValueError(f"{kind!r} is no kind of event: use up to 64 of a-z, 0-9, _ with dots")
    canonical({"actor": actor})
    if not _ACTOR.fullmatch(actor) or len(actor) > 160:
        raise ValueError(f"{actor!r} is no actor: use citizen, system or staff:<username>")
