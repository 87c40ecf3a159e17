"""Checkpoints that are signed and kept outside: what an owner of the database cannot undo."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from ieim.audit import places, seals
from ieim.audit.checkpoints import SEALED, last_sealed
from ieim.audit.models import SYSTEM_CHAIN, AuditCheckpoint, CheckpointHead
from ieim.audit.services import record
from ieim.config import doctor
from ieim.config.monitoring.gauges import _seals
from tests.audit.keeper import CHAIN, Keeper, happen
from tests.audit.owner import rewind, triggers_lifted

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return Keeper(tmp_path)


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
    other = Keeper(keeper.file.parent / "other").seal()
    with keeper.file.open("a") as file:
        file.write(f"{other}\n")


def remove_a_seal(keeper: Keeper) -> None:
    lines = keeper.file.read_text().splitlines(keepends=True)
    keeper.file.write_text("".join([lines[0], *lines[2:]]))


def remove_the_first_seal(keeper: Keeper) -> None:
    lines = keeper.file.read_text().splitlines(keepends=True)
    keeper.file.write_text("".join(lines[1:]))


def remove_the_last_seal(keeper: Keeper) -> None:
    lines = keeper.file.read_text().splitlines(keepends=True)
    keeper.file.write_text("".join(lines[:-1]))


@pytest.mark.parametrize(
    ("tamper", "says"),
    [
        (truncate, "is not there as checkpoint"),
        (remove_a_checkpoint, "checkpoint 2 is not stored as it was sealed"),
        (change_a_seal, "line 1 of the seals is not signed with this key, or was changed"),
        (put_an_older_seal_last, "line 4 of the seals is not after the one before it"),
        (sign_with_another_key, "line 4 of the seals is not signed with this key"),
        (remove_a_seal, "line 2 of the seals: the seal before that of checkpoint 3 is gone"),
        (remove_the_first_seal, "line 1 of the seals: the seal before that of checkpoint 2"),
        (remove_the_last_seal, "the record says that checkpoint 3 was sealed, and the newest seal"),
    ],
)
def test_it_finds_what_was_done_since_a_seal(
    keeper: Keeper, tamper: Callable[[Keeper], None], says: str
) -> None:
    for _ in range(3):
        happen()
        keeper.seal()
    assert keeper.verify(nothing_since=True) == ""
    happen()
    assert "1 events were added" in keeper.verify(nothing_since=True)
    assert keeper.verify() == ""
    with transaction.atomic():
        tamper(keeper)
        assert says in keeper.verify()
        transaction.set_rollback(True)


@pytest.mark.parametrize("chain", [CHAIN, SYSTEM_CHAIN])
def test_no_event_that_somebody_adds_hides_that_seals_are_gone_or_old(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch, chain: UUID
) -> None:
    keeper.seal()
    keeper.seal()
    sealed = last_sealed()
    with monkeypatch.context() as patch:
        patch.setattr(timezone, "now", lambda: datetime(2099, 1, 1, tzinfo=UTC))
        with transaction.atomic():
            record(chain=chain, kind=SEALED, payload={"number": 1}, actor="system")
    remove_the_last_seal(keeper)
    assert "checkpoint 2 was sealed, and the newest seal" in keeper.verify()
    assert "which has not come" in keeper.verify()
    if chain == CHAIN:
        assert last_sealed() == sealed
    else:
        assert not next(doctor.seals()).good
        (sample,) = _seals(timezone.now()).samples
        assert sample.value > 900


def test_a_seal_that_is_written_while_it_reads_is_no_fault(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper.seal()
    kept = places.File.kept

    def meanwhile(place: places.File) -> Iterator[places.Kept]:
        monkeypatch.undo()
        keeper.seal()
        return kept(place)

    monkeypatch.setattr(places.File, "kept", meanwhile)
    assert keeper.verify() == ""
    assert len(keeper.lines()) == 2


def test_it_does_not_seal_a_database_that_is_not_the_one_it_sealed(keeper: Keeper) -> None:
    keeper.seal()
    keeper.seal()
    with transaction.atomic():
        remove_a_checkpoint(keeper)
        assert "checkpoint 2 is not stored as it was sealed" in keeper.refused()
        assert AuditCheckpoint.objects.count() == 1
        transaction.set_rollback(True)


def test_a_line_that_was_torn_is_no_seal_and_harms_none(keeper: Keeper) -> None:
    keeper.seal()
    with keeper.file.open("a") as file:
        file.write('{"at":"2026-')
    keeper.seal()
    assert keeper.verify() == ""
    assert len(keeper.file.read_text().splitlines()) == 2


def test_two_do_not_seal_at_once(keeper: Keeper) -> None:
    with seals.alone(keeper.key):
        assert "somebody else is sealing" in keeper.refused()
    assert not AuditCheckpoint.objects.exists()


def test_a_seal_goes_to_syslog_too(keeper: Keeper) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(10)
        line = keeper.seal(f"syslog:127.0.0.1:{server.getsockname()[1]}")
        assert line in server.recv(4096).decode()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"key": Path("/nowhere")}, "--key and --to say"),
        ({"key": Path("/nowhere"), "to": ["/nowhere"]}, "cannot be read as a key"),
    ],
)
def test_it_says_what_is_missing_and_takes_no_checkpoint_that_it_cannot_sign(
    options: dict[str, Any], says: str
) -> None:
    with pytest.raises(CommandError, match=says):
        call_command("seal_audit", **options)


def test_a_key_is_never_overwritten_and_nobody_else_reads_it(keeper: Keeper) -> None:
    assert keeper.key.stat().st_mode & 0o077 == 0
    with pytest.raises(CommandError, match="no key was made"):
        call_command("seal_audit", make_key=keeper.key)


def test_a_file_without_a_seal_vouches_for_nothing(keeper: Keeper) -> None:
    keeper.file.touch()
    both = {"seals": str(keeper.file), "public_key": keeper.public}
    with pytest.raises(CommandError, match="has no seal"):
        call_command("verify_audit", **both)
    with pytest.raises(CommandError, match="leave --expect out"):
        call_command("verify_audit", **both, expect="0" * 64)
