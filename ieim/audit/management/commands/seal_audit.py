"""``manage.py seal_audit``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ieim.audit import seals
from ieim.audit.places import SealError, place


class Command(BaseCommand):
    """Take a checkpoint and keep it, signed, outside the database."""

    help = (
        "Take a checkpoint of the audit record, sign it with a key that neither web nor worker can "
        "read, and keep it in one or more places. Run it every five minutes as a user of its own. "
        "A place that could not be reached gets later what it misses. verify_audit --seals then "
        "finds a database that was truncated, replaced, or whose history was written anew. Exits 0 "
        "only when the seal is kept everywhere, and stamped where --tsa says so."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--key", type=Path, metavar="FILE", help="the private key (PEM)")
        parser.add_argument(
            "--to",
            action="append",
            metavar="PLACE",
            help="a file, s3://BUCKET/PREFIX (with AWS_ENDPOINT_URL, AWS_DEFAULT_REGION, "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), syslog:/dev/log or syslog:HOST:PORT "
            "(UDP); may be given several times",
        )
        parser.add_argument(
            "--retain-days",
            type=int,
            default=0,
            metavar="DAYS",
            help="with s3://: nobody, not even the bucket's owner, can remove a seal for so long; "
            "the bucket needs Object Lock",
        )
        parser.add_argument(
            "--tsa", default="", metavar="URL", help="a time-stamping authority (RFC 3161)"
        )
        parser.add_argument(
            "--make-key", type=Path, metavar="FILE", help="make a key, print its public one, end"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Seal; raises :class:`CommandError` where it was not kept everywhere."""
        try:
            if options["make_key"]:
                self.stdout.write(seals.make_key(options["make_key"]), ending="")
                return
            if not options["key"] or not options["to"]:
                raise SealError("--key and --to say how and where to seal")
            with seals.alone(options["key"]):
                key = seals.private_key(options["key"])
                places = [place(name, retain_days=options["retain_days"]) for name in options["to"]]
                line, faults = seals.seal(key, places, options["tsa"])
        except SealError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(line)
        if faults:
            raise CommandError("\n".join(faults))
