"""``manage.py verify_audit``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from tqdm import tqdm

from ieim.audit.checkpoints import faults, summary
from ieim.audit.models import AuditCheckpoint, AuditEvent
from ieim.audit.verify import ChainReport, reading, verify, verify_all


class Command(BaseCommand):
    """Verify the audit record."""

    help = (
        "Verify the audit record: recompute every event's hash from what is stored, follow each "
        "chain from its first event to its head, and check that everything that a checkpoint "
        "saw (see checkpoint_audit) is still there. Changes nothing; may run beside a live "
        "system. Prints one line a broken chain, with its first break. Exits 0 only when "
        "everything holds."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument(
            "--session", type=UUID, metavar="UUID", help="verify only the chain of this session"
        )
        parser.add_argument(
            "--json",
            action="store_true",
            help="print one JSON object: ok, chains, events, broken (chain, seq, break, message), "
            "faults (of the checkpoints), checkpoint (the newest, or null)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Verify, print, and raise :class:`CommandError` unless everything holds."""
        try:
            result = _verify(options["session"])
        except (DatabaseError, ValueError) as error:
            raise CommandError(f"the audit record cannot be read: {error}") from error
        if options["json"]:
            self.stdout.write(json.dumps(result))
        else:
            self._print(result, options["session"])
        if not result["ok"]:
            raise CommandError("the audit record does not hold")

    def _print(self, result: dict[str, Any], session: UUID | None) -> None:
        for broken in result["broken"]:
            self.stdout.write(f"{broken['chain']}: {broken['message']}")
        for fault in result["faults"]:
            self.stdout.write(fault)
        self.stdout.write(
            f"{result['events']:,} events in {result['chains']:,} chains, "
            f"{len(result['broken']):,} of them broken"
        )
        if result["checkpoint"]:
            line = "checkpoint {number} at {at} over {chains} chains: {digest}"
            self.stdout.write(line.format(**result["checkpoint"]))
        elif session is None:
            self.stdout.write("no checkpoint yet: manage.py checkpoint_audit takes one")


def _verify(session: UUID | None) -> dict[str, Any]:
    if session is not None:
        return _result([verify(session)])
    with (
        reading(),
        # disable=None: no bar unless stderr is a terminal.
        tqdm(total=AuditEvent.objects.count(), unit=" events", disable=None) as bar,
    ):
        result = _result(_counted(verify_all(), bar))
        result["faults"] = faults()
    newest = AuditCheckpoint.objects.first()
    result["checkpoint"] = summary(newest) if newest else None
    result["ok"] = not (result["broken"] or result["faults"])
    return result


def _counted(reports: Iterator[ChainReport], bar: tqdm[NoReturn]) -> Iterator[ChainReport]:
    for report in reports:
        bar.update(report.events)
        yield report


def _result(reports: Iterable[ChainReport]) -> dict[str, Any]:
    chains = events = 0
    broken = []
    for report in reports:
        chains += 1
        events += report.events
        if report.problem is not None:
            broken.append(
                {
                    "chain": report.chain,
                    "seq": report.problem.seq,
                    "break": report.problem.code.value,
                    "message": report.problem.message,
                }
            )
    return {
        "ok": not broken,
        "chains": chains,
        "events": events,
        "broken": broken,
        "faults": [],
        "checkpoint": None,
    }
