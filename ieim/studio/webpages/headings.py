"""What a page says of a service by its headings alone, without a model."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings

from ieim.pipeline.facts import facts
from ieim.pipeline.stages.entry_drafting import LISTS
from ieim.studio.webpages.reading import LINKS, Page

_TABLE = str(Path(__file__).with_name("headings.yaml"))
_HEADING = re.compile(r"(#{1,6}) ++(.*)")
_ITEM = re.compile(r"^(?:[-*]|\d{1,2}[.)]) +(?:#{1,6} +)?")
_RULE = re.compile(r"[|\-: ]+")
_LINES = {"overview": 3, "contact": 20}
_LINKED = frozenset(["how_to_apply", "contact"])
"""The fields that say what to do, or whom to write to: an address is worth more than a label."""
_MAX_LINES = 40
"""Lines of one field; more are no summary of anything."""
_REACHED_BY = ("phone", "email")
_MANY = 3
"""Headings that mean one and the same field; so many, and no other, make a list of services."""


def entry_of(page: Page) -> dict[str, Any]:
    """Return what the headings of a page say, in the form of draft_entry_v1.

    Each field is the page's own words under the headings that mean it. It is no service where no
    heading means a field besides the overview, or many mean one and none another.
    """
    blocks, headings = _blocks(page.text)
    meant = blocks.keys() - {"overview"}
    if not page.title or not meant or (len(meant) == 1 and headings[min(meant)] >= _MANY):
        return {"kind": "neither", "fields": [], "categories": [], "questions": []}
    if "contact" not in blocks and (reached := _reached(page.text)):
        blocks["contact"] = reached
    for field in _LINKED & blocks.keys():
        blocks[field] = list(_with_addresses(blocks[field], page.text))
    name = {"field": "name", "lines": [page.title], "quotes": [page.title]}
    fields = [name, *(_lines(field, lines) for field, lines in blocks.items())]
    return {"kind": "service", "fields": fields, "categories": [], "questions": []}


def _blocks(text: str) -> tuple[dict[str, list[str]], Counter[str]]:
    """Return the blocks of each field, and how many headings mean it.

    A heading that means nothing belongs to the one above it, and is a line of its field. What
    stands before any is the overview.
    """
    result: dict[str, list[str]] = {}
    headings: Counter[str] = Counter()
    above: list[tuple[int, str]] = []
    for level, heading, blocks in _sections(text):
        while above and above[-1][0] >= level:
            above.pop()
        field = _field(heading) if heading else "overview"
        if field:
            headings[field] += bool(heading and blocks)
        elif above:
            field, blocks = above[-1][1], [heading, *blocks]
        if heading:
            above.append((level, field))
        if field and blocks:
            lines = [*result.get(field, ()), *blocks]
            result[field] = _first(lines, _LINES[field]) if field in _LINES else lines[:_MAX_LINES]
    return result, headings


def _first(blocks: list[str], most: int) -> list[str]:
    """Return so many blocks, a list as one of them: none is cut off in its middle."""
    count, is_list = 0, False
    for at, block in enumerate(blocks[:_MAX_LINES]):
        was_list, is_list = is_list, bool(_ITEM.match(block))
        count += not (is_list and was_list)
        if count > most:
            return blocks[:at]
    return blocks[:_MAX_LINES]


def _reached(text: str) -> list[str]:
    """Return the first blocks of a text that have a telephone number or an e-mail address."""
    blocks = (block for _, _, blocks in _sections(text) for block in blocks)
    return list(islice((b for b in blocks if any(f.kind in _REACHED_BY for f in facts(b))), 3))


def _with_addresses(blocks: list[str], text: str) -> Iterator[str]:
    """Yield blocks as they stand, but a link that is all of one with its address, and the mail
    addresses of links behind the block that they stand in; of links with one address alone."""
    lines = text.partition(LINKS)[2].splitlines()
    labels = [line.removeprefix("- ").rpartition(": ")[0] for line in lines]
    links = {label: line for label, line in zip(labels, lines, strict=True) if label}
    links = {label: line for label, line in links.items() if labels.count(label) == 1}
    for block in blocks:
        words = _ITEM.sub("", block)
        if link := links.get(words) or links.get(words.rstrip(".,;:")):
            yield link
            continue
        yield block
        mail = (label for label in links if "://" not in links[label])
        yield from (links[label] for label in mail if label in block)


def _lines(field: str, blocks: list[str]) -> dict[str, Any]:
    """Return a field: its lines without the marks of lists and tables, and its quotes."""
    cells = [
        [cell.strip() for cell in line.strip("| ").split("|") if cell.strip()]
        if line.startswith("|")
        else [line]
        for line in (_ITEM.sub("", block) for block in blocks)
    ]
    rows = [" · ".join(row) for row in cells]
    lines = rows if field in LISTS else ["\n".join(rows)]
    return {"field": field, "lines": lines, "quotes": [*chain(*cells)]}


def _sections(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield the level and words of every heading with the blocks under it; the title and what
    comes before any heading of its own have none."""
    level, heading, blocks = 1, "", list[str]()
    for line in filter(None, map(str.strip, text.partition(LINKS)[0].splitlines())):
        if match := _HEADING.fullmatch(line):
            yield level, heading, blocks
            level, heading, blocks = len(match[1]), match[2], []
            heading = "" if level == 1 else heading
        elif not _RULE.fullmatch(line):
            blocks.append(line)
    yield level, heading, blocks


def _field(heading: str) -> str:
    """Return the field that a heading means, "" for none: that of its longest phrase."""
    words = f" {_folded(heading)} "
    hits = [
        (len(phrase), name)
        for name, phrases in _table(settings.IEIM_PAGE_HEADINGS or _TABLE).items()
        for phrase in phrases
        if (f" {phrase} " in words if phrase.isascii() else phrase in words)
    ]
    return max(hits)[1] if hits else ""


@lru_cache(maxsize=1)
def _table(path: str) -> Mapping[str, tuple[str, ...]]:
    table = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    return {
        name: tuple(_folded(phrase) for phrases in languages.values() for phrase in phrases)
        for name, languages in table.items()
    }


def _folded(text: str) -> str:
    """Return a text in lower case, without accents, its words between single spaces."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return " ".join(re.findall(r"[^\W_]+", plain))
