"""Seals: checkpoints signed with a key that no process of the site holds, one JSON line each.

A seal is the RFC 8785 bytes of a checkpoint (``number``, ``at``, ``chains``, ``digest``) with
``previous``, the SHA-256 (hex) of the seal before it in the same file, empty for the first;
``key``, the first 16 hex digits of the public key's SHA-256; and ``signature``, the Ed25519
signature (RFC 8032, hex) of these bytes without it. Seals that were only printed have no
``previous``. A member ``stamp``, which older seals may have, is ignored.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final

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

from ieim.audit.checkpoints import SEALED, greatest_sealed, summary, take_checkpoint
from ieim.audit.models import AuditCheckpoint
from ieim.audit.services import record_system

_LONGEST: Final = 64 * 1024  # bytes of a line; older seals may have a stamp


class SealError(Exception):
    """A key or a file of seals cannot be used; the message says which and what to do."""


def create_key(path: Path) -> str:
    """Write a new private key to ``path`` (PEM, PKCS 8, mode 600) and return its public key (PEM).

    Raises:
        SealError: there is a file already, or it cannot be written.
    """
    key = Ed25519PrivateKey.generate()
    data = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise SealError(f"no key was made: {error}") from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return public.decode()


def read_private_key(path: Path) -> Ed25519PrivateKey:
    """Return the private key in a file; raises SealError."""
    key = _read_key(path, lambda data: load_pem_private_key(data, password=None))
    if not isinstance(key, Ed25519PrivateKey):
        raise SealError(f"{path} is no Ed25519 private key: seal_audit --make-key makes one")
    return key


def read_public_key(path: Path) -> Ed25519PublicKey:
    """Return the public key in a file; raises SealError."""
    key = _read_key(path, load_pem_public_key)
    if not isinstance(key, Ed25519PublicKey):
        raise SealError(f"{path} is no Ed25519 public key: seal_audit --make-key prints it")
    return key


def _read_key(path: Path, load: Callable[[bytes], object]) -> object:
    try:
        return load(path.read_bytes())
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise SealError(f"{path} cannot be read as a key: {error}") from error


def key_id(key: Ed25519PublicKey) -> str:
    """Return the id of a key in seals: the first 16 hex digits of the SHA-256 of its bytes."""
    return sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:16]


@contextmanager
def exclusive(key_path: Path) -> Iterator[None]:
    """Lock the key's file, so that only one process seals with it; raises SealError."""
    try:
        file = key_path.open("rb")
    except OSError as error:
        raise SealError(f"{key_path} cannot be read as a key: {error}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SealError(f"somebody else is sealing with {key_path}: try again later") from error
        yield


def seal(key: Ed25519PrivateKey, path: Path | None, output: Callable[[str], object]) -> None:
    """Take a checkpoint, sign it, append the line to ``path``, if any, and pass it to ``output``.

    Afterwards an event records that the checkpoint was sealed.

    Raises:
        SealError: the file cannot be read or written, or its last seal is not of this database;
            in the last case no checkpoint is taken.
    """
    last = _last_seal(path, key.public_key()) if path else None
    if last and last.signed and _stored_checkpoints(last.number).get(last.number) != last.fields:
        raise SealError(
            f"checkpoint {last.number} is not stored as it was sealed: the database was changed, "
            "or it is another or an older one. Look with verify_audit --seals; after a backup was "
            "restored, seal to a new file."
        )
    checkpoint = take_checkpoint()
    line = _sign(checkpoint, key, last)
    if path:
        _append(path, line)
    output(line)
    with transaction.atomic():
        record_system(kind=SEALED, payload={"number": checkpoint.number}, actor="system")


@dataclass(slots=True)
class SealReport:
    """The result of comparing a file of seals with the stored checkpoints.

    ``faults`` are sentences, ``newest`` is the digest of the newest seal and ``at`` its time.
    """

    faults: list[str] = field(default_factory=list)
    newest: str = ""
    at: str = ""
    count: int = 0


def verify_seals(path: Path, key: Ed25519PublicKey) -> SealReport:
    """Compare the seals in a file with the stored checkpoints.

    Each seal has to be signed with ``key`` and to follow the one before, and its checkpoint has to
    be stored as it was sealed. The newest checkpoint that the record calls sealed has to be among
    them.

    Raises:
        SealError: the file cannot be read, or has no seal.
    """
    # Read first: another seal may be written while the file is read.
    recorded = greatest_sealed()
    report = SealReport()
    checkpoints: Mapping[int, Mapping[str, Any]] = {}
    previous: _Seal | None = _NO_SEAL
    number = 0
    with _opened(path, "rb") as file:
        for position, line in enumerate(file, start=1):
            if not line.strip():
                continue
            where = f"line {position} of the seals"
            seal = _parse(line, key)
            if seal is None:
                report.faults.append(f"{where} is not signed with this key, or was changed")
                previous = None
                continue
            if seal.number <= number:
                report.faults.append(f"{where} is not after the one before it")
            elif previous and seal.previous is not None and seal.previous != previous.digest:
                report.faults.append(
                    f"{where}: the seal before that of checkpoint {seal.number} is gone"
                )
            if seal.number not in checkpoints:
                checkpoints = _stored_checkpoints(seal.number)
            if checkpoints.get(seal.number) != seal.fields:
                report.faults.append(f"checkpoint {seal.number} is not stored as it was sealed")
            number, previous = seal.number, seal
            report.newest, report.at = str(seal.fields["digest"]), str(seal.fields["at"])
            report.count += 1
    if not report.count and not report.faults:
        raise SealError(f"{path} has no seal: seal_audit writes one")
    if recorded > number:
        report.faults.append(
            f"the record says that checkpoint {recorded} was sealed, and the newest seal in "
            f"{path} is that of {number}"
        )
    return report


@dataclass(frozen=True, slots=True)
class _Seal:
    fields: Mapping[str, Any]
    previous: str | None
    signed: bytes

    @property
    def number(self) -> int:
        return int(self.fields["number"])

    @property
    def digest(self) -> str:
        """The ``previous`` of the next seal."""
        return sha256(self.signed).hexdigest() if self.signed else ""


_NO_SEAL: Final = _Seal({"number": 0}, None, b"")
"""The seal before the first one."""


def _last_seal(path: Path, key: Ed25519PublicKey) -> _Seal:
    if not path.exists():
        return _NO_SEAL
    with _opened(path, "rb") as file:
        whole_lines, _, _ = _tail(file).rpartition(b"\n")
    if not whole_lines:
        return _NO_SEAL
    seal = _parse(whole_lines.rpartition(b"\n")[2], key)
    if seal is None:
        raise SealError(
            f"the newest seal in {path} was changed, or another key signed it: look with "
            "verify_audit --seals; for a new key seal to a new file"
        )
    return seal


def _stored_checkpoints(first: int) -> Mapping[int, Mapping[str, Any]]:
    """Return the summaries of a thousand stored checkpoints from ``first`` on, by number."""
    checkpoints = AuditCheckpoint.objects.filter(number__range=(first, first + 999))
    return {checkpoint.number: summary(checkpoint) for checkpoint in checkpoints}


def _sign(checkpoint: AuditCheckpoint, key: Ed25519PrivateKey, last: _Seal | None) -> str:
    fields = {**summary(checkpoint), "key": key_id(key.public_key())}
    if last:
        fields["previous"] = last.digest
    return rfc8785.dumps({**fields, "signature": key.sign(rfc8785.dumps(fields)).hex()}).decode()


def _parse(line: bytes, key: Ed25519PublicKey) -> _Seal | None:
    """Return the seal in a line, None where there is none or ``key`` did not sign it."""
    try:
        fields = json.loads(line)
        fields.pop("stamp", None)
        signed = rfc8785.dumps(fields)
        signature = bytes.fromhex(fields.pop("signature"))
        key.verify(signature, rfc8785.dumps(fields))
        del fields["key"]
        return _Seal(fields, fields.pop("previous", None), signed)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidSignature):
        return None


def _append(path: Path, line: str) -> None:
    """Append a line to a file and wait until it is on the disk."""
    with _opened(path, "a+b") as file:
        tail = _tail(file)
        if tail and not tail.endswith(b"\n"):
            # The rest of a line that a power failure cut off; no event calls it sealed.
            file.truncate(file.tell() - len(tail) + tail.rfind(b"\n") + 1)
        file.write(f"{line}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def _tail(file: BinaryIO) -> bytes:
    """Return the end of a file, longer than any seal, and leave the position at its end."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - _LONGEST - 1))
    return file.read()


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[BinaryIO]:
    try:
        with path.open(mode) as file:
            yield file  # type: ignore[misc]  # the mode is always a binary one
    except OSError as error:
        raise SealError(f"the seals in {path} cannot be read or written: {error}") from error
