"""``manage.py seal_audit``."""

from __future__ import annotations

import logging
from logging.handlers import SysLogHandler
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ieim.audit import seals
from ieim.audit.checkpoints import take_checkpoint
from ieim.audit.seals import SealError


class Command(BaseCommand):
    """Take a checkpoint and keep it, signed, outside the database."""

    help = (
        "Take a checkpoint of the audit record, sign it with a key that neither web nor worker can "
        "read, and add it to a file, to syslog, or to both. Run it every five minutes as a user of "
        "its own. verify_audit --seals then finds a database that was truncated, replaced, or "
        "whose history was written anew."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--key", type=Path, metavar="FILE", help="the private key (PEM)")
        parser.add_argument("--to", type=Path, metavar="FILE", help="the file of seals")
        parser.add_argument(
            "--syslog", metavar="ADDRESS", help="/dev/log, or HOST:PORT of a syslog server (UDP)"
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
            if not options["key"] or not (options["to"] or options["syslog"]):
                raise SealError("--key, and --to or --syslog, say how and where to seal")
            syslog = _syslog(options["syslog"]) if options["syslog"] else None
            key = seals.private_key(options["key"])
            line = seals.sealed(take_checkpoint(), key)
            if options["to"]:
                seals.append(line, options["to"])
            if syslog is not None:
                syslog.emit(logging.makeLogRecord({"msg": line, "levelno": logging.INFO}))
                syslog.close()
        except SealError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(line)


def _syslog(address: str) -> SysLogHandler:
    host, separator, port = address.rpartition(":")
    if separator and not port.isdecimal():
        raise SealError(f"{address} is no address of syslog: a path, or HOST:PORT")
    try:
        handler = SysLogHandler(address=(host, int(port)) if separator else address)
    except OSError as error:
        raise SealError(f"syslog cannot be reached at {address}: {error}") from error
    handler.ident = "ieim-seal: "
    return handler
