"""Exporting the record: events as JSON lines that anybody can hash anew."""

from __future__ import annotations

import json
from array import array
from datetime import datetime
from uuid import UUID

import rfc8785
from django.db.models import QuerySet

from ieim.audit.canonical import instant
from ieim.audit.models import AuditEvent


def events(
    *, chain: UUID | None = None, since: datetime | None = None, until: datetime | None = None
) -> QuerySet[AuditEvent]:
    """Return events by chain and number: all, or of one chain, from a time on, before a time."""
    conditions = {"chain": chain, "at__gte": since, "at__lt": until}
    conditions = {name: value for name, value in conditions.items() if value is not None}
    return AuditEvent.objects.filter(**conditions).order_by("chain", "seq")


def line(event: AuditEvent) -> str:
    """Return an event as RFC 8785 JSON, without a newline."""
    fields = {
        **{name: getattr(event, name) for name in ("seq", "kind", "actor", "prev_hash", "hash")},
        "chain": str(event.chain),
        "at": instant(event.at),
        "payload": json.loads(event.payload),
    }
    if event.digest:
        fields |= {"digest": event.digest, "salt": event.salt}
    return rfc8785.dumps(fields).decode()


def lines(keys: array[int]) -> str:
    """Return the events with these primary keys, in their order, a line each."""
    events = AuditEvent.objects.in_bulk(keys)
    return "".join(f"{line(events[key])}\n" for key in keys)
