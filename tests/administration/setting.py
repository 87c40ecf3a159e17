"""What the tests of the settings share: saving a section through the real service, and pictures."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping

from django.core.files.uploadedfile import SimpleUploadedFile

from ieim.administration import services
from ieim.administration.forms import SECTIONS, SectionForm
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
    form = posted(name, typed, logo=logo)
    assert form.is_valid(), form.errors
    return services.change(form=form, version=form.version, by=by)


def posted(name: str, typed: Mapping[str, str], *, logo: bytes | None = None) -> SectionForm:
    """A form with what somebody has typed."""
    files = {} if logo is None else {"logo_file": SimpleUploadedFile("logo", logo)}
    return SECTIONS[name](Section.objects.filter(pk=name).first(), typed, files)


def refusal(name: str, typed: Mapping[str, str], *, logo: bytes | None = None) -> Mapping[str, str]:
    """The errors of a form, by field."""
    form = posted(name, typed, logo=logo)
    assert not form.is_valid(), f"{name} took {typed}"
    return {field: str(errors[0]) for field, errors in form.errors.items()}


def chunk(name: bytes, data: bytes = b"") -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int = 2, height: int = 2, *extra: bytes) -> bytes:
    """A PNG of one colour, with ``more`` chunks before its picture."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    rows = zlib.compress((b"\0" + b"\x1f\x4e\x8c" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(extra) + chunk(b"IDAT", rows) + chunk(b"IEND")
