"""Load a knowledge bundle into the draft, and publish it when asked to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from ieim.knowledge.bundles.bundle import Bundle, BundleError, read_bundle
from ieim.knowledge.bundles.rows import TABLES
from ieim.knowledge.following import PATIENCE
from ieim.studio.drafts import publishing, services
from ieim.studio.management.base import PlainHelpCommand, progress


class Command(PlainHelpCommand):
    help = """\
Replaces the draft by a knowledge bundle, in one transaction, and says how many entries of each
table it adds, changes and removes. When anything is wrong, every error is listed with its file and
line, nothing changes, and the exit code is 1. Nor does anything change when more than a tenth of a
table would be removed: a bundle that lost rows on its way looks like that. --remove says that it is
meant; --dry-run says what would happen.

A bundle is a folder with the files agencies, dictionary, services and, if it likes, those of the
other tables, each as .jsonl, .yaml, .yml or .csv, or one YAML file with such keys. The columns of
each table are in docs/integrating.md. Texts may have 10,000 characters, names 500, ids 200, links
2,048, lists 100 entries."""
    epilog = """\
examples:
  manage.py load_knowledge ieim/knowledge/demo --publish
  manage.py load_knowledge bundle.yaml --publish --dry-run
  manage.py load_knowledge bundle.yaml --publish --note "New fees from 1 January" --json"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="the bundle: a folder, or one YAML file")
        parser.add_argument("--publish", action="store_true", help="make it the current release")
        parser.add_argument("--note", default="", help="what changed, kept with the release")
        parser.add_argument(
            "--remove", action="store_true", help="remove even more than a tenth of a table"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would happen, and change nothing"
        )
        parser.add_argument("--json", action="store_true", help="print the result as one object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Load, publish and report; raise :class:`CommandError` when nothing was changed."""
        if options["note"] and not options["publish"]:
            raise CommandError("--note is kept with a release: give --publish too.")
        try:
            bundle = read_bundle(options["path"])
            report = self._load(bundle, options)
        except BundleError as error:
            raise self.refusal(error.errors) from error
        except publishing.PublishError as refusal:
            raise self.refusal(refusal.reasons) from refusal
        except services.RemovalError as refusal:
            tables = {str(table): asdict(counts) for table, counts in refusal.counts.items()}
            if options["json"]:
                self.stdout.write(json.dumps({"tables": tables, "refused": refusal.tables}))
            elif options["verbosity"] > 0:
                self.stdout.write("\n".join(_counted(tables)))
            raise self.refusal(
                f"{table}: {counts.removed:,} of {counts.before:,} would be removed, more than a "
                "tenth. Look at the bundle; give --remove if it is meant."
                for table, counts in refusal.counts.items()
                if table in refusal.tables
            ) from refusal
        for warning in bundle.warnings:
            self.stderr.write(f"Warning: {warning}")
        if options["json"]:
            self.stdout.write(json.dumps(report))
        elif options["verbosity"] > 0:
            self.stdout.write(_sentences(report))

    @transaction.atomic
    def _load(self, bundle: Bundle, options: Mapping[str, Any]) -> dict[str, Any]:
        """Import ``bundle`` and publish it where that is asked for; return what was done.

        A dry run does all of it as well, and takes it back.
        """
        total = sum(len(getattr(bundle, table)) for table in TABLES)
        with progress(total, "entries", verbosity=options["verbosity"]) as bar:
            imported = services.import_bundle(
                bundle=bundle, by=None, remove=options["remove"], progress=bar.update
            )
        report: dict[str, Any] = {
            "tables": {table: asdict(counts) for table, counts in imported.items()},
            "published": False,
            "release": None,
            "warnings": bundle.warnings,
            "dry_run": options["dry_run"],
        }
        if options["publish"]:
            # Bytes of the command line that are not UTF-8 cannot be stored.
            note = options["note"].encode("utf-8", "replace").decode("utf-8")
            try:
                report["release"] = publishing.publish(note=note, by=None).number
                report["published"] = not options["dry_run"]
            except publishing.NothingToPublishError as same:
                report["release"] = same.number
        transaction.set_rollback(options["dry_run"])
        return report


def _counted(tables: Mapping[str, Mapping[str, int]]) -> list[str]:
    return [
        f"{table}: {counts['added']:,} added, {counts['changed']:,} changed, "
        f"{counts['removed']:,} removed, {counts['unchanged']:,} unchanged"
        for table, counts in tables.items()
    ]


def _sentences(report: Mapping[str, Any]) -> str:
    lines = _counted(report["tables"])
    if report["dry_run"]:
        lines.append("Nothing was changed: this was a dry run.")
    elif report["published"]:
        lines.append(
            f"Published as release {report['release']}. New questions are answered from it after "
            f"{PATIENCE.seconds} seconds at the latest."
        )
    elif report["release"] is not None:
        lines.append(f"Nothing to publish: release {report['release']} is the same.")
    else:
        lines.append("Only the draft was changed; --publish makes a release of it.")
    return "\n".join(lines)
