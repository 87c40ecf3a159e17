"""Import a file of an open standard into the draft."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from ieim.knowledge.bundles.formats import MAX_FILE_BYTES
from ieim.studio.management.base import PlainHelpCommand, reading
from ieim.studio.standards.report import StandardError
from ieim.studio.standards.services import merge, plan, read_standard


class Command(PlainHelpCommand):
    help = """\
Merges a file of an open standard into the draft, in one transaction: Open Referral HSDS 3 JSON,
schema.org GovernmentService or CPSV-AP JSON-LD. Entries are added and changed, none is removed.
What the draft has no place for is listed. When anything is wrong, every error is listed with its
JSON Pointer, nothing changes, and the exit code is 1."""
    epilog = """\
examples:
  manage.py import_standard services.jsonld --dry-run
  manage.py import_standard hsds.json --agency housing"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file, as JSON")
        parser.add_argument(
            "--agency",
            metavar="ID",
            help="take only what is this agency's; the only one that a file names stands for it",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would happen, and change nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Import and report; raise :class:`CommandError` when nothing was changed."""
        path: Path = options["file"]
        with reading(path), path.open("rb") as file:
            # One more byte shows that it is too large, without reading the rest.
            data = file.read(MAX_FILE_BYTES + 1)
        try:
            mapped, report = read_standard(data, into=options["agency"])
            outcome = plan(mapped) if options["dry_run"] else merge(mapped=mapped, by=None)
        except StandardError as error:
            raise self.refusal(error.problems) from error
        if options["verbosity"] == 0:
            return
        self.stdout.write(mapped.standard)
        for table, counts in outcome.counts.items():
            counted = ", ".join(f"{count:,} {change}" for change, count in counts.items())
            self.stdout.write(f"{table}: {counted}")
        for note in report.notes:
            self.stdout.write(f"{note.what} {note.times:,} times: {note.pattern}: {note.why}")
        self.stdout.write(
            "Nothing was changed: this was a dry run."
            if options["dry_run"]
            else "Only the draft was changed; publish it when it is good."
        )
