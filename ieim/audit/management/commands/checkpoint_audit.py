"""``manage.py checkpoint_audit``."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ieim.audit.checkpoints import summary, take_checkpoint


class Command(BaseCommand):
    """Take a checkpoint and print it."""

    help = (
        "Take a checkpoint of the audit record: a digest over the last event of every chain. "
        "Keep the printed line where this database's owner cannot write. verify_audit then finds a "
        "chain, or the end of one, that was removed since; with --expect and the digest it finds a "
        "checkpoint that was changed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Take the checkpoint."""
        report = summary(take_checkpoint())
        if options["json"]:
            self.stdout.write(json.dumps(report))
            return
        self.stdout.write(
            "checkpoint {number} at {at} over {chains} chains: {digest}".format(**report)
        )
