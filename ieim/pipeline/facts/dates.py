"""Dates in a reading.

Values: ``2026-03-01``, ``2026-03`` (a month), ``--03-01`` (a day without a year). A date in figures
that may be read in two ways is ``<day first>|<month first>``; one that can be read in none is kept
as it is written, so that it equals only itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ieim.pipeline.facts.reading import SYMBOLS, Hit

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![^\W\d_])"
)
_NTH = r"(?i:st|nd|rd|th)?"
_ISO = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
_FIGURES = re.compile(
    r"(\d{1,2})(?:\s?([./-])\s?)(\d{1,2})\s?\2\s?(?:(\d{4})|(\d{2}))(?!\d)(?![./-]\d)"
)
_DAY_MONTH = re.compile(
    rf"(\d{{1,2}}){_NTH}(?:\s?(?:of\s)?|[-/.]\s?)({_MONTH})(?:\.?[\s,/-]{{0,2}}(?:of\s)?(\d{{4}})(?!\d))?"
)
# Minutes, decimals, the number of a list's item.
_NO_DAY = re.compile(r"\d[:.,]\d|(?:\A|\n)\d{1,2}\.")
_AND_ANOTHER_DAY = re.compile(
    rf"(\d{{1,2}}){_NTH}(?:\s?[-–,/&]\s?|\s(?:to|and|or|until|till)\s)(?=\d)"
)
_MONTH_BEFORE = re.compile(
    rf"(?<![^\W\d_])({_MONTH})\.?[\s,-]{{0,2}}(?:the\s)?(?P<first>\d{{1,2}}{_NTH}(?:\s?[-–]\s?|\sto\s))?\Z"
)
_BEFORE = 32
"""How far before a number its month may begin, in characters."""
_YEAR = re.compile(r"(\d{4})(?!\d)")
_DAY = re.compile(
    rf"(\d{{1,2}}){_NTH}(?![^\W_]|[:.,]\d|\s?(?:[%{SYMBOLS}]|(?i:per\s?cent)|[A-Z]{{3}}(?![A-Za-z])))"
)
_DAY_YEAR = re.compile(rf"(\d{{1,2}}){_NTH}(?:,\s?|\s)(\d{{4}})(?!\d)")
_MOST_DAYS = 4


def hits(text: str, starts: Iterable[int]) -> Iterator[Hit]:
    """Yield every date of which a number begins at one of ``starts``; hits may overlap."""
    for start in starts:
        for hit in (_figures(text, start), _day_month(text, start), _month_day(text, start)):
            if hit:
                yield hit


def same(stated: str, published: str) -> bool:
    """Whether ``published`` gives the date ``stated`` (values): the same one, or a fuller one."""
    if stated == published:
        return True
    ours, theirs = stated.split("|"), published.split("|")
    if len(ours) == len(theirs) == 2:
        return False
    return any(one == other or _is_part(one, other) for one in ours for other in theirs)


def _is_part(one: str, whole: str) -> bool:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", whole):
        return False
    return one in (whole[:7], "-" + whole[4:])


def _figures(text: str, start: int) -> Hit | None:
    if match := _ISO.match(text, start):
        year, _, month, day = match.groups()
        return Hit("date", start, match.end(), _value(year, month, day))
    match = _FIGURES.match(text, start)
    if match is None or re.search(r"\d[./-]\Z", text[max(0, start - 2) : start]):
        return None
    first, mark, second, year, short = match.groups()
    if short:
        # 3.2.10 is a section, 03.02.10 a date.
        if mark != "/" and (len(first) < 2 or len(second) < 2):
            return None
        year = ("20" if short < "70" else "19") + short
    readings = [(second, first)] if mark == "." else [(second, first), (first, second)]
    values = [_value(year, month, day) for month, day in readings if _may_be(month, day)]
    value = "|".join(dict.fromkeys(values)) or re.sub(r"\s", "", match[0])
    return Hit("date", start, match.end(), value)


def _day_month(text: str, start: int, days: int = 1) -> Hit | None:
    if _NO_DAY.search(text, max(0, start - 2), start + 3):
        return None
    if match := _DAY_MONTH.match(text, start):
        day, month, year = match.groups()
        # In lower case "may" is a month only next to a year: "only 1 may apply".
        if month == "may" and not year:
            return None
        return Hit("date", start, match.end(), _value(year, _number(month), day))
    # The 1 of "1 and 2 March".
    if days < _MOST_DAYS and (more := _AND_ANOTHER_DAY.match(text, start)):
        following = _day_month(text, more.end(), days + 1)
        if following:
            value = following.value[: -len("01")] + more[1].zfill(2)
            return Hit("date", start, more.end(1), value)
    return None


def _month_day(text: str, start: int) -> Hit | None:
    before = _MONTH_BEFORE.search(text, max(0, start - _BEFORE), start)
    if before is None:
        return None
    month = _number(before[1])
    # Of "March 1-15" the 15 is a date of its own.
    begin = start if before["first"] else before.start()
    if match := _DAY_YEAR.match(text, start):
        return Hit("date", begin, match.end(), _value(match[2], month, match[1]))
    if not before["first"] and (match := _YEAR.match(text, start)):
        return Hit("date", begin, match.end(), _value(match[1], month, None))
    match = _DAY.match(text, start)
    if match is None or before[1] == "may":
        return None
    return Hit("date", begin, match.end(), _value(None, month, match[1]))


def _number(month: str) -> str:
    return str(_MONTHS.index(month[:3].lower()) + 1)


def _may_be(month: str, day: str) -> bool:
    return 1 <= int(month) <= 12 and 1 <= int(day) <= 31


def _value(year: str | None, month: str, day: str | None) -> str:
    parts = [year or "-", month.zfill(2)]
    if day is not None:
        parts.append(day.zfill(2))
    return "-".join(parts)
