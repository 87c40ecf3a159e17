"""Who seals the record and verifies it: an account that is none of the site's."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from uuid import uuid4

from django.core.management import CommandError, call_command
from django.db import transaction

from ieim.audit.services import record

CHAIN = uuid4()


class Keeper:
    """Who holds the key and the file."""

    def __init__(self, folder: Path) -> None:
        self.key, self.public, self.file = (folder / name for name in ("key", "public", "seals"))
        out = StringIO()
        call_command("seal_audit", make_key=self.key, stdout=out)
        self.public.write_text(out.getvalue())

    def seal(self, *more: str, **options: object) -> str:
        """Seal to the file, unless ``to`` says otherwise, and to ``more``; return the seal."""
        out = StringIO()
        options = {"to": [str(self.file), *more], **options}
        call_command("seal_audit", key=self.key, stdout=out, **options)
        return out.getvalue().strip()

    def lines(self) -> list[str]:
        """What the file holds."""
        return self.file.read_text().splitlines()

    def refused(self, *more: str, **options: object) -> str:
        """What sealing says, where it fails."""
        try:
            self.seal(*more, **options)
        except CommandError as error:
            return str(error)
        raise AssertionError("it sealed")

    def verify(self, seals: str = "", **options: object) -> str:
        """What verifying the file, or another place, says; empty where all holds."""
        out = StringIO()
        try:
            call_command(
                "verify_audit",
                seals=seals or str(self.file),
                public_key=self.public,
                stdout=out,
                **options,
            )
        except CommandError as error:
            return f"{out.getvalue()}{error}"
        return ""


def happen() -> None:
    """Let something be recorded."""
    with transaction.atomic():
        record(chain=CHAIN, kind="a.b", payload={}, actor="system")
