"""Text from outside as the draft has it: no markup, no more than fits, links that are links."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable
from functools import cache

import nh3

from ieim.knowledge.bundles.columns import LIST_LIMIT, ROWS, refusal
from ieim.knowledge.bundles.rows import Table
from ieim.studio.standards.report import Report

# Neither pattern can look at a character more than twice, whatever the text.
_MARKUP = re.compile(r"<[a-zA-Z/!?][^<>]*>|&(?:[a-zA-Z]{2,31}|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
_BLOCK = re.compile(
    r"<(?:br|hr|/?(?:p|div|section|article|h[1-6]|ul|ol|li|dl|dt|dd|table|tr|blockquote|pre))"
    r"(?:[\s/][^<>]*)?>",
    re.IGNORECASE,
)
_BULLET = re.compile(r"(?:[-*•–]|[0-9]{1,3}[.)])\s+")
_DURATION = re.compile(
    r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?"
    r"(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d+)?S)?)?",
    re.ASCII,
)
_CLOCK = re.compile(
    r"(?<!\s)\s*+(?:\d{4}-\d\d-\d\d[T ])?"
    r"(?P<hour>\d{1,2})(?:[:.h]?(?P<minute>\d\d))?(?::\d\d(?:\.\d+)?)?"
    r"(?:\s?(?P<half>[apAP])\.?[mM]\.?)?\s?(?:Z|[+-]\d\d:?\d\d)?\s*",
    re.ASCII,
)
_UNITS = ("year", "month", "week", "day", "hour", "minute", "second")
_RAW_LIMIT = 200_000
"""Longer texts are cut before anything else is done with them."""


def plain(text: str, pointer: str, report: Report) -> str:
    """Return ``text`` without markup; one that has none comes back as it is.

    Blocks become lines, entities their characters, scripts and styles nothing.
    """
    if len(text) > _RAW_LIMIT:
        text = text[:_RAW_LIMIT]
        report.changed(pointer, f"cut to {_RAW_LIMIT:,} characters")
    if not _MARKUP.search(text):
        return text
    report.changed(pointer, "markup became plain text")
    cleaned = html.unescape(nh3.clean(_BLOCK.sub("\n", text), tags=set()))
    lines = (" ".join(line.split()) for line in cleaned.split("\n"))
    return "\n".join(line for line in lines if line)


def one_line(text: str) -> str:
    return " ".join(text.split())


def joined(lines: Iterable[str]) -> str:
    """Return the lines that are not blank, each once, as one text."""
    return "\n".join(dict.fromkeys(line for line in lines if line.strip()))


def labelled(label: str, text: str) -> str:
    """Return "label: text", the text alone without a label, "" without a text."""
    return pair(label, text) if text else ""


def pair(first: str, second: str) -> str:
    """Return "first: second", or the one of them that is not blank."""
    return ": ".join(filter(None, (first, second)))


def amount(value: str, currency: str, purpose: str) -> str:
    """Return a price as the column ``amounts`` has it, "" for one that it does not take."""
    note = f" ({one_line(purpose)})" if purpose.strip() else ""
    text = f"{value} {currency.upper()}{note}"
    return "" if refusal("services", "amounts", [text]) else text


def steps(text: str) -> list[str]:
    """Return the lines of a text as steps, without the bullets and numbers in front of them."""
    lines = (_BULLET.sub("", line.strip(), count=1) for line in text.split("\n"))
    return [line for line in lines if line]


def duration(text: str) -> str:
    """Return an ISO 8601 duration in words ("P3W" is "3 weeks"); any other text as it is."""
    match = _DURATION.fullmatch(text)
    if match is None or not any(match.groups()):
        return text
    parts = [(int(n), unit) for n, unit in zip(match.groups(), _UNITS, strict=True) if n]
    return " ".join(f"{n} {unit}{'' if n == 1 else 's'}" for n, unit in parts)


def clock(text: str) -> str:
    """Return a time of day as "09:00" where it is written as one ("9:00 AM", "0900", a date with a
    time, seconds, an offset); any other text as it is."""
    match = _CLOCK.fullmatch(text)
    if match is None:
        return text
    hour, minute, half = int(match["hour"]), int(match["minute"] or 0), match["half"]
    if half:
        hour = hour % 12 + (12 if half in "pP" else 0) if 1 <= hour <= 12 else 99
    return f"{hour:02}:{minute:02}" if hour <= 24 and minute < 60 else text


def segment(identifier: str) -> str:
    """Return an id as one part of a path: a slash in it is ``~1``, a tilde ``~0``."""
    return identifier.replace("~", "~0").replace("/", "~1")


def slug(text: str) -> str:
    """Return letters and digits of ``text`` in lower case with hyphens between, "" for none."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]+", "-", folded).strip("-")


def fitted(
    table: Table, column: str, value: str | list[str], pointer: str, report: Report
) -> object:
    """Return ``value`` as the column takes it: cut where it is too long, without what it refuses.

    What it refuses whole (a link of another scheme) comes back as "".
    """
    is_list = isinstance(value, list)
    filled = [item for item in ([value] if isinstance(value, str) else value) if item.strip()]
    if len(filled) > LIST_LIMIT:
        report.changed(pointer, f"{column} cut to {LIST_LIMIT} entries")
        filled = filled[:LIST_LIMIT]
    limit = _limit(table, column)
    items = []
    for item in filled:
        # A link that is cut leads nowhere: the column refuses it.
        if column not in ("path", "url") and len(item) > limit:
            report.changed(pointer, f"{column} cut to {limit:,} characters")
            item = item[: limit - 1].rstrip() + "…"
        if complaint := refusal(table, column, [item] if is_list else item):
            report.left_out(pointer, f"{column} {complaint}")
        else:
            items.append(item)
    return items if is_list else next(iter(items), "")


@cache
def _limit(table: Table, column: str) -> int:
    """Return the longest text of a column, or of an item of it."""
    schema = ROWS[table].model_json_schema()["properties"][column]
    limit: int = schema.get("items", schema)["maxLength"]
    return limit
