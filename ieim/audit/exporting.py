"""The record for somebody else: events as JSON lines that anybody can hash anew."""

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
    found = AuditEvent.objects.order_by("chain", "seq")
    if chain is not None:
        found = found.filter(chain=chain)
    if since is not None:
        found = found.filter(at__gte=since)
    if until is not None:
        found = found.filter(at__lt=until)
    return found


def line(event: AuditEvent) -> str:
    """Return an event as RFC 8785 JSON, without a newline."""
    told = {
        **{name: getattr(event, name) for name in ("seq", "kind", "actor")},
        **{name: getattr(event, name) for name in ("prev_hash", "hash")},
        "chain": str(event.chain),
        "at": instant(event.at),
        "payload": json.loads(event.payload),
    }
    if event.digest:
        told |= {"digest": event.digest, "salt": event.salt}
    return rfc8785.dumps(told).decode()


def lines(keys: array[int]) -> str:
    """Return the events with these keys, in their order, a line each."""
    found = AuditEvent.objects.in_bulk(keys)
    return "".join(f"{line(found[key])}\n" for key in keys)
