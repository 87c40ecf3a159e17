"""``manage.py export_corrections``: what people decided, as evaluation cases."""

from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from ieim.audit.services import record_system
from review import evaluation_cases


def day(text: str) -> datetime:
    """Return the beginning of a day, in the deployment's time zone."""
    try:
        return timezone.make_aware(datetime.combine(date.fromisoformat(text), time.min))
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no date such as 2026-11-21") from error


class Command(BaseCommand):
    """Write decided review items as JSON Lines."""

    help = (
        "Write what people decided in the review console as evaluation cases, one JSON object a "
        "line, for `manage.py evaluate`. The file holds citizens' own words: keep it as you keep "
        "the database."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--since", type=day, help="decided on or after this day (YYYY-MM-DD)")
        parser.add_argument("--out", type=Path, help="the file to write (default: the output)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Export the evaluation_cases."""
        lines, left_out = [], 0
        for case in evaluation_cases.cases(since=options["since"]):
            if case is None:
                left_out += 1
            else:
                lines.append(json.dumps(case, ensure_ascii=False))
        text = "".join(f"{line}\n" for line in lines)
        since = options["since"] and options["since"].isoformat()
        with transaction.atomic():
            record_system(
                kind="review.exported",
                actor="system",
                payload={"since": since, "cases": len(lines)},
            )
        if options["out"] is None:
            self.stdout.write(text, ending="")
        else:
            try:
                options["out"].write_text(text, encoding="utf-8")
            except OSError as error:
                raise CommandError(f"Cannot write {options['out']}: {error.strerror}") from error
        self.stderr.write(f"{len(lines)} case(s) written, {left_out} item(s) make none")
