"""Amounts, days, places and hours are read from short texts, or refused with what to write."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from ieim.pipeline import structured
from ieim.pipeline.structured import Amount, Days, Opening


@pytest.mark.parametrize(
    ("column", "text", "value"),
    [
        ("amounts", "45.00 EUR", Amount(Decimal("45.00"), "EUR")),
        ("amounts", "0 MRK (children under 6)", Amount(Decimal(0), "MRK", "children under 6")),
        ("processing_days", "14", Days(14, 14, working=False)),
        ("processing_days", "5-10 working", Days(5, 10, working=True)),
        ("processing_days", "5 to 10", Days(5, 10, working=False)),
        ("places", "City Hall, 1 Market Square, Tarrow", ("City Hall", "1 Market Square, Tarrow")),
        ("hours", "Mo-We,Fr 09:00-16:00", Opening((0, 1, 2, 4), (540, 960))),
        ("hours", "Sa-Mo 00:00-24:00", Opening((5, 6, 0), (0, 1440))),
        (
            "hours",
            "2026-12-24 to 2027-01-01 closed (winter break)",
            Opening((), None, date(2026, 12, 24), date(2027, 1, 1), "winter break"),
        ),
    ],
)
def test_it_reads_a_value(column: str, text: str, value: object) -> None:
    assert structured.READERS[column](text) == value


@pytest.mark.parametrize(
    ("column", "text"),
    [
        *(("amounts", text) for text in ("45", "45 euro", "45,00 EUR", "-5 EUR", "5 EUR (a (b))")),
        *(("processing_days", text) for text in ("0", "10-5", "two weeks", "5/10")),
        *(("places", text) for text in ("City Hall", ", Market Square", "City Hall,")),
        *(("hours", text) for text in ("Mo-Fr", "Mo-Fr 9-16", "Mo 16:00-09:00", "Mo 09:00-24:30")),
        *(("hours", text) for text in ("2026-02-30 closed", "2027-01-01 to 2026-12-24 closed")),
        ("hours", "2026-12-24 to 2029-12-24 closed"),
    ],
)
def test_it_says_what_to_write_instead(column: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"^is '.*': write "):
        structured.READERS[column](text)


def test_a_week_has_the_times_of_each_day_and_no_dates() -> None:
    hours = ["Mo-Tu 13:00-18:00", "Mo 08:00-12:00", "2026-12-31 09:00-12:00"]
    assert structured.week(hours)[:3] == (((480, 720), (780, 1080)), ((780, 1080),), ())
    assert structured.overlap(hours) == ""
    assert structured.overlap([*hours, "Mo-Fr 11:00-12:30"]) == "Mo"
