"""The bytes that are hashed: RFC 8785 (JSON Canonicalization Scheme) over plain JSON values."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from math import isfinite
from typing import Any, TypeAlias

import rfc8785

JSONValue: TypeAlias = (
    bool | int | float | str | Sequence["JSONValue"] | Mapping[str, "JSONValue"] | None
)
"""What a payload may hold. Decimals, dates and UUIDs are converted by the caller."""

Row: TypeAlias = tuple[str, str, str]
"""A stored row that an event vouches for: its kind, its id, the digest of its content."""
GONE = "gone"
"""In the place of a digest: the row was removed, and is not to be there from now on."""
MAX_PAYLOAD_BYTES = 64 * 1024
MAX_DEPTH = 32
MAX_INTEGER = 2**53 - 1
_KEYED = "hmac:"
GENESIS = "0" * 64
"""The ``prev_hash`` of a chain's first event."""


class PayloadError(ValueError):
    """A payload cannot be recorded. The message says where (a path) and what to do."""


def canonical(payload: Mapping[str, JSONValue]) -> bytes:
    """Return the RFC 8785 bytes of ``payload``.

    Raises :class:`PayloadError` for what has no single form in every JSON library and database:
    NaN and infinities, integers beyond 2**53 - 1, NUL, lone surrogates, keys that are not strings,
    values that are not JSON, more than 32 levels, more than 64 KiB.
    """
    if not isinstance(payload, Mapping):
        raise PayloadError(f"the payload is a {type(payload).__name__}: pass a mapping")
    data = rfc8785.dumps(_plain(payload, "", 1))
    if len(data) > MAX_PAYLOAD_BYTES:
        raise PayloadError(
            f"the payload has {len(data):,} bytes, {MAX_PAYLOAD_BYTES:,} is the limit: "
            "record ids and digests instead of content"
        )
    return data


def check_text(text: str, path: str) -> str:
    """Return ``text``, or raise :class:`PayloadError` for NUL and lone surrogates."""
    if "\x00" in text:
        raise PayloadError(f"{path} contains NUL, which PostgreSQL cannot store: remove it")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise PayloadError(
            f"{path} contains a lone surrogate (position {error.start}): replace it"
        ) from error
    return text


def instant(at: datetime) -> str:
    """Return ``at`` as it is hashed: UTC, six decimals, ``Z`` (2026-11-21T07:40:00.000000Z)."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def vouch(row: Row, key: bytes) -> Row:
    """Return ``row`` as an event of a chain with ``key`` names it, as it is without one: its digest
    is ``hmac:`` and the lower-case hex HMAC-SHA-256 (RFC 2104) of the digest's hex."""
    kind, id_, digest = row
    return (kind, id_, _KEYED + hmac.digest(key, digest.encode(), "sha256").hex()) if key else row


def stands(row: Row, recorded: str, key: bytes) -> bool:
    """Whether ``row`` is what was ``recorded`` of it, by its digest or with ``key``."""
    return vouch(row, key if recorded.startswith(_KEYED) else b"")[2] == recorded


def event_hash(
    *,
    chain: str,
    seq: int,
    kind: str,
    actor: str,
    at: str,
    payload: bytes,
    prev_hash: str,
) -> str:
    """Return the hash of an event (see :class:`ieim.audit.models.AuditEvent` for its definition).

    ``payload`` is taken as the bytes that are stored, not parsed and written anew: they are
    canonical, so between the other six members (in the order of RFC 8785, all escaped) they give
    the canonical bytes of the whole, and one changed byte, even a space, changes the hash.
    """
    hashed = b'{"actor":%b,"at":%b,"chain":%b,"kind":%b,"payload":%b,"prev_hash":%b,"seq":%d}' % (
        _quoted(actor),
        rfc8785.dumps(at),
        rfc8785.dumps(chain),
        _quoted(kind),
        payload,
        rfc8785.dumps(prev_hash),
        seq,
    )
    return sha256(hashed).hexdigest()


def commitment(*, salt: str, at: str, payload: bytes) -> str:
    """Return the digest of what may go of an event (see :class:`ieim.audit.models.AuditEvent`)."""
    return sha256(salt.encode() + at.encode() + payload).hexdigest()


def committed(at: str, digest: str) -> tuple[str, bytes]:
    """Return the time and the payload as they are hashed where they may go: day and digest."""
    return at[:10], rfc8785.dumps(digest)


@lru_cache(maxsize=1024)
def _quoted(text: str) -> bytes:
    """Return ``text`` as canonical JSON; kinds and actors are few and come again and again."""
    return rfc8785.dumps(text)


def _plain(value: object, path: str, depth: int) -> Any:
    """Return ``value`` in the builtin types that rfc8785 takes, or raise :class:`PayloadError`."""
    where = path or "the payload"
    if depth > MAX_DEPTH:
        raise PayloadError(f"{where} is more than {MAX_DEPTH} levels deep: flatten it")
    if isinstance(value, str):
        return check_text(value, where)
    if value is None or isinstance(value, bool | int | float):
        return _number(value, where)
    if isinstance(value, Mapping):
        return {
            _key(key, where): _plain(item, f"{path}/{key}", depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_plain(item, f"{path}/{i}", depth + 1) for i, item in enumerate(value)]
    if isinstance(value, Decimal):
        raise PayloadError(
            f"{where} is a Decimal, which JSON numbers cannot carry exactly: pass str(value)"
        )
    raise PayloadError(
        f"{where} is a {type(value).__name__}, not a JSON value: convert it to a string, "
        "number, list or mapping"
    )


def _number(value: int | float | None, where: str) -> int | float | None:
    if isinstance(value, float) and not isfinite(value):
        raise PayloadError(f"{where} is {value}, which JSON does not have: leave it out")
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise PayloadError(
            f"{where} is an integer beyond 2**53 - 1, which JSON readers round: pass str(value)"
        )
    return value


def _key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise PayloadError(f"a key of {where} is a {type(key).__name__}: keys are strings")
    return check_text(key, f"a key of {where}")
