"""Checkpoints that are signed and kept outside: what an owner of the database cannot undo."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from ieim.audit import seals
from ieim.audit.checkpoints import SEALED, greatest_sealed, last_sealed, missing_seal
from ieim.audit.models import SYSTEM_CHAIN, AuditCheckpoint, CheckpointHead
from ieim.audit.services import record
from tests.audit.owner import rewind, triggers_lifted
from tests.audit.sealing import CHAIN, Sealer, add_event

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

OLD_KEY = """-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAFwGnAgcsWEATWxtD995YrC+Song9xNYG7fZpPM0mG6k=
-----END PUBLIC KEY-----
"""
OLD_SEALS = (
    '{"at":"2026-11-21T07:40:00.000000Z","chains":3,"digest":"6b86b273ff34fce19d6b804eff5a3f5'
    '747ada4eaa22f1d49c01e52ddb7875b4b","key":"cd498facc5c88070","number":1,"signature":"cdc1'
    "8dc7ecfadddd23989370bd1e42ec75396317651d6562c4fa240f5e3fbab6a4e273179d1d041e724f20e1c676"
    'c9f4cbfa23ee21ca09415808f112e4419b04"}\n'
    '{"at":"2026-11-22T07:40:00.000000Z","chains":3,"digest":"d4735e3a265e16eee03f59718b9b5d0'
    '3019c07d8b6c51f90da3a666eec13ab35","key":"cd498facc5c88070","number":2,"previous":"b26d3'
    'cadf8a1a0e84e9b2088f4047b62bda704a75f1cfbeb9ffb4d74be96d482","signature":"38964b8b74a52a'
    "4ed6bb3b8db6e24aaffec97bec24bf93cc54c94f7c471e8acf649f2a0ce71c44d845c2ac4863f4e9b62aee7f"
    '5005e3b2e90b241f2649bcda09","stamp":"YW4gYW5zd2VyIG9mIGFuIGF1dGhvcml0eQ=="}\n'
    '{"at":"2026-11-23T07:40:00.000000Z","chains":3,"digest":"4e07408562bedb8b60ce05c1decfe3a'
    'd16b72230967de01f640b7e4729b49fce","key":"cd498facc5c88070","number":3,"previous":"08e1c'
    '31a1259d829c6215211b081cffbb6b228fddad52f3f9dd65e149fdf0943","signature":"68e363d707c76b'
    "2dda291ca8ffd3d8b22a42616e18ea0eb94f444a3c18d56ac93171276d095e231f85e783d631cf5358491738"
    '4907037ffe18e98cf13e920f00"}\n'
)
"""Older seals: the first without ``previous``, the second with a stamp."""


@pytest.fixture
def sealer(tmp_path: Path) -> Sealer:
    return Sealer(tmp_path)


def truncate(sealer: Sealer) -> None:
    rewind(CHAIN, to=1)


def remove_a_checkpoint(sealer: Sealer) -> None:
    with triggers_lifted():
        CheckpointHead.objects.filter(checkpoint_id=2)._raw_delete("default")
        AuditCheckpoint.objects.filter(pk=2)._raw_delete("default")


def change_a_seal(sealer: Sealer) -> None:
    lines = sealer.file.read_text().splitlines()
    fields = json.loads(lines[0]) | {"chains": 7}
    sealer.file.write_text("\n".join([json.dumps(fields), *lines[1:]]))


def put_an_older_seal_last(sealer: Sealer) -> None:
    lines = sealer.file.read_text().splitlines()
    sealer.file.write_text("\n".join([*lines, lines[0]]))


def sign_with_another_key(sealer: Sealer) -> None:
    folder = sealer.file.parent / "other"
    folder.mkdir()
    with sealer.file.open("a") as file:
        file.write(f"{Sealer(folder).seal()}\n")


def remove_line(sealer: Sealer, index: int) -> None:
    lines = sealer.file.read_text().splitlines(keepends=True)
    del lines[index]
    sealer.file.write_text("".join(lines))


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (truncate, "is not there as checkpoint"),
        (remove_a_checkpoint, "checkpoint 2 is not stored as it was sealed"),
        (change_a_seal, "line 1 of the seals is not signed with this key, or was changed"),
        (put_an_older_seal_last, "line 4 of the seals is not after the one before it"),
        (sign_with_another_key, "line 4 of the seals is not signed with this key"),
        (lambda sealer: remove_line(sealer, 1), "line 2 of the seals: the seal before that of"),
        (lambda sealer: remove_line(sealer, 0), "line 1 of the seals: the seal before that of"),
        (lambda sealer: remove_line(sealer, -1), "the record says that checkpoint 3 was sealed"),
    ],
)
def test_it_finds_what_was_done_since_a_seal(
    sealer: Sealer, tamper: Callable[[Sealer], None], message: str
) -> None:
    for _ in range(3):
        add_event()
        sealer.seal()
    assert sealer.verify(nothing_since=True) == ""
    add_event()
    assert "1 events were added" in sealer.verify(nothing_since=True)
    assert sealer.verify() == ""
    with transaction.atomic():
        tamper(sealer)
        assert message in sealer.verify()
        transaction.set_rollback(True)


@pytest.mark.parametrize("chain", [CHAIN, SYSTEM_CHAIN])
def test_no_event_that_somebody_adds_hides_that_seals_are_gone_or_old(
    sealer: Sealer, monkeypatch: pytest.MonkeyPatch, chain: UUID
) -> None:
    sealer.seal()
    sealer.seal()
    sealed = last_sealed()
    with monkeypatch.context() as patch:
        patch.setattr(timezone, "now", lambda: datetime(2099, 1, 1, tzinfo=UTC))
        with transaction.atomic():
            record(chain=chain, kind=SEALED, payload={"number": 1}, actor="system")
    remove_line(sealer, -1)
    assert "checkpoint 2 was sealed, and the newest seal" in sealer.verify()
    assert "which has not come" in sealer.verify()
    if chain == CHAIN:
        assert last_sealed() == sealed
    else:
        assert "from the future" in missing_seal()


def test_a_seal_that_is_written_while_the_file_is_read_is_no_fault(
    sealer: Sealer, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealer.seal()

    def seal_meanwhile() -> int:
        number = greatest_sealed()
        sealer.seal()
        return number

    monkeypatch.setattr(seals, "greatest_sealed", seal_meanwhile)
    assert sealer.verify() == ""
    assert len(sealer.file.read_text().splitlines()) == 2


def test_it_does_not_seal_a_database_that_is_not_the_one_it_sealed(sealer: Sealer) -> None:
    sealer.seal()
    sealer.seal()
    with transaction.atomic():
        remove_a_checkpoint(sealer)
        assert "checkpoint 2 is not stored as it was sealed" in sealer.refusal()
        assert AuditCheckpoint.objects.count() == 1
        transaction.set_rollback(True)


def test_a_seal_that_was_printed_alone_verifies_from_a_log(sealer: Sealer) -> None:
    lines = [sealer.seal(to_file=False) for _ in range(2)]
    assert not sealer.file.exists()
    sealer.file.write_text("".join(f"{line}\n" for line in lines))
    assert sealer.verify() == ""
    sealer.file.write_text(f"{lines[0]}\n")
    assert "the record says that checkpoint 2 was sealed" in sealer.verify()


def test_a_line_that_was_cut_off_is_no_seal_and_harms_none(sealer: Sealer) -> None:
    sealer.seal()
    with sealer.file.open("a") as file:
        file.write('{"at":"2026-')
    sealer.seal()
    assert sealer.verify() == ""
    assert len(sealer.file.read_text().splitlines()) == 2


def test_only_one_process_seals_at_a_time(sealer: Sealer) -> None:
    with seals.exclusive(sealer.key):
        assert "somebody else is sealing" in sealer.refusal()
    assert not AuditCheckpoint.objects.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [({}, "--key names"), ({"key": Path("/nowhere")}, "cannot be read as a key")],
)
def test_it_says_what_is_missing(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("seal_audit", **options)


def test_a_key_is_never_overwritten_and_nobody_else_reads_it(sealer: Sealer) -> None:
    assert sealer.key.stat().st_mode & 0o077 == 0
    with pytest.raises(CommandError, match="no key was made"):
        call_command("seal_audit", make_key=sealer.key)


def test_a_file_without_a_seal_proves_nothing(sealer: Sealer) -> None:
    sealer.file.touch()
    assert "has no seal" in sealer.verify()
    assert "leave --expect out" in sealer.verify(expect="0" * 64)


def test_seals_of_before_still_verify(sealer: Sealer) -> None:
    """A checkpoint of then is stored, and its seal has no ``previous`` or has a time stamp."""
    sealer.public.write_text(OLD_KEY)
    sealer.file.write_text(OLD_SEALS)
    for line in OLD_SEALS.splitlines():
        fields = json.loads(line)
        AuditCheckpoint.objects.create(
            number=fields["number"],
            at=datetime.fromisoformat(fields["at"]),
            chains=fields["chains"],
            digest=fields["digest"],
        )
    report = seals.verify_seals(sealer.file, seals.read_public_key(sealer.public))
    assert (report.faults, report.count) == ([], 3)
