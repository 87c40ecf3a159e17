"""Seals that a time-stamping authority has stamped: openssl's, over HTTP."""

from __future__ import annotations

import json
import shutil
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError

from ieim.audit.models import AuditCheckpoint, AuditEvent
from tests.audit.authority import Openssl, authority
from tests.audit.keeper import Keeper, happen

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed"),
]


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return Keeper(tmp_path)


@pytest.fixture
def tsa(tmp_path: Path) -> Iterator[Openssl]:
    with authority(tmp_path / "tsa") as running:
        yield running


def stamps(keeper: Keeper, change: Callable[[list[str]], None]) -> None:
    """Change the stamps in the file, which no seal is signed over."""
    lines = [json.loads(line) for line in keeper.lines()]
    found = [each["stamp"] for each in lines]
    change(found)
    told = [each | {"stamp": stamp} for each, stamp in zip(lines, found, strict=True)]
    keeper.file.write_text("".join(f"{json.dumps(each)}\n" for each in told))


def swap(found: list[str]) -> None:
    found.reverse()


def flip(found: list[str]) -> None:
    data = bytearray(b64decode(found[1]))
    data[-1] ^= 1
    found[1] = b64encode(data).decode()


def shorten(found: list[str]) -> None:
    found[1] = found[1][:100]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (swap, "the stamp of the seal of checkpoint 1 is of something else"),
        (flip, "the stamp of the seal of checkpoint 2 was changed, or is by an authority not giv"),
        (shorten, "the stamp of the seal of checkpoint 2 cannot be read"),
    ],
)
def test_a_stamp_is_of_its_seal_and_whole(
    keeper: Keeper, tsa: Openssl, change: Callable[[list[str]], None], says: str
) -> None:
    for _ in range(2):
        happen()
        keeper.seal(tsa=tsa.url)
    assert keeper.verify(tsa_chain=tsa.root) == ""
    stamps(keeper, change)
    assert says in keeper.verify(tsa_chain=tsa.root)
    assert keeper.verify() == ""  # the seals themselves hold


def test_anybody_can_check_a_stamp_with_openssl(keeper: Keeper, tsa: Openssl) -> None:
    told = json.loads(keeper.seal(tsa=tsa.url))
    (tsa.folder / "stamp").write_bytes(b64decode(told.pop("stamp")))
    (tsa.folder / "seal").write_text(json.dumps(told, separators=(",", ":"), sort_keys=True))
    tsa.run("ts", "-verify", "-data", "seal", "-in", "stamp", "-CAfile", "root.pem")


def test_another_authority_is_not_believed(keeper: Keeper, tsa: Openssl, tmp_path: Path) -> None:
    keeper.seal(tsa=tsa.url)
    other = Openssl(tmp_path / "other")
    assert "is by an authority not given" in keeper.verify(tsa_chain=other.root)
    assert "has no root" in keeper.verify(tsa_chain=tsa.folder / "tsa.pem")


def test_a_seal_is_kept_where_the_authority_is_away(keeper: Keeper, tsa: Openssl) -> None:
    keeper.seal(tsa=tsa.url)
    tsa.refuses = True
    with pytest.raises(CommandError, match=r"gave no stamp: .*503"):
        keeper.seal(tsa=tsa.url)
    assert "stamp" not in json.loads(keeper.lines()[1])
    assert AuditEvent.objects.filter(kind="audit.sealed").count() == 1
    assert keeper.verify(tsa_chain=tsa.root) == ""
    tsa.refuses = False
    keeper.seal(tsa=tsa.url)
    assert AuditEvent.objects.filter(kind="audit.sealed").count() == 2


def test_a_seal_that_was_stamped_at_another_time_is_found(
    keeper: Keeper, tsa: Openssl, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper.seal(tsa=tsa.url)
    # A keeper who holds the key says that it was earlier.
    first = AuditCheckpoint.objects.get().at
    monkeypatch.setattr("django.utils.timezone.now", lambda: first.replace(year=first.year - 1))
    keeper.seal(tsa=tsa.url)
    assert "and its stamp" in keeper.verify(tsa_chain=tsa.root)
