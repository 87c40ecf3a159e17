"""What the tests of the settings share: saving a section through the real service, and pictures."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping

from ieim.administration import services
from ieim.administration.models import Section
from ieim.people.models import User

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>'


def put(
    name: str, /, *, by: User | None = None, logo: bytes | None = None, **typed: str
) -> Section:
    """Save a section as it would be by somebody who has just opened the page."""
    return save(name, typed, by=by, logo=logo)


def save(
    name: str, typed: Mapping[str, str], *, by: User | None = None, logo: bytes | None = None
) -> Section:
    """The same with fields by any name."""
    stored = Section.objects.filter(pk=name).first()
    version = stored.version if stored else 0
    return services.change(name=name, typed=typed, version=version, by=by, logo=logo)


def refusal(name: str, typed: Mapping[str, str], *, logo: bytes | None = None) -> Mapping[str, str]:
    """Return why a section is not saved; nothing may have changed."""
    before = list(Section.objects.values_list())
    try:
        save(name, typed, logo=logo)
    except services.Refused as refused:
        assert list(Section.objects.values_list()) == before
        return refused.problems
    raise AssertionError(f"{name} took {typed}")


def chunk(name: bytes, data: bytes = b"") -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int = 2, height: int = 2, *more: bytes) -> bytes:
    """A PNG of one colour, with ``more`` chunks before its picture."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    rows = zlib.compress((b"\0" + b"\x1f\x4e\x8c" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(more) + chunk(b"IDAT", rows) + chunk(b"IEND")
