"""The text of a page in blocks to read, with the passages that fields rest on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ieim.pipeline.evidence import locate, locate_each
from ieim.studio.models import WebPage

_LINE = re.compile(
    r"^[ \t]*(?:(?P<heading>#{1,6}) +|(?P<ul>[-*] +)|(?P<ol>\d{1,2}[.)] +))?"
    r"(?P<text>\S.*)$",
    re.MULTILINE,
)
_CELL = re.compile(r"(?<=\|)[ \t]*([^|]*?)[ \t]*(?=\|)")
_RULE = re.compile(r"[|\-: ]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text. ``fields`` rest on it, and those of ``first`` on nothing before it."""

    text: str
    fields: tuple[str, ...]
    first: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A block of HTML: ``tag`` is h2 to h6, p, ul, ol or table. ``rows`` are its items or rows, of
    cells, which are of pieces."""

    tag: str
    rows: list[list[list[Piece]]]


def source_of(page: WebPage) -> str:
    """Return the text that quotes are located in: its first line is the title."""
    return f"{page.title}\n{page.text}"


def located(page: WebPage, quotes: Iterable[str]) -> list[str]:
    """Return the quotes that stand in a page or in its data, each once."""
    source = source_of(page)
    if page.draft.get("by") == "data":
        source = "\n".join([source, *(t for row in page.draft["fields"] for t in row["lines"])])
    return [quote for quote in dict.fromkeys(quotes) if quote and locate(source, quote)]


def blocks(page: WebPage, quotes: Mapping[str, Sequence[str]]) -> list[Block]:
    """Return the text of a page, from its title on; ``quotes`` are those of each field."""
    source, result, seen = source_of(page), list[Block](), set[str]()
    places = [(name, span) for name, q in quotes.items() for span in locate_each(source, q)]
    spans = [(span.start, span.end, name) for name, span in places if span]

    def pieces(start: int, end: int) -> Iterator[Piece]:
        edges = {edge for span in spans for edge in span[:2] if start < edge < end}
        for a, b in pairwise(sorted({start, *edges, end})):
            fields = tuple(dict.fromkeys(name for s, e, name in spans if s <= a and b <= e))
            yield Piece(source[a:b], fields, tuple(name for name in fields if name not in seen))
            seen.update(fields)

    level = 1
    for line in _LINE.finditer(source):
        offset, text = line.start("text"), line["text"].rstrip(" \t")
        cells = [(offset, offset + len(text))]
        if _RULE.fullmatch(text) or (line["heading"] and text == page.title):
            continue
        tag = "ul" if line["ul"] else "ol" if line["ol"] else "table" if text[0] == "|" else "p"
        if line["heading"] or line.start() == 0:
            level = min(max(len(line["heading"] or "") + 1, 2 + bool(result)), level + 1, 6)
            tag = f"h{level}"
        elif tag == "table":
            cells = [(offset + c.start(1), offset + c.end(1)) for c in _CELL.finditer(text)]
        row = [list(pieces(start, end)) for start, end in cells]
        if result and tag == result[-1].tag and tag in ("ul", "ol", "table"):
            result[-1].rows.append(row)
        else:
            result.append(Block(tag, [row]))
    return result
