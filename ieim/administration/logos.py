"""Checks the file of a logo: it may be a picture and nothing else.

A PNG is rebuilt from the chunks that draw. An SVG is a document that browsers also run: one with
anything but the elements and attributes listed here is refused, not repaired, because a sanitiser
for HTML (nh3) parses it by other rules than a browser parses XML. A few bytes of what refers to
other parts of the drawing can draw for minutes, so ``use``, ``mask`` and dashes are not listed,
clips are few and not nested, and elements, their depth and their paths have limits.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable
from typing import Final
from xml.parsers import expat

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

MAX_BYTES: Final = 100 * 1024
MAX_SIDE: Final = 2_000
"""Pixels of a PNG: a browser holds four bytes of each."""
MAX_ELEMENTS: Final = 500
MAX_DEPTH: Final = 16
MAX_CLIPS: Final = 20
"""Elements of an SVG that are clipped."""
MAX_PATH: Final = 20_000
"""Characters of one path, or of another attribute."""
PNG, SVG = "image/png", "image/svg+xml"

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_DRAW = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB"})
_SPACE = "http://www.w3.org/2000/svg"
_ATTRIBUTE_SPACES = (*("", "http://www.w3.org/1999/xlink", "http://www.w3.org/XML/1998/namespace"),)
_ELEMENTS = frozenset(
    (
        *("svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon"),
        *("title", "desc", "defs", "linearGradient", "radialGradient", "stop", "clipPath"),
    )
)
_ATTRIBUTES = re.compile(
    r"id|class|version|viewBox|preserveAspectRatio|width|height|x|y|x1|y1|x2|y2|cx|cy|r|rx|ry|fx|fy"
    r"|d|points|transform|opacity|fill|fill-(?:rule|opacity)|clip-(?:path|rule)|color|display"
    r"|stroke|stroke-[a-z]+|offset|stop-(?:color|opacity)|gradient(?:Units|Transform)|spreadMethod"
    r"|clipPathUnits|visibility|role|(?:aria|data)-[a-z-]+|href|style|space"
)
_PROPERTIES = re.compile(
    r"opacity|fill|fill-(?:rule|opacity)|clip-(?:path|rule)|color|display|stroke|stroke-[a-z]+"
    r"|stop-(?:color|opacity)|visibility|overflow"
    # Without an effect on paths, and written by drawing programs all the same.
    r"|-inkscape-[a-z-]+|(?:font|text|line|letter|word|writing|paint|shape|color|vector)-[a-z-]+"
)
_OUTSIDE = re.compile(
    r"url\(\s*+['\"]?+(?!#)|image|src\(|@|\\|:\s*+//|javascript|data:", re.IGNORECASE
)


class NoLogo(ValidationError):
    """A file that cannot be the logo; the message says why and what to do."""


def checked(data: bytes) -> tuple[str, bytes]:
    """Return the media type and what is to be stored. Raises :class:`NoLogo`."""
    if len(data) > MAX_BYTES:
        message = gettext(
            "The logo has {size} KB. Choose a picture of at most {limit} KB: 400 pixels of width "
            "are enough."
        )
        raise NoLogo(message.format(size=f"{len(data) / 1024:,.0f}", limit=MAX_BYTES // 1024))
    if data.startswith(_SIGNATURE):
        return PNG, _rebuilt_png(data)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        _check_svg(data)
        return SVG, data
    raise NoLogo(gettext("The logo is neither PNG nor SVG. Save it as one of them."))


def _rebuilt_png(data: bytes) -> bytes:
    """Return a PNG with the chunks that draw, and no other byte."""
    chunks, offset, names = [_SIGNATURE], len(_SIGNATURE), []
    while offset + 12 <= len(data) and b"IEND" not in names:
        (length,) = struct.unpack(">I", data[offset : offset + 4])
        name, end = data[offset + 4 : offset + 8], offset + 12 + length
        chunk = data[offset:end]
        if len(chunk) < 12 + length or chunk[-4:] != struct.pack(">I", zlib.crc32(chunk[4:-4])):
            break
        if name in _DRAW:
            chunks.append(chunk)
            names.append(name)
        offset = end
    if names[:1] != [b"IHDR"] or b"IDAT" not in names or names[-1:] != [b"IEND"]:
        raise NoLogo(gettext("The PNG is damaged. Save the logo anew."))
    width, height = struct.unpack(">II", chunks[1][8:16])
    if not 0 < width <= MAX_SIDE or not 0 < height <= MAX_SIDE:
        message = gettext(
            "The logo is {width} by {height} pixels. Choose one of at most {limit} pixels a side."
        )
        sizes = {"width": f"{width:,}", "height": f"{height:,}", "limit": f"{MAX_SIDE:,}"}
        raise NoLogo(message.format(**sizes))
    return b"".join(chunks)


def _check_svg(data: bytes) -> None:
    path: list[str] = []
    elements = clips = 0

    def refuse(message: str) -> Callable[..., None]:
        def handler(*_args: object) -> None:
            raise NoLogo(message)

        return handler

    def start(element: str, attributes: dict[str, str]) -> None:
        nonlocal elements, clips
        space, _, name = element.rpartition(" ")
        if space != _SPACE or name not in _ELEMENTS or (name == "svg") is bool(path):
            message = gettext(
                "The SVG holds more than a drawing: {element}. Turn texts into paths, take out "
                "scripts, styles, masks and pictures, and save it as plain SVG, or as PNG."
            )
            raise NoLogo(message.format(element=f"<{name}>"))
        path.append(name)
        elements += 1
        for attribute, value in attributes.items():
            _check_attribute(attribute, value)
        is_clipped = "clip-path" in attributes or "clip-path" in attributes.get("style", "").lower()
        clips += is_clipped
        if (
            (is_clipped and "clipPath" in path)
            or elements > MAX_ELEMENTS
            or len(path) > MAX_DEPTH
            or clips > MAX_CLIPS
            or any(len(value) > MAX_PATH for value in attributes.values())
        ):
            message = gettext(
                "The SVG takes too long to draw: there may be {elements} elements, {depth} inside "
                "one another, {clips} of them clipped and no clip within a clip, and {path} "
                "characters in a path. Simplify it, or save it as PNG."
            )
            raise NoLogo(
                message.format(
                    elements=MAX_ELEMENTS, depth=MAX_DEPTH, clips=MAX_CLIPS, path=f"{MAX_PATH:,}"
                )
            )

    def end(_element: str) -> None:
        path.pop()

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler = refuse(
        gettext("The SVG has a DOCTYPE. Save it as plain SVG, or as PNG.")
    )
    parser.ProcessingInstructionHandler = refuse(
        gettext("The SVG has a processing instruction. Save it as plain SVG, or as PNG.")
    )
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        parser.Parse(data, True)
    except NoLogo:
        raise
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise NoLogo(gettext("The SVG is damaged. Save the logo anew.")) from error


def _check_attribute(attribute: str, value: str) -> None:
    space, _, name = attribute.rpartition(" ")
    problems = [name] * (space not in _ATTRIBUTE_SPACES or not _ATTRIBUTES.fullmatch(name))
    properties = {name: value}
    if name == "style":
        pairs = (part.partition(":") for part in value.split(";") if part.strip())
        properties = {key.strip().lower(): text for key, _, text in pairs}
        problems += [key for key in properties if not _PROPERTIES.fullmatch(key)]
    if properties.get("stroke-dasharray", "none").strip() != "none":
        problems.append("stroke-dasharray")
    if problems:
        message = gettext(
            "The SVG holds more than a drawing: “{name}”. Save it as plain SVG, or as PNG."
        )
        raise NoLogo(message.format(name=problems[0][:40]))
    if _OUTSIDE.search(value) or (name == "href" and not value.startswith("#")):
        message = gettext(
            "The SVG points outside of itself: “{name}”. Save it as plain SVG, or as PNG."
        )
        raise NoLogo(message.format(name=name))
