"""Personal data in a reading: one recogniser a file, words in ``words.yaml``."""

from __future__ import annotations

from collections.abc import Sequence

from ieim.pipeline.personal import addresses, births, codes, emails, numbers
from ieim.pipeline.personal.found import Budget, Found

__all__ = ["KINDS", "Found", "find"]

KINDS = ("EMAIL", "IBAN", "CARD", "NATIONAL_ID", "PHONE", "DATE_OF_BIRTH", "ADDRESS")
"""Every kind that is recognised; of two that fit equally well the first one counts."""


def find(text: str, regions: Sequence[str], budget: Budget) -> list[Found]:
    """Return all personal data of the reading ``text``; finds may overlap.

    ``regions`` are the countries (ISO 3166) whose national telephone numbers are known. Linear in
    the length of the text.
    """
    return [
        *emails.hits(text),
        *codes.hits(text, budget),
        *numbers.hits(text, regions, budget),
        *births.hits(text),
        *addresses.hits(text),
    ]
