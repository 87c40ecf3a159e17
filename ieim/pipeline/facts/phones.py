"""Telephone numbers in a reading: international, national in groups, and short ones.

Values are digits, with ``+`` before an international number. What merely looks like a number is
one: ``phonenumbers.PhoneNumberMatcher`` passes over those that no plan knows, as invented ones are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ieim.pipeline.facts.reading import Hit

Group = tuple[int, int]

SHORTEST = 7
"""Digits that a number must have to be one by its looks alone."""

_JOINT = re.compile(r"[-–./ ]|\) ?\(?|\)-| \(|-?\(| [-–] ")
_SPACED_DASH = re.compile(r" [-–] ")
_PREFIX = re.compile(r"\(?\+\s?\(?\Z")
_ALWAYS_OPEN = re.compile(r"24(?:/7|\s?-?h)", re.IGNORECASE)
_TIME = r"(?:[01]?\d|2[0-4])\.[0-5]\d"
_YEAR = r"(?:19|20)\d\d"
_YEARS_OR_HOURS = re.compile(rf"{_YEAR}[-–/ ]{_YEAR}|{_TIME}\s?[-–]\s?{_TIME}")
_FILLER = (
    r"(?:us|them|on|at|the|number|numbers|no|is|line|service|toll-?free|free|police|ambulance)"
)
_CALL = re.compile(
    r"(?<![^\W\d_])(?:call(?:ing)?|(?:tele)?phone|tel|dial(?:l?ing)?|ring|text|sms|fax|ext|emergency"
    rf"|[a-z]{{0,8}}line)[\s.:]{{0,3}}(?:{_FILLER}[\s.:]{{1,2}}){{0,5}}\Z",
    re.IGNORECASE,
)
_LONGEST_CALL = 48
_SHORT = re.compile(
    r"\d{3,6}(?!\d|[.,]\d|[-–/]\d|\s?(?i:%|days?|weeks?|months?|years?|hours?|minutes?|people|times))"
    r"(?:(?<!\d{4})[ -]\d{3}(?!\d))?"
)
_OR = re.compile(r"(?:,|\s?/|,?\s(?:or|and))\s?")


def hits(text: str, groups: Sequence[Group], occupied: bytearray) -> Iterator[Hit]:
    """Yield every number made of ``groups`` (runs of digits); none overlaps another.

    ``occupied`` marks the characters that other facts have; those of the hits are marked in turn.
    """
    free = [group for group in groups if occupied.find(1, *group) < 0]
    for run in _runs(text, free):
        if hit := _long(text, run):
            occupied[hit.start : hit.end] = bytes([1]) * (hit.end - hit.start)
            yield hit
    last = 0
    for start, end in free:
        if occupied.find(1, start, end) >= 0 or not 3 <= end - start <= 6:
            continue
        called = _CALL.search(text, max(0, start - _LONGEST_CALL), start)
        called = called or (_OR.fullmatch(text, last, start) if last else None)
        if called and (match := _SHORT.match(text, start)):
            last = match.end()
            occupied[start:last] = bytes([1]) * (last - start)
            yield Hit("phone", start, last, _digits(match[0]))


def same(stated: str, published: str) -> bool:
    """Whether ``published`` gives the number ``stated`` (values).

    A national number equals an international one that ends in it. A number without its area code
    may be stated, an area code that is not published may not.
    """
    ours, theirs = stated.lstrip("+"), published.lstrip("+")
    if stated == published or (ours == theirs and len(ours) >= SHORTEST):
        return True
    national, other = ours.removeprefix("0"), theirs.removeprefix("0")
    if min(len(national), len(other)) < SHORTEST:
        return False
    match stated.startswith("+"), published.startswith("+"):
        case (True, True):
            return False
        case (False, True):
            return theirs.endswith(national)
        case (True, False):
            return ours.endswith(other) and len(ours) - len(other) <= 3
    if national == other or (f"1{other}" == ours == f"1{theirs}" and len(theirs) == 10):
        return True
    return ours == national and other.endswith(ours)


def _runs(text: str, groups: Sequence[Group]) -> Iterator[list[Group]]:
    """Yield groups that belong to one number by the separators between them."""
    run: list[Group] = []
    for group in groups:
        if run and not _continues(text, run, group):
            yield run
            run = []
        run.append(group)
    if run:
        yield run


def _continues(text: str, run: Sequence[Group], following: Group) -> bool:
    (first, last), (start, end) = run[-1], following
    if not _JOINT.fullmatch(text, last, start) or _ALWAYS_OPEN.match(text, start):
        return False
    if _SPACED_DASH.fullmatch(text, last, start):
        return end - start >= 3 and last - first >= 3
    # After a whole number a slash separates two.
    return text[last:start] != "/" or sum(b - a for a, b in run) < SHORTEST


def _long(text: str, run: Sequence[Group]) -> Hit | None:
    start, end = run[0][0], run[-1][1]
    number = text[start:end]
    value = _digits(number)
    if len(value) < SHORTEST or _YEARS_OR_HOURS.fullmatch(number):
        return None
    if prefix := _PREFIX.search(text, max(0, start - 3), start):
        return Hit("phone", prefix.start(), end, "+" + _digits(number.replace("(0)", "")))
    if ")" in number and text[start - 1 : start] == "(":
        start -= 1
    if value.startswith("00") and len(value) >= SHORTEST + 3:
        value = "+" + value[2:]
    return Hit("phone", start, end, value)


def _digits(number: str) -> str:
    return re.sub(r"\D", "", number)
