"""``manage.py export_audit``."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from ieim.audit import exporting
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
        since, until = _time(options["since"]), _time(options["until"])
        events = exporting.events(chain=options["session"], since=since, until=until)
        with reading():
            for event in events.iterator(chunk_size=500):
                self.stdout.write(exporting.line(event))


def _time(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        time = parse_datetime(text)
        day = None if time else parse_date(text)
    except ValueError as error:
        raise CommandError(f"{text} is no time: {error}") from error
    if day:
        time = datetime.combine(day, datetime.min.time())
    if time is None:
        raise CommandError(f"{text} is no time: write 2026-11-24, or 2026-11-24T16:00:00+01:00")
    return time if timezone.is_aware(time) else timezone.make_aware(time)
