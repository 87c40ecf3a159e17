"""IBANs, and national numbers that have letters in them or a word before them, in a reading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from stdnum import iban, numdb

from ieim.pipeline.personal.found import LIKELY, SURE, Budget, Found
from ieim.pipeline.personal.national import WITH_LETTERS, Outcome, check
from ieim.pipeline.personal.words import lead

_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?:[ -]?[A-Za-z0-9]){11,30}")
_SAID_IBAN = re.compile(
    r"(?i:iban)[\s:.#=-]{0,4}(?:(?i:is|no|number|nummer|ist|est|es)[\s:.]{1,2})?\Z"
)
_LETTERED = re.compile(
    "(?<![A-Za-z0-9_])(?:"
    + "|".join(f"(?P<n{n}>{shape})" for n, shape in enumerate(WITH_LETTERS.values()))
    + ")(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
_NAMES = tuple(WITH_LETTERS)
_LEAD = lead(
    "national",
    between=r"(?:[\s.:=#(-]{0,3}+(?:number|nummer|num|numero|no|nr|n°|id|is|ist|est|es|numarası"
    r"|card|code|e|jest|номер)\b){0,4}[\s.:=#(-]{0,4}+(?=[A-Za-z]{0,3}+[ -]?[0-9])",
)
_VALUE = re.compile(
    r"[A-Za-z0-9]+(?:[ ./-][A-Za-z]{0,3}[0-9][A-Za-z0-9]*|[ ./-][A-Z]{1,2}(?![A-Za-z]))*"
)
_LEAST_DIGITS, _MOST_PIECES = 5, 40
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}")


def hits(text: str, budget: Budget) -> Iterator[Found]:
    """Yield the IBANs and national numbers of a reading; they may overlap."""
    if not re.search("[0-9]", text):
        return
    yield from _ibans(text, budget)
    yield from _lettered(text, budget)
    yield from said(text)


def _ibans(text: str, budget: Budget) -> Iterator[Found]:
    lengths = _lengths()
    for match in _IBAN.finditer(text):
        size = lengths.get(match[0][:2].upper())
        places = [at for at in range(match.start(), match.end()) if text[at] not in " -"]
        if size is None or len(places) < size:
            continue
        end = places[size - 1] + 1
        said = _SAID_IBAN.search(text, max(0, match.start() - 24), match.start())
        if text[end : end + 1].isalnum() and not said:
            continue
        if said or budget.exhausted:
            yield Found("IBAN", match.start(), end)
            continue
        budget.spend()
        if iban.is_valid(text[match.start() : end]):
            yield Found("IBAN", match.start(), end)


@cache
def _lengths() -> dict[str, int]:
    """Return how many characters an IBAN of each country has."""
    table = numdb.get("iban")
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    lengths = {}
    for country in (one + two for one in letters for two in letters):
        for _, properties in table.info(country):
            if structure := properties.get("bban"):
                parts = re.findall(r"(\d+)!", structure)
                lengths[country] = 4 + sum(map(int, parts))
    return lengths


def _lettered(text: str, budget: Budget) -> Iterator[Found]:
    for match in _LETTERED.finditer(text):
        name = _NAMES[int(str(match.lastgroup)[1:])]
        if not budget.exhausted:
            budget.spend()
            if check(name, match[0]) is not Outcome.PASSED:
                continue
        yield Found("NATIONAL_ID", match.start(), match.end(), SURE)


def said(text: str) -> Iterator[Found]:
    """Yield numbers that the words before them say to be one, whatever a check says."""
    done = 0
    for label in _LEAD.finditer(text):
        if label.start() < done:
            continue
        value = _VALUE.match(text, label.end())
        if value is None or _DATE.match(text, label.end()):
            continue
        if sum(character.isdigit() for character in value[0]) >= _LEAST_DIGITS:
            done = value.end()
            yield Found("NATIONAL_ID", value.start(), value.end(), LIKELY)
