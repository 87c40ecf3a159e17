"""Redaction takes linear work: counted, not timed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from ieim.pipeline.personal import MOST_CHECKS, Budget, national, numbers, patterns
from ieim.pipeline.personal.redaction import DEFAULT_REGIONS, find, prepare

WORST = {
    "digits": "9",
    "digits apart": "1 ",
    "phones": "0170 1234567 ",
    "bare phones": "2025550143 ",
    "threes": "123 456 ",
    "plus": "+1",
    "at": "a@",
    "hosts": "a@b.",
    "dots": "a.",
    "dashes": "-",
    "parentheses": "(",
    "ibans": "de11 ",
    "codes": "AB12",
    "labels": "ssn 1",
    "calls": "call 1 ",
    "births": "dob 1/1/",
    "streets": "1 Aa St ",
    "capitals": "Aa ",
    "names": "A'",
    "french": "1 rue a-",
    "spanish": "Calle A ",
    "marks": "e\u0301",
    "zero width": "1\u200b",
    "dates": "1.1.1 ",
    "brackets": "[EMAIL_1",
    "cards": "4111 ",
}


@contextmanager
def calls() -> Iterator[Callable[[], int]]:
    """Count the function calls made inside, C functions and their matches included."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield lambda: count
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize("piece", WORST.values(), ids=WORST.keys())
def test_it_works_no_more_than_in_proportion(piece: str) -> None:
    def work(size: int) -> int:
        text = (piece * size)[:size]
        prepare(text)  # what is loaded once does not count
        with calls() as counted:
            prepare(text)
            return counted()

    short, long = work(1000), work(4000)
    assert long <= 6 * short + 2000


@pytest.mark.parametrize("piece", WORST.values(), ids=WORST.keys())
def test_it_asks_the_libraries_a_bounded_number_of_times(piece: str) -> None:
    budget = Budget()
    find((piece * 10_000)[:10_000], DEFAULT_REGIONS, budget)
    # The last number may be checked in a few more ways before anybody looks.
    assert budget.spent <= MOST_CHECKS + 4 * len(DEFAULT_REGIONS)


def test_it_hides_numbers_unchecked_when_there_are_too_many() -> None:
    references = [f"4405140{n}" for n in range(1000, 1400)]
    parts = prepare("; ".join(references)).text.split("; ")
    assert parts[0] == references[0]
    assert parts[-1].startswith("[NATIONAL_ID_")


def test_it_has_no_repeated_repeat_that_may_give_back() -> None:
    results = [
        (module.__name__, name, value.pattern)
        for module in (national, numbers, patterns)
        for name, value in vars(module).items()
        if isinstance(value, re.Pattern)
    ]
    assert len(results) > 15
    # What repeats possessively inside gives nothing back.
    unbounded = re.compile(r"(?<![\\+])[+*]\)(?:[+*]|\{\d+,\})(?!\+)")
    assert [entry for entry in results if unbounded.search(entry[2])] == []
