"""Telephone numbers in a reading: international, national in groups, and short ones.

Values are digits, with ``+`` before an international number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ieim.pipeline.facts.reading import Hit

Group = tuple[int, int]

SHORTEST = 7
"""Digits that a number must have to be one by its looks alone."""

_JOINTS = frozenset(
    [" ", "-", "–", ".", "/", ")", ") ", ")-", " (", "(", "-(", ") (", ")(", " - ", " – "]
)
_SPACED_DASHES = frozenset([" - ", " – "])
_PREFIX = re.compile(r"\(?\+\s?\(?\Z")
_ALWAYS_OPEN = re.compile(r"24(?:/7|\s?-?h)", re.IGNORECASE)
_TIME = r"(?:[01]?\d|2[0-4])\.[0-5]\d"
_OPENING_HOURS = re.compile(rf"{_TIME}\s?[-–]\s?{_TIME}")
_TWO_YEARS = re.compile(r"(?:19|20)\d\d[-–/ ](?:19|20)\d\d")
_FILLER = (
    r"(?:us|them|on|at|the|number|numbers|no|is|line|service|toll-?free|free|police|ambulance)"
)
_CALL = re.compile(
    r"(?<![^\W\d_])(?:call(?:ing)?|(?:tele)?phone|tel|dial(?:l?ing)?|ring|text|sms|fax|ext|emergency"
    rf"|[a-z]{{0,8}}line)[\s.:]{{0,3}}(?:{_FILLER}[\s.:]{{1,2}}){{0,5}}\Z",
    re.IGNORECASE,
)
_CALL_LENGTH = 48
_SHORT = re.compile(
    r"\d{3,6}(?!\d|[.,]\d|[-–/]\d|\s?(?i:%|days?|weeks?|months?|years?|hours?|minutes?|people|times))"
)
_SECOND_HALF = re.compile(r"[ -]\d{3}(?!\d)")
_OR = re.compile(r"(?:,|\s?/|,?\s(?:or|and))\s?")


def hits(text: str, groups: Sequence[Group], taken: bytearray) -> Iterator[Hit]:
    """Yield every number made of ``groups`` (runs of digits); none overlaps another.

    ``taken`` marks the characters that other facts have; those of the hits are marked in turn.
    """
    free = [group for group in groups if taken.find(1, *group) < 0]
    for run in _runs(text, free):
        if hit := _long(text, run):
            taken[hit.start : hit.end] = bytes([1]) * (hit.end - hit.start)
            yield hit
    last = 0
    for start, end in free:
        if taken.find(1, start, end) >= 0 or not 3 <= end - start <= 6:
            continue
        called = _CALL.search(text, max(0, start - _CALL_LENGTH), start)
        if not called and not (last and _OR.fullmatch(text, last, start)):
            continue
        if match := _SHORT.match(text, start):
            half = _SECOND_HALF.match(text, match.end()) if match.end() - start == 3 else None
            last = half.end() if half else match.end()
            taken[start:last] = bytes([1]) * (last - start)
            yield Hit("phone", start, last, _digits(text[start:last]))


def same(stated: str, known: str) -> bool:
    """Whether ``known`` gives the number ``stated`` (values).

    A national number equals an international one that ends in it. A number without its area code
    may be stated, an area code that nobody gave may not.
    """
    ours, theirs = stated.lstrip("+"), known.lstrip("+")
    if stated == known or (ours == theirs and len(ours) >= SHORTEST):
        return True
    national, other = ours.removeprefix("0"), theirs.removeprefix("0")
    if min(len(national), len(other)) < SHORTEST:
        return False
    match stated.startswith("+"), known.startswith("+"):
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
    """Yield groups that belong to one number by what stands between them."""
    run: list[Group] = []
    digits = 0
    for start, end in groups:
        if run and not _continues(text, run[-1], (start, end), digits):
            yield run
            run, digits = [], 0
        run.append((start, end))
        digits += end - start
    if run:
        yield run


def _continues(text: str, group: Group, following: Group, digits: int) -> bool:
    joint = text[group[1] : following[0]]
    if joint not in _JOINTS or _ALWAYS_OPEN.match(text, following[0]):
        return False
    size = following[1] - following[0]
    if joint in _SPACED_DASHES:
        return size >= 3 and group[1] - group[0] >= 3
    if joint == "/":
        return digits < SHORTEST  # else it stands between two numbers
    return True


def _long(text: str, run: list[Group]) -> Hit | None:
    start, end = run[0][0], run[-1][1]
    number = text[start:end]
    if sum(b - a for a, b in run) < SHORTEST:
        return None
    if _TWO_YEARS.fullmatch(number) or _OPENING_HOURS.fullmatch(number):
        return None
    if prefix := _PREFIX.search(text, max(0, start - 3), start):
        return Hit("phone", prefix.start(), end, "+" + _digits(number.replace("(0)", "")))
    if ")" in number and text[start - 1 : start] == "(":
        start -= 1
    value = _digits(number)
    if value.startswith("00") and len(value) >= SHORTEST + 3:
        value = "+" + value[2:]
    return Hit("phone", start, end, value)


def _digits(number: str) -> str:
    return re.sub(r"\D", "", number)
