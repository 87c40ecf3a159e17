"""Places outside the database where seals are kept: a file, S3-compatible storage, syslog."""

from __future__ import annotations

import json
import logging
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from logging.handlers import SysLogHandler
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import urlsplit

import rfc8785
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import get_session

LONGEST: Final = 64 * 1024
"""Bytes of a seal with its stamp, at most."""

_PAGE = 1000
_READERS = 10  # as many connections as the client keeps
_KEY = re.compile(r"(?:\A.*/)?\d{12}\.json")
_TO_DO: Final = {
    "AccessDenied": "Check what the credentials may do there: PutObject, GetObject, ListBucket.",
    "InvalidAccessKeyId": "Check AWS_ACCESS_KEY_ID.",
    "InvalidRequest": "--retain-days needs a bucket that was made with Object Lock.",
    "NoSuchBucket": "Make it, with Object Lock, or check its name.",
    "NotImplemented": "docs/audit.md says what such storage has to know.",
    "RequestTimeTooSkewed": "Synchronise this machine's clock (systemd-timesyncd, chrony).",
    "SignatureDoesNotMatch": "Check AWS_SECRET_ACCESS_KEY.",
}


class SealError(Exception):
    """A key, a place or a stamp cannot be used; the message says which and what to do."""


class Kept(NamedTuple):
    """A seal as it is kept: ``where``, its ``line``, and what is wrong with its place there."""

    where: str
    line: str
    fault: str = ""


class Place(Protocol):
    """Where seals are kept, in the order of their numbers; each method raises SealError."""

    @property
    def name(self) -> str:
        """What an operator calls it."""

    def newest(self, about: int) -> str | None:
        """Return the seal kept last, empty where there is none, None where nobody can read.

        Its number is likely to be somewhat below ``about``.
        """

    def after(self, number: int) -> Iterator[str]:
        """Yield the seals with a number above ``number``."""

    def keep(self, number: int, line: str) -> None:
        """Keep one more seal; it is safe there when this returns."""

    def kept(self) -> Iterator[Kept]:
        """Yield every seal, and whatever else tells that something was done to them."""


def place(name: str, *, retain_days: int = 0) -> Place:
    """Return the place that an operator names; raises :class:`SealError`.

    ``s3://BUCKET/PREFIX``, ``syslog:PATH`` or ``syslog:HOST:PORT`` (UDP); all else is a file.
    """
    if name.startswith("s3://"):
        return Bucket(name, retain_days)
    if name.startswith("syslog:"):
        return Syslog(name.partition(":")[2])
    return File(Path(name))


@dataclass(frozen=True)
class File:
    """A file with a line for each seal."""

    path: Path

    @property
    def name(self) -> str:
        return str(self.path)

    def newest(self, about: int) -> str:
        if not self.path.exists():
            return ""
        with self._opened("rb") as file:
            whole, _, _ = _tail(file).rpartition(b"\n")
        return whole.rpartition(b"\n")[2].decode(errors="replace")

    def after(self, number: int) -> Iterator[str]:
        return (each.line for each in self.kept() if _number(each.line) > number)

    def keep(self, number: int, line: str) -> None:
        with self._opened("a+b") as file:
            tail = _tail(file)
            if tail and not tail.endswith(b"\n"):
                # A line that a power failure has torn was never reported as kept.
                file.truncate(file.tell() - len(tail) + tail.rfind(b"\n") + 1)
            file.write(f"{line}\n".encode())
            file.flush()
            os.fsync(file.fileno())

    def kept(self) -> Iterator[Kept]:
        with self._opened("rb") as file:
            for place, line in enumerate(file, start=1):
                if line.strip():
                    yield Kept(
                        f"line {place} of the seals", line.decode(errors="replace").rstrip("\n")
                    )

    @contextmanager
    def _opened(self, mode: str) -> Iterator[Any]:
        try:
            with self.path.open(mode) as file:
                yield file
        except OSError as error:
            raise SealError(f"seals cannot be kept in {self.path}: {error}") from error


class Bucket:
    """An object for each seal, ``PREFIX/NUMBER.json``, that is written once.

    Endpoint, region and credentials come from where every client of S3 has them, such as
    ``AWS_ENDPOINT_URL``, ``AWS_DEFAULT_REGION``, ``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``.
    """

    def __init__(self, url: str, retain_days: int) -> None:
        parts = urlsplit(url)
        self.name, self._bucket = url, parts.netloc
        prefix = parts.path.strip("/")
        self._prefix = f"{prefix}/" if prefix else ""
        self._retained = timedelta(days=retain_days)
        # The timer comes again soon: no long waits here.
        config = Config(
            connect_timeout=5,
            read_timeout=20,
            retries={"mode": "standard", "total_max_attempts": 2},
        )
        with self._asked():
            self._client = get_session().create_client("s3", config=config)

    def newest(self, about: int) -> str:
        # One request where the seals are no longer than a few days behind the database.
        for number in sorted({max(0, about - _PAGE), 0}, reverse=True):
            if keys := list(self._keys(number)):
                return self._read(keys[-1])
        return ""

    def after(self, number: int) -> Iterator[str]:
        return (self._read(key) for key in self._keys(number))

    def keep(self, number: int, line: str) -> None:
        key = self._key(number)
        lock: dict[str, Any] = {}
        if self._retained:
            until = datetime.now(UTC) + self._retained
            lock = {"ObjectLockMode": "COMPLIANCE", "ObjectLockRetainUntilDate": until}
        try:
            with self._asked():
                self._client.put_object(
                    Bucket=self._bucket,
                    Key=key,
                    Body=line.encode(),
                    ContentType="application/json",
                    IfNoneMatch="*",
                    **lock,
                )
        except SealError as error:
            # It is there where only the answer of a try before was lost.
            if _code(error.__cause__) != "PreconditionFailed" or self._read(key) != line:
                raise

    def kept(self) -> Iterator[Kept]:
        # Versions, because who deletes or overwrites an object in a bucket that has them hides it.
        versions: dict[str, list[str]] = defaultdict(list)
        hidden: set[str] = set()
        with self._asked():
            pages = self._client.get_paginator("list_object_versions")
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix):
                for each in page.get("Versions", ()):
                    versions[each["Key"]].append(each["VersionId"])
                hidden.update(each["Key"] for each in page.get("DeleteMarkers", ()))
        keys = [key for key in sorted(versions) if _KEY.fullmatch(key)]
        with ThreadPoolExecutor(_READERS) as readers:
            for begin in range(0, len(keys), _PAGE):
                some = keys[begin : begin + _PAGE]
                oldest = [versions[key][-1] for key in some]  # They come newest first.
                for key, line in zip(some, readers.map(self._read, some, oldest), strict=True):
                    where, fault = f"s3://{self._bucket}/{key}", ""
                    if key in hidden:
                        fault = f"{where} was deleted; a version of it is left"
                    elif len(versions[key]) > 1:
                        fault = f"{where} was overwritten; what it was first is left"
                    yield Kept(where, line, fault)

    def _key(self, number: int) -> str:
        return f"{self._prefix}{number:012}.json"

    def _keys(self, after: int) -> Iterator[str]:
        with self._asked():
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._prefix, StartAfter=self._key(after)
            )
            for page in pages:
                for each in page.get("Contents", ()):
                    if _KEY.fullmatch(each["Key"]):
                        yield each["Key"]

    def _read(self, key: str, version: str | None = None) -> str:
        which = {"VersionId": version} if version and version != "null" else {}
        with self._asked():
            found = self._client.get_object(Bucket=self._bucket, Key=key, **which)
            text: bytes = found["Body"].read(LONGEST)
        return text.decode(errors="replace")

    @contextmanager
    def _asked(self) -> Iterator[None]:
        try:
            yield
        except (BotoCoreError, ClientError, ValueError) as error:
            to_do = _TO_DO.get(_code(error), "Check AWS_ENDPOINT_URL, and that it runs.")
            raise SealError(f"seals cannot be kept in {self.name}: {error} {to_do}") from error


class Syslog:
    """A line for each seal, without its stamp, which is longer than some servers take."""

    def __init__(self, address: str) -> None:
        host, separator, port = address.rpartition(":")
        if separator and not port.isdecimal():
            raise SealError(f"syslog:{address} is no address of syslog: a path, or HOST:PORT")
        self.name = f"syslog:{address}"
        with self._reached():
            self._handler = _Loud(address=(host, int(port)) if separator else address)
        self._handler.ident = "ieim-seal: "

    def newest(self, about: int) -> None:
        return None

    def after(self, number: int) -> Iterator[str]:
        return iter(())

    def keep(self, number: int, line: str) -> None:
        told = json.loads(line)
        told.pop("stamp", None)
        message = rfc8785.dumps(told).decode()
        with self._reached():
            self._handler.emit(logging.makeLogRecord({"msg": message, "levelno": logging.INFO}))

    def kept(self) -> Iterator[Kept]:
        raise SealError("seals in syslog cannot be read from here: give a file with their lines")

    @contextmanager
    def _reached(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise SealError(f"{self.name} cannot be reached: {error}") from error


class _Loud(SysLogHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's name
        raise  # it is called while the error is handled


def _tail(file: Any) -> bytes:
    """Return the end of a file, more than a seal of it, and leave the file at its end."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - LONGEST - 1))
    end: bytes = file.read()
    return end


def _number(line: str) -> int:
    try:
        return int(json.loads(line)["number"])
    except (ValueError, KeyError, TypeError):
        return 0


def _code(error: object) -> str:
    return str(error.response["Error"]["Code"]) if isinstance(error, ClientError) else ""
