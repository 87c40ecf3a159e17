"""What a page says of a service by its headings alone, without a model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings

from ieim.studio.webpages.reading import LINKS, Page

_TABLE = str(Path(__file__).with_name("headings.yaml"))
_HEADING = re.compile(r"#{1,6} +(.*)")
_ITEM = re.compile(r"(?:[-*]|\d{1,2}[.)]) +")
_RULE = re.compile(r"[|\-: ]+")
_LISTS = ("requirements", "how_to_apply")
_MAX_LINES = 40
"""Lines of one field; more are no summary of anything."""


def entry_of(page: Page) -> dict[str, Any]:
    """Return what the headings of a page say, in the form of draft_entry_v1.

    Each field is the page's own words under one heading. It is no service where no heading means a
    field besides the overview.
    """
    passages = _passages(page)
    fields = [
        {"field": name, "lines": lines, "quotes": quotes}
        for name, (lines, quotes) in passages.items()
    ]
    if not passages.keys() - {"overview"} or not page.title:
        return {"kind": "neither", "fields": [], "categories": [], "questions": []}
    name = {"field": "name", "lines": [page.title], "quotes": [page.title]}
    return {"kind": "service", "fields": [name, *fields], "categories": [], "questions": []}


def _passages(page: Page) -> dict[str, tuple[list[str], list[str]]]:
    """Return the lines and quotes of each field: what stands under the first heading that means it,
    and as overview what stands before any."""
    result: dict[str, tuple[list[str], list[str]]] = {}
    for heading, blocks in _sections(page.text):
        field = _field(heading) if heading else "overview"
        if field == "" or field in result or not blocks:
            continue
        taken = blocks[:3] if field == "overview" else blocks[:_MAX_LINES]
        lines = [_ITEM.sub("", block, count=1) if _ITEM.match(block) else block for block in taken]
        rows = [" · ".join(_cells(line)) if line.startswith("|") else line for line in lines]
        quotes = [q for line in lines for q in (_cells(line) if line.startswith("|") else [line])]
        whole = rows if field in _LISTS else ["\n".join(rows)]
        result[field] = (whole, quotes)
    return result


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("| ").split("|") if cell.strip()]


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield every heading with the blocks under it; the title and what comes before any heading of
    its own have none."""
    heading, blocks = "", list[str]()
    for line in filter(None, map(str.strip, text.partition(LINKS)[0].splitlines())):
        if match := _HEADING.fullmatch(line):
            yield heading, blocks
            heading, blocks = ("" if line.startswith("# ") else match[1]), []
        elif not _RULE.fullmatch(line):
            blocks.append(line)
    yield heading, blocks


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
