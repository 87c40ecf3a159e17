"""Saved pages: HTML files, and ZIP archives of them."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Iterable

from ieim.studio.webpages.fetching import MAX_PAGE
from ieim.studio.webpages.reading import Unreadable

MAX_UNPACKED = 100 * 2**20
"""Bytes of all files that are given together."""
MAX_PAGES = 500
"""Pages of one archive, and of one run."""
_MAX_RATIO = 100
_MAX_LABEL = 300
_HTML = (".html", ".htm", ".xhtml")
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, UnicodeDecodeError),
    *(RuntimeError, OSError, EOFError),
)


def pages_of(files: Iterable[tuple[str, bytes]]) -> dict[str, bytes]:
    """Return the pages of files by their names, which are labels only; what else is in an archive
    is left out.

    Raises:
        Unreadable: a file is no page, or too large, or two have one name.
    """
    result: dict[str, bytes] = {}
    for name, data in files:
        pages = [(name, data)]
        if zipfile.is_zipfile(io.BytesIO(data)):
            pages = _members(name, data, MAX_UNPACKED - sum(map(len, result.values())))
        elif not name.lower().endswith(_HTML):
            raise Unreadable(f"{name}: give pages saved as .html, or a ZIP of them.")
        for label, body in ((_label(page), body) for page, body in pages):
            if label in result:
                raise Unreadable(f"{label} is there twice: give one of them another name.")
            result[label] = body
    if large := [name for name, data in result.items() if len(data) > MAX_PAGE]:
        raise Unreadable(f"{large[0]} is larger than {MAX_PAGE // 2**20} MiB: leave it out.")
    return result


def _members(name: str, data: bytes, limit: int) -> list[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            html = [m for m in archive.infolist() if m.filename.lower().endswith(_HTML)]
            # What macOS adds beside each file has the file's name.
            pages = [m for m in html if not m.filename.startswith("__MACOSX/")]
            if not pages or len(pages) > MAX_PAGES:
                raise Unreadable(f"{name} has {len(pages):,} pages: give 1 to {MAX_PAGES} a ZIP.")
            # A member is never unpacked beyond the size that is written here.
            size = sum(member.file_size for member in pages)
            packed = sum(member.compress_size for member in pages)
            if size > min(limit, _MAX_RATIO * max(packed, 1)):
                raise Unreadable(f"{name} is too large when it is unpacked: give fewer pages.")
            return [(member.filename, archive.read(member)) for member in pages]
    except _BROKEN as error:
        raise Unreadable(f"{name} cannot be unpacked: pack it again, unprotected.") from error


def _label(name: str) -> str:
    # It is never taken for an address.
    label = "".join(c if c.isprintable() else "�" for c in name.replace("://", ":/"))
    return label[:_MAX_LABEL]
