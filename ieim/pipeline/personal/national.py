"""National numbers: which checks of python-stdnum are used, to redact and to validate keys.

A check is named by its module, ``pl.pesel``. ``gb.nino`` is our own: the library has none.
"""

from __future__ import annotations

import importlib
import re
from enum import Enum
from functools import cache
from typing import Protocol, cast

from stdnum.exceptions import InvalidChecksum, InvalidComponent, ValidationError

# By how many digits: the check, and the groups that the digits must stand in. Without groups there
# stand only checks that a number passes by accident less than about twice in a hundred.
IN_FIGURES: dict[int, tuple[tuple[str, str], ...]] = {
    9: (("us.ssn", "3-2-4"), ("us.itin", "3-2-4"), ("us.atin", "3-2-4")),
    10: (
        ("se.personnummer", "6-4"),
        ("dk.cpr", "6-4"),
        ("is_.kennitala", "6-4"),
        ("cz.rc", "6-4"),
    ),
    11: (
        ("pl.pesel", ""),
        ("be.nn", ""),
        ("no.fodselsnummer", ""),
        ("ee.ik", ""),
        ("lt.asmens", ""),
        ("tr.tckimlik", ""),
        ("gr.amka", ""),
        ("br.cpf", ""),
        ("de.idnr", "2-3-3-3"),
        ("do.cedula", "3-7-1"),
    ),
    12: (("in_.aadhaar", "4-4-4"), ("my.nric", "6-2-4"), ("se.personnummer", "8-4")),
    13: (
        ("ch.ssn", ""),
        ("ro.cnp", ""),
        ("si.emso", ""),
        ("za.idnr", ""),
        ("fr.nif", ""),
        ("kr.rrn", "6-7"),
        ("pk.cnic", "5-7-1"),
        ("th.pin", "1-4-5-2-1"),
    ),
    15: (("fr.nir", ""),),
    16: (("id.nik", ""),),
    18: (("cn.ric", ""),),
}

# The shape of numbers that have letters in them, over a reading; the check says the rest.
WITH_LETTERS: dict[str, str] = {
    "gb.nino": r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z][ -]?\d\d[ -]?\d\d[ -]?\d\d[ -]?[A-D]",
    "it.codicefiscale": r"[A-Z]{3}[ ]?[A-Z]{3}[ ]?[0-9L-NP-V]{2}[A-EHLMPR-T][0-9L-NP-V]{2}[ ]?"
    r"[A-Z][0-9L-NP-V]{3}[A-Z]",
    "es.dni": r"\d{8}[ -]?[A-HJ-NP-TV-Z]",
    "es.nie": r"[XYZ][ -]?\d{7}[ -]?[A-HJ-NP-TV-Z]",
    "ie.pps": r"\d{7}[A-W][ABHWTX]?",
    "fi.hetu": r"\d{6}[-+ABCDEFYXWVU]\d{3}[0-9A-FHJ-NPR-Y]",
    "mx.curp": r"[A-Z]{4}\d{6}[A-Z]{6}[0-9A-Z]\d",
    "in_.pan": r"[A-Z]{5}\d{4}[A-Z]",
    "ke.pin": r"[AP]\d{9}[A-Z]",
    "cn.ric": r"\d{17}X",
    "cl.rut": r"\d{1,2}\.\d{3}\.\d{3}-[0-9K]",
    "fr.nir": r"[12][ ]?\d\d[ ]?\d\d[ ]?2[AB][ ]?\d{3}[ ]?\d{3}[ ]?\d\d",
}

_GB_NINO = re.compile(WITH_LETTERS["gb.nino"], re.IGNORECASE)
# Prefixes that HMRC does not give out.
_NO_NINO = ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ")


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
        whole = _GB_NINO.fullmatch(number)
        if not whole:
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
