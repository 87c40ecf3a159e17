"""Checkpoints that are signed and kept outside: what an owner of the database cannot undo."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction

from ieim.audit.models import AuditCheckpoint, CheckpointHead
from ieim.audit.services import record
from tests.audit.owner import rewind, triggers_lifted
from tests.checks import ROOT

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


class Keeper:
    """Who holds the key and the file."""

    def __init__(self, folder: Path) -> None:
        self.key, self.public, self.file = (folder / name for name in ("key", "public", "seals"))
        out = StringIO()
        call_command("seal_audit", make_key=self.key, stdout=out)
        self.public.write_text(out.getvalue())

    def seal(self, **options: str) -> str:
        out = StringIO()
        call_command("seal_audit", key=self.key, to=self.file, stdout=out, **options)
        return out.getvalue().strip()

    def verify(self) -> str:
        """What verifying says, empty where all holds."""
        out = StringIO()
        try:
            call_command("verify_audit", seals=self.file, public_key=self.public, stdout=out)
        except CommandError as error:
            return f"{out.getvalue()}{error}"
        return ""


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return Keeper(tmp_path)


def happen() -> None:
    with transaction.atomic():
        record(chain=CHAIN, kind="a.b", payload={}, actor="system")


CHAIN = uuid4()


def forget(number: int) -> None:
    CheckpointHead.objects.filter(checkpoint_id=number)._raw_delete("default")
    AuditCheckpoint.objects.filter(pk=number)._raw_delete("default")


def truncate(keeper: Keeper) -> None:
    rewind(CHAIN, to=1)


def remove_a_checkpoint(keeper: Keeper) -> None:
    with triggers_lifted():
        forget(2)


def change_a_seal(keeper: Keeper) -> None:
    lines = keeper.file.read_text().splitlines()
    told = json.loads(lines[0]) | {"chains": 7}
    keeper.file.write_text("\n".join([json.dumps(told), *lines[1:]]))


def put_an_older_seal_last(keeper: Keeper) -> None:
    lines = keeper.file.read_text().splitlines()
    keeper.file.write_text("\n".join([*lines, lines[0]]))


def sign_with_another_key(keeper: Keeper) -> None:
    (keeper.file.parent / "other").mkdir()
    other = Keeper(keeper.file.parent / "other")
    other.file = keeper.file
    other.seal()


@pytest.mark.parametrize(
    "tamper",
    [truncate, remove_a_checkpoint, change_a_seal, put_an_older_seal_last, sign_with_another_key],
)
def test_it_finds_what_was_done_since_a_seal(
    keeper: Keeper, tamper: Callable[[Keeper], None]
) -> None:
    for _ in range(3):
        happen()
        keeper.seal()
    happen()
    assert keeper.verify() == ""
    with transaction.atomic():
        tamper(keeper)
        assert "does not hold" in keeper.verify()
        transaction.set_rollback(True)


def test_a_seal_goes_to_syslog_too(keeper: Keeper) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(10)
        line = keeper.seal(syslog=f"127.0.0.1:{server.getsockname()[1]}")
        assert line in server.recv(4096).decode()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"key": Path("/nowhere")}, "--to or --syslog"),
        ({"key": Path("/nowhere"), "to": Path("/nowhere")}, "cannot be read as a key"),
    ],
)
def test_it_says_what_is_missing_and_takes_no_checkpoint_that_it_cannot_sign(
    options: dict[str, Path], says: str
) -> None:
    with pytest.raises(CommandError, match=says):
        call_command("seal_audit", **options)


def test_a_key_is_never_overwritten_and_nobody_else_reads_it(keeper: Keeper) -> None:
    assert keeper.key.stat().st_mode & 0o077 == 0
    with pytest.raises(CommandError, match="no key was made"):
        call_command("seal_audit", make_key=keeper.key)


def test_a_file_without_a_seal_vouches_for_nothing(keeper: Keeper) -> None:
    keeper.file.touch()
    both = {"seals": keeper.file, "public_key": keeper.public}
    with pytest.raises(CommandError, match="has no seal"):
        call_command("verify_audit", **both)
    with pytest.raises(CommandError, match="leave --expect out"):
        call_command("verify_audit", **both, expect="0" * 64)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no roles")
def test_its_role_of_the_database_can_seal_and_nothing_else(keeper: Keeper) -> None:
    happen()
    text = (ROOT / "deploy/postgresql/audit.sql").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith(("--", "\\"))]
    # A cluster's roles outlive a database: the transaction takes this one back.
    script = "\n".join(lines).replace('"ieim-audit"', '"ieim-audit-test"')
    script = script.replace("DATABASE ieim", f'DATABASE "{connection.settings_dict["NAME"]}"')
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(script.replace('FOR ROLE "ieim-owner" ', ""))
        cursor.execute('SET LOCAL ROLE "ieim-audit-test"')
        keeper.seal()
        assert keeper.verify() == ""
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            cursor.execute("UPDATE conversations_turn SET state = 'closed'")
        transaction.set_rollback(True)
