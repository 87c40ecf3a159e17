"""An account that seals the record and verifies it, which is none of the site's."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from uuid import uuid4

from django.core.management import CommandError, call_command
from django.db import transaction

from ieim.audit.services import record

CHAIN = uuid4()


class Sealer:
    """The holder of a key and a file of seals, by the commands alone."""

    def __init__(self, folder: Path) -> None:
        self.key, self.public, self.file = (folder / name for name in ("key", "public", "seals"))
        out = StringIO()
        call_command("seal_audit", make_key=self.key, stdout=out)
        self.public.write_text(out.getvalue())

    def seal(self, *, to_file: bool = True) -> str:
        """Return the seal that was printed."""
        out = StringIO()
        options = {"to": self.file} if to_file else {}
        call_command("seal_audit", key=self.key, stdout=out, **options)
        return out.getvalue().strip()

    def refusal(self) -> str:
        """Return the error of sealing."""
        try:
            self.seal()
        except CommandError as error:
            return str(error)
        raise AssertionError("it sealed")

    def verify(self, **options: object) -> str:
        """Return the output of verifying against the file; empty where all holds."""
        out = StringIO()
        try:
            call_command(
                "verify_audit", seals=self.file, public_key=self.public, stdout=out, **options
            )
        except CommandError as error:
            return f"{out.getvalue()}{error}"
        return ""


def add_event() -> None:
    """Record an event."""
    with transaction.atomic():
        record(chain=CHAIN, kind="a.b", payload={}, actor="system")
