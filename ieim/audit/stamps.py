"""Time stamps (RFC 3161): an authority signs when it was shown a digest, and of nothing else."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

import httpx
from cryptography.x509 import load_pem_x509_certificates
from rfc3161_client import (
    HashAlgorithm,
    PKIStatus,
    TimestampRequestBuilder,
    TimeStampResponse,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)

from ieim.audit.places import SealError

_PATIENCE: Final = 10.0  # seconds
_MOST: Final = 32 * 1024  # bytes of an answer, its certificates included
_CERTIFICATES: Final = 0xA0  # their tag in SignedData (RFC 5652)
_HEADERS: Final = {"content-type": "application/timestamp-query"}


def stamped(data: bytes, url: str) -> str:
    """Ask the authority at ``url`` for a stamp of ``data`` and return its answer (base64).

    It is of this data and this request; whether its certificate is known is for
    :class:`Authority`. Raises :class:`SealError`.
    """
    request = TimestampRequestBuilder().data(data).hash_algorithm(HashAlgorithm.SHA256).build()
    try:
        answer = httpx.post(
            url, content=request.as_bytes(), headers=_HEADERS, timeout=_PATIENCE
        ).raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SealError(f"{url} gave no stamp: {str(error).splitlines()[0]}") from error
    try:
        found = _decoded(answer.content)
    except ValueError as error:
        raise SealError(f"{url} gave no stamp: its answer is of another form") from error
    if found.status != PKIStatus.GRANTED.value:
        raise SealError(f"{url} refused a stamp: status {found.status} {found.status_string}")
    if found.tst_info.nonce != request.nonce or not _of(found, data):
        raise SealError(f"{url} stamped something else")
    if len(answer.content) > _MOST:
        raise SealError(f"{url} gave a stamp of more than {_MOST:,} bytes")
    return b64encode(answer.content).decode()


class Authority:
    """Whose stamps count: certificates (PEM), at least one of them a root.

    Raises :class:`SealError` for a file that has none.
    """

    def __init__(self, path: Path) -> None:
        try:
            certificates = load_pem_x509_certificates(path.read_bytes())
        except (OSError, ValueError) as error:
            raise SealError(f"{path} cannot be read as certificates: {error}") from error
        roots = [each for each in certificates if each.issuer == each.subject]
        if not roots:
            raise SealError(f"{path} has no root: add the authority's self-signed certificate")
        others = [each for each in certificates if each not in roots]
        self._verifier = VerifierBuilder(roots=roots, intermediates=others).build()

    def time(self, data: bytes, stamp: str) -> datetime:
        """Return when the authority was shown ``data``; raises :class:`SealError`."""
        try:
            found = _decoded(b64decode(stamp, validate=True))
            if not _of(found, data):
                raise SealError("is of something else")
            self._verifier.verify_message(found, data)
        except VerificationError as error:
            raise SealError(f"was changed, or is by an authority not given: {error}") from error
        except ValueError as error:
            raise SealError(f"cannot be read: {error}") from error
        return found.tst_info.gen_time


def _of(stamp: TimeStampResponse, data: bytes) -> bool:
    return stamp.tst_info.message_imprint.message == sha256(data).digest()


def _decoded(answer: bytes) -> TimeStampResponse:
    """Raises :class:`ValueError`.

    Authorities that run on OpenSSL send their certificates in the order of the chain. DER has a SET
    in the order of its members' bytes, and rfc3161-client takes no other; no signature is over it.
    """
    try:
        (_, content, stop), *_ = _members(answer, 0, len(answer))
        for place in (1, 1, 0):  # the token of the answer, its content, its SignedData
            _, content, stop = list(_members(answer, content, stop))[place]
        for start, first, end in _members(answer, content, stop):
            if answer[start] == _CERTIFICATES:
                certificates = sorted(answer[a:b] for a, _, b in _members(answer, first, end))
                answer = answer[:first] + b"".join(certificates) + answer[end:]
    except IndexError:
        pass  # It is something else, and is told so below.
    return decode_timestamp_response(answer)


def _members(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield where each value of a DER sequence begins, its content begins, and it ends."""
    while at < end:
        content, length = at + 2, data[at + 1]
        if length & 0x80:
            content += length & 0x7F
            length = int.from_bytes(data[at + 2 : content], "big")
        yield at, content, content + length
        at = content + length
