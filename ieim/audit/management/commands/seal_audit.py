"""``manage.py seal_audit``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ieim.audit import seals


class Command(BaseCommand):
    """Take a checkpoint and print it, signed."""

    help = (
        "Take a checkpoint of the audit record, sign it with a key that neither web nor worker can "
        "read, and print it as one line of JSON, the seal. Run it every five minutes as a user of "
        "its own, and keep the lines outside of the database: in a file, in the system's log, in "
        "storage elsewhere. verify_audit --seals then finds a database that was truncated, "
        "replaced, or whose history was written anew."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--key", type=Path, metavar="FILE", help="the private key (PEM)")
        parser.add_argument(
            "--to",
            type=Path,
            metavar="FILE",
            help="append the line to this file too; each seal then names the one before",
        )
        parser.add_argument(
            "--make-key", type=Path, metavar="FILE", help="make a key, print its public one, end"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Seal; raises :class:`CommandError` where no seal could be made or written."""
        try:
            if options["make_key"]:
                self.stdout.write(seals.create_key(options["make_key"]), ending="")
                return
            if not options["key"]:
                raise seals.SealError("--key names the private key: --make-key makes one")
            with seals.exclusive(options["key"]):
                key = seals.read_private_key(options["key"])
                seals.seal(key, options["to"], self.stdout.write)
        except seals.SealError as error:
            raise CommandError(str(error)) from error
