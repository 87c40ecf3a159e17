"""Seals: checkpoints that are signed with a key that no process of the site holds, and kept outside
the database.

A seal is one line: the RFC 8785 bytes of a checkpoint (``number``, ``at``, ``chains``, ``digest``)
with ``key``, the first 16 hex digits of the public key's SHA-256, and ``signature``, the Ed25519
signature (RFC 8032, hex) of these bytes without it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

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

from ieim.audit.checkpoints import summary
from ieim.audit.models import AuditCheckpoint


class SealError(Exception):
    """A key or a file of seals cannot be used; the message says which and what to do."""


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


def sealed(checkpoint: AuditCheckpoint, key: Ed25519PrivateKey) -> str:
    """Return the seal of a checkpoint."""
    told = {**summary(checkpoint), "key": _name(key.public_key())}
    return rfc8785.dumps({**told, "signature": key.sign(rfc8785.dumps(told)).hex()}).decode()


def append(line: str, path: Path) -> None:
    """Add a seal to a file, on the disk when this returns; raises :class:`SealError`."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise SealError(f"the seal was not written: {error}") from error


@dataclass(frozen=True, slots=True)
class Seals:
    """What a file of seals says: ``faults`` in a sentence each, ``newest`` the digest to expect."""

    faults: Sequence[str]
    newest: str


def compared(path: Path, key: Ed25519PublicKey) -> Seals:
    """Compare the seals of a file with the checkpoints that are stored.

    Each line has to be signed and numbered above the one before, and its checkpoint has to be
    stored as it was sealed. Raises :class:`SealError` for a file without a seal.
    """
    faults: list[str] = []
    newest, last = "", 0
    stored = {each.number: summary(each) for each in AuditCheckpoint.objects.all()}
    for place, line in _lines(path):
        told = _told(line, key)
        if told is None:
            faults.append(f"line {place} of the seals is not signed with this key, or was changed")
            continue
        number = told["number"]
        if number <= last:
            faults.append(f"line {place} of the seals is not after the one before it")
        last, newest = number, str(told["digest"])
        if stored.get(number) != told:
            faults.append(f"checkpoint {number} is not stored as it was sealed")
    if not newest and not faults:
        raise SealError(f"{path} has no seal: seal_audit writes one")
    return Seals(faults, newest)


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


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SealError(f"the seals cannot be read: {error}") from error
    return ((place, line) for place, line in enumerate(lines, start=1) if line.strip())


def _told(line: str, key: Ed25519PublicKey) -> Mapping[str, Any] | None:
    """Return the checkpoint that a seal tells of, None where it is not signed with ``key``."""
    try:
        told = json.loads(line)
        signature = bytes.fromhex(told.pop("signature"))
        key.verify(signature, rfc8785.dumps(told))
        del told["key"]
    except (ValueError, KeyError, TypeError, AttributeError, InvalidSignature):
        return None
    checkpoint: Mapping[str, Any] = told
    return checkpoint


def _name(key: Ed25519PublicKey) -> str:
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return sha256(raw).hexdigest()[:16]
