"""IBANs, and national numbers: their checks, and those that letters or words before them show.

Checks are those of python-stdnum, named by their module, ``pl.pesel``. ``gb.nino`` is our own: the
library has none.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import Protocol, cast

from stdnum import iban, numdb
from stdnum.exceptions import InvalidChecksum, InvalidComponent, ValidationError

from ieim.pipeline.personal import LIKELY, SURE, Budget, Found, either, lead, vocabulary

IN_FIGURES: dict[int, tuple[tuple[str, str], ...]] = {
    size: tuple(checks.items()) for size, checks in vocabulary()["in_figures"].items()
}
"""By how many digits: the checks, each with the groups that the digits must stand in."""

WITH_LETTERS: dict[str, str] = vocabulary()["with_letters"]
"""The shape of each number that has letters in it, by its check."""

_GB_NINO = re.compile(WITH_LETTERS["gb.nino"], re.IGNORECASE)
# Prefixes that HMRC does not give out.
_NO_NINO = ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ")

_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?:[ -]?[A-Za-z0-9]){11,30}")
_IBAN_LEAD = re.compile(
    r"(?i:iban)[\s:.#=-]{0,4}(?:(?i:is|no|number|nummer|ist|est|es)[\s:.]{1,2})?\Z"
)
_LETTERED = re.compile(
    "(?<![A-Za-z0-9_])(?:"
    + "|".join(f"(?P<n{n}>{shape})" for n, shape in enumerate(WITH_LETTERS.values()))
    + ")(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
_NAMES = tuple(WITH_LETTERS)
_JOINING = vocabulary()["joining"]
_LEAD = lead(
    "national",
    # Scripts without spaces have no edge of a word.
    between=rf"(?:[\s.:=#(-]{{0,3}}+(?:(?:{either(_JOINING['words'])})\b"
    rf"|{either(_JOINING['endings'])})){{0,4}}[\s.:=#(、,-]{{0,4}}+(?=[A-Za-z]{{0,3}}+[ -]?[0-9])",
)
_VALUE = re.compile(
    r"[A-Za-z0-9]+(?:[ ./-][A-Za-z]{0,3}[0-9][A-Za-z0-9]*|[ ./-][A-Z]{1,2}(?![A-Za-z]))*"
)
_LEAST_DIGITS = 5
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}")


class Outcome(Enum):
    """What a check says about a number."""

    PASSED = "passed"
    FAILED = "failed"
    """It has the form, but not the check digits or a part that must be right."""
    NOT_THIS = "not_this"
    """It does not have the form: the check says nothing about it."""


class _Module(Protocol):
    def validate(self, number: str) -> str: ...


def check(name: str, number: str) -> Outcome:
    """Check ``number`` (its own separators allowed) by the check ``name``."""
    if not number.isascii():
        return Outcome.NOT_THIS
    if name == "gb.nino":
        if not _GB_NINO.fullmatch(number):
            return Outcome.NOT_THIS
        return Outcome.FAILED if number[:2].upper() in _NO_NINO else Outcome.PASSED
    try:
        _module(name).validate(number)
    except (InvalidChecksum, InvalidComponent, LookupError):
        # A place that its tables know only in part is a KeyError in the library (cn.ric).
        return Outcome.FAILED
    except ValidationError:
        return Outcome.NOT_THIS
    return Outcome.PASSED


@cache
def _module(name: str) -> _Module:
    return cast(_Module, importlib.import_module(f"stdnum.{name}"))


def hits(text: str, budget: Budget) -> Iterator[Found]:
    """Yield the IBANs and national numbers of a reading; they may overlap."""
    if re.search("[0-9]", text):
        yield from _ibans(text, budget)
        yield from _lettered(text, budget)
        yield from labelled(text)


def labelled(text: str) -> Iterator[Found]:
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


def _ibans(text: str, budget: Budget) -> Iterator[Found]:
    for match in _IBAN.finditer(text):
        size = _iban_lengths().get(match[0][:2].upper())
        places = [at for at in range(match.start(), match.end()) if text[at] not in " -"]
        if size is None or len(places) < size:
            continue
        end = places[size - 1] + 1
        named = _IBAN_LEAD.search(text, max(0, match.start() - 24), match.start())
        if text[end : end + 1].isalnum() and not named:
            continue
        if not named and not budget.exhausted:
            budget.spend()
            if not iban.is_valid(text[match.start() : end]):
                continue
        yield Found("IBAN", match.start(), end)


@cache
def _iban_lengths() -> dict[str, int]:
    """Return how many characters an IBAN of each country has."""
    table = numdb.get("iban")
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    lengths = {}
    for country in (one + two for one in letters for two in letters):
        for _, properties in table.info(country):
            if structure := properties.get("bban"):
                lengths[country] = 4 + sum(map(int, re.findall(r"(?<!\d)(\d++)!", structure)))
    return lengths


def _lettered(text: str, budget: Budget) -> Iterator[Found]:
    for match in _LETTERED.finditer(text):
        name = _NAMES[int(str(match.lastgroup)[1:])]
        if not budget.exhausted:
            budget.spend()
            if check(name, match[0]) is not Outcome.PASSED:
                continue
        yield Found("NATIONAL_ID", match.start(), match.end(), SURE)
