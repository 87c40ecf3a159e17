"""``manage.py export_audit``."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

import rfc8785
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from ieim.audit.canonical import instant
from ieim.audit.models import AuditEvent
from ieim.audit.verify import reading


class Command(BaseCommand):
    """Print the audit record."""

    help = (
        "Print events of the audit record, one JSON object a line (RFC 8785), by chain and number: "
        "chain, seq, kind, actor, at, payload, prev_hash and hash. With all of a chain anybody can "
        "compute its hashes anew, without this program: docs/audit.md says how."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--session", type=UUID, metavar="UUID", help="one session's chain")
        parser.add_argument("--since", metavar="TIME", help="a date, or a time (ISO 8601), and on")
        parser.add_argument("--until", metavar="TIME", help="before this date or time")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print; raises :class:`CommandError` for a time that is none."""
        found = AuditEvent.objects.order_by("chain", "seq")
        if options["session"]:
            found = found.filter(chain=options["session"])
        if options["since"]:
            found = found.filter(at__gte=_time(options["since"]))
        if options["until"]:
            found = found.filter(at__lt=_time(options["until"]))
        with reading():
            for event in found.iterator(chunk_size=500):
                told = {
                    **{name: getattr(event, name) for name in ("seq", "kind", "actor")},
                    **{name: getattr(event, name) for name in ("prev_hash", "hash")},
                    "chain": str(event.chain),
                    "at": instant(event.at),
                    "payload": json.loads(event.payload),
                }
                self.stdout.write(rfc8785.dumps(told).decode())


def _time(text: str) -> datetime:
    try:
        found = parse_datetime(text)
        day = None if found else parse_date(text)
    except ValueError as error:
        raise CommandError(f"{text} is no time: {error}") from error
    if found is None and day is not None:
        found = datetime.combine(day, datetime.min.time())
    if found is None:
        raise CommandError(f"{text} is no time: write 2026-11-24, or 2026-11-24T16:00:00+01:00")
    return found if timezone.is_aware(found) else timezone.make_aware(found)
