"""Seals: checkpoints that are signed with a key that no process of the site holds, and kept outside
the database.

A seal is one line: the RFC 8785 bytes of a checkpoint (``number``, ``at``, ``chains``, ``digest``)
with ``previous``, the SHA-256 (hex) of the seal before it, empty for the first; ``key``, the first
16 hex digits of the public key's SHA-256; and ``signature``, the Ed25519 signature (RFC 8032, hex)
of these bytes without it. ``stamp``, where there is one, is the answer of a time-stamping authority
(RFC 3161, base64) to the seal's bytes without it; ``previous`` leaves it out too. Seals of before
there was ``previous`` have none, and neither has one that went to syslog alone.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

import rfc8785
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from django.db import transaction
from django.db.models import Max

from ieim.audit.checkpoints import SEALED, greatest_sealed, summary, take_checkpoint
from ieim.audit.models import AuditCheckpoint
from ieim.audit.places import Place, SealError
from ieim.audit.services import record_system
from ieim.audit.stamps import Authority, stamped

AGAIN: Final = "After a backup was restored, seal to a new file and a new prefix."
_APART: Final = timedelta(minutes=10)
"""How far the time of a stamp may be from its seal's; it is asked for within seconds."""


def make_key(path: Path) -> str:
    """Write a new private key to ``path`` (PEM, PKCS 8, mode 600) and return its public one (PEM).

    Raises :class:`SealError` where something is there already.
    """
    key = Ed25519PrivateKey.generate()
    data = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise SealError(f"no key was made: {error}") from error
    with os.fdopen(opened, "wb") as file:
        file.write(data)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return public.decode()


class Sealing(NamedTuple):
    """A new seal; ``faults`` has a sentence for each place without it, and for a missing stamp."""

    line: str
    faults: list[str]


def seal(key: Ed25519PrivateKey, places: Sequence[Place], authority: str = "") -> Sealing:
    """Take a checkpoint, sign it, and keep it in every place that can be reached.

    A place that could not be reached before gets what it misses from the one that has most.
    ``authority`` is the address of a time-stamping authority. Once all is done, the record says so.
    Raises :class:`SealError`, and takes no checkpoint, where no place can be reached, and where the
    database is not the one that was sealed last.
    """
    faults: list[str] = []
    about = AuditCheckpoint.objects.aggregate(last=Max("number"))["last"] or 0
    reached: list[tuple[Place, _Seal | None]] = []
    for place in places:
        with _noted(faults):
            reached.append((place, _newest(place, about, key.public_key())))
    if not reached:
        raise SealError("\n".join(faults))
    readable = [(place, last) for place, last in reached if last]
    source, newest = max(readable, key=lambda each: each[1].number, default=(None, None))
    if newest and newest.signed and _stored(newest.number).get(newest.number) != newest.told:
        raise SealError(
            f"checkpoint {newest.number} is not stored as it was sealed: the database was changed, "
            "or it is another or an older one. Look with verify_audit --seals; after a backup was "
            "restored, seal to a new file and a new prefix."
        )
    checkpoint = take_checkpoint()
    line = _signed(checkpoint, key, newest)
    if authority:
        with _noted(faults):
            stamp = stamped(line.encode(), authority)
            line = rfc8785.dumps({**json.loads(line), "stamp": stamp}).decode()
    for place, last in reached:
        with _noted(faults):
            if source and newest and last and last.number < newest.number:
                for missed in source.after(last.number):
                    place.keep(json.loads(missed)["number"], missed)
            place.keep(checkpoint.number, line)
    if not faults:
        with transaction.atomic():
            record_system(kind=SEALED, payload={"number": checkpoint.number}, actor="system")
    return Sealing(line, faults)


@contextmanager
def alone(key: Path) -> Iterator[None]:
    """Hold the key's file, so that nobody else seals with it; raises :class:`SealError`."""
    try:
        file = key.open("rb")
    except OSError as error:
        raise SealError(f"{key} cannot be read as a key: {error}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SealError(f"somebody else is sealing with {key}: try again later") from error
        yield


@contextmanager
def _noted(faults: list[str]) -> Iterator[None]:
    try:
        yield
    except SealError as error:
        faults.append(str(error))


@dataclass(slots=True)
class Seals:
    """What a place says.

    ``faults`` in a sentence each; ``newest`` the digest to expect, ``at`` of which time; how many
    there are, how many of them stamped, ``stamped_at`` the newest stamp's time, and how many seals
    came after it.
    """

    faults: list[str]
    newest: str = ""
    at: str = ""
    count: int = 0
    stamped: int = 0
    stamped_at: str | None = None
    unstamped_since: int = 0


def compared(place: Place, key: Ed25519PublicKey, authority: Authority | None = None) -> Seals:
    """Compare the seals of a place with the checkpoints that are stored.

    Each has to be signed, to follow the one before, and its checkpoint to be stored as it was
    sealed; what the record says was sealed has to be there; with an ``authority`` each stamp has to
    be by it and of its seal. Raises :class:`SealError` for a place without a seal.
    """
    # Read first: while the seals are read another may be written.
    recorded = greatest_sealed()
    stored: Mapping[int, Mapping[str, Any]] = {}
    found = Seals([])
    before: _Seal | None = _NONE_YET
    last = 0
    for where, line, fault in place.kept():
        if fault:
            found.faults.append(fault)
        each = _parsed(line, key)
        if each is None:
            found.faults.append(f"{where} is not signed with this key, or was changed")
            before = None
            continue
        if each.number <= last:
            found.faults.append(f"{where} is not after the one before it")
        elif before and each.previous is not None and each.previous != before.digest:
            found.faults.append(
                f"{where}: the seal before that of checkpoint {each.number} is gone"
            )
        if each.number not in stored:
            stored = _stored(each.number)
        if stored.get(each.number) != each.told:
            found.faults.append(f"checkpoint {each.number} is not stored as it was sealed")
        last, before = each.number, each
        found.newest, found.at = str(each.told["digest"]), str(each.told["at"])
        _count(found, each, authority)
    if not found.newest and not found.faults:
        raise SealError(f"{place.name} has no seal: seal_audit writes one")
    if recorded > last:
        found.faults.append(
            f"the record says that checkpoint {recorded} was sealed, and the newest seal in "
            f"{place.name} is that of {last}"
        )
    return found


def _count(found: Seals, each: _Seal, authority: Authority | None) -> None:
    found.count += 1
    found.unstamped_since += 1
    if not each.stamp:
        return
    found.stamped += 1
    found.unstamped_since = 0
    if authority is None:
        return
    try:
        at = authority.time(each.signed, each.stamp)
    except SealError as error:
        found.faults.append(f"the stamp of the seal of checkpoint {each.number} {error}")
        return
    found.stamped_at = at.isoformat()
    if abs(at - datetime.fromisoformat(each.told["at"])) > _APART:
        found.faults.append(
            f"the seal of checkpoint {each.number} says {each.told['at']}, and its stamp {at}"
        )


def private_key(path: Path) -> Ed25519PrivateKey:
    """Read a private key; raises :class:`SealError`."""
    found = _loaded(path, lambda data: load_pem_private_key(data, password=None))
    if not isinstance(found, Ed25519PrivateKey):
        raise SealError(f"{path} is no Ed25519 private key: seal_audit --make-key makes one")
    return found


def public_key(path: Path) -> Ed25519PublicKey:
    """Read a public key; raises :class:`SealError`."""
    found = _loaded(path, load_pem_public_key)
    if not isinstance(found, Ed25519PublicKey):
        raise SealError(f"{path} is no Ed25519 public key: seal_audit --make-key prints it")
    return found


def _loaded(path: Path, load: Any) -> object:
    try:
        return load(path.read_bytes())
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise SealError(f"{path} cannot be read as a key: {error}") from error


@dataclass(frozen=True, slots=True)
class _Seal:
    told: Mapping[str, Any]
    previous: str | None
    signed: bytes
    stamp: str

    @property
    def number(self) -> int:
        return int(self.told["number"])

    @property
    def digest(self) -> str:
        """What the next seal names as its ``previous``."""
        return sha256(self.signed).hexdigest() if self.signed else ""


_NONE_YET = _Seal({"number": 0}, None, b"", "")


def _newest(place: Place, about: int, key: Ed25519PublicKey) -> _Seal | None:
    line = place.newest(about)
    if line is None:
        return None
    found = _parsed(line, key) if line else _NONE_YET
    if found is None:
        raise SealError(
            f"the newest seal in {place.name} was changed, or another key signed it: look with "
            "verify_audit --seals; for a new key seal to a new file and a new prefix"
        )
    return found


def _stored(first: int) -> Mapping[int, Mapping[str, Any]]:
    """Return what is stored of a thousand checkpoints from ``first`` on, by number."""
    found = AuditCheckpoint.objects.filter(number__range=(first, first + 999))
    return {each.number: summary(each) for each in found}


def _signed(checkpoint: AuditCheckpoint, key: Ed25519PrivateKey, before: _Seal | None) -> str:
    told = {**summary(checkpoint), "key": name_of(key.public_key())}
    if before:
        told["previous"] = before.digest
    return rfc8785.dumps({**told, "signature": key.sign(rfc8785.dumps(told)).hex()}).decode()


def _parsed(line: str, key: Ed25519PublicKey) -> _Seal | None:
    """Return what a line says, None where it is no seal or not signed with ``key``."""
    try:
        told = json.loads(line)
        stamp = str(told.pop("stamp", ""))
        signed = rfc8785.dumps(told)
        signature = bytes.fromhex(told.pop("signature"))
        key.verify(signature, rfc8785.dumps(told))
        del told["key"]
        return _Seal(told, told.pop("previous", None), signed, stamp)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidSignature):
        return None


def name_of(key: Ed25519PublicKey) -> str:
    """Return what a seal calls its key: the first 16 hex digits of the SHA-256 of its bytes."""
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return sha256(raw).hexdigest()[:16]
