"""The bytes that are hashed: RFC 8785 (JSON Canonicalization Scheme) over plain JSON values."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
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
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
_KEYED = "hmac:"
GENESIS = "0" * 64
"""The ``prev_hash`` of a chain's first event."""


class PayloadError(ValueError):
    """A payload cannot be recorded; the message says why and what to do."""


def canonical(payload: Mapping[str, JSONValue]) -> bytes:
    """Return the RFC 8785 bytes of ``payload``.

    Raises:
        PayloadError: for a value without one form in every JSON library and database (NaN and
            infinities, integers beyond 2**53 - 1, NUL, lone surrogates, keys that are not strings,
            values that are not JSON), and for more than 64 KiB.
    """
    try:
        data = rfc8785.dumps(_with_dicts(payload))
    except (rfc8785.CanonicalizationError, RecursionError, UnicodeEncodeError) as error:
        raise PayloadError(
            f"the payload cannot be recorded: {error}. Pass strings, safe integers, lists and "
            "mappings; a Decimal, a date or a UUID as its text."
        ) from error
    if _NUL.search(data.decode()):
        raise PayloadError("the payload contains NUL, which PostgreSQL cannot store: remove it")
    if len(data) > MAX_PAYLOAD_BYTES:
        raise PayloadError(
            f"the payload has {len(data):,} bytes, {MAX_PAYLOAD_BYTES:,} is the limit: "
            "record ids and digests instead of content"
        )
    return data


def instant(at: datetime) -> str:
    """Return ``at`` as it is hashed: UTC, six decimals, ``Z`` (2026-11-21T07:40:00.000000Z)."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def vouch(row: Row, key: bytes) -> Row:
    """Return ``row`` as an event of a chain with ``key`` names it, unchanged without a key.

    Its digest is ``hmac:`` and the lower-case hex HMAC-SHA-256 (RFC 2104) of the digest's hex.
    """
    kind, id_, digest = row
    if not key or digest == GONE:
        return row
    return (kind, id_, _KEYED + hmac.digest(key, digest.encode(), "sha256").hex())


def is_recorded(row: Row, recorded: str, key: bytes) -> bool:
    """Whether the ``recorded`` digest is that of ``row``, bare or with ``key``."""
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
    """Return the digest of the erasable parts of an event; ``AuditEvent`` defines it."""
    return sha256(salt.encode() + at.encode() + payload).hexdigest()


def committed(at: str, digest: str) -> tuple[str, bytes]:
    """Return time and payload of an erasable event as they are hashed: its day and its digest."""
    return at[:10], rfc8785.dumps(digest)


@lru_cache(maxsize=1024)
def _quoted(text: str) -> bytes:
    """Return ``text`` as canonical JSON; kinds and actors are few and come again and again."""
    return rfc8785.dumps(text)


def _with_dicts(value: Any) -> Any:
    """Return ``value`` with every mapping as the dict that rfc8785 takes."""
    if isinstance(value, Mapping):
        return {key: _with_dicts(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_dicts(item) for item in value]
    return value
