"""Opening hours: open or closed at a moment, and until when."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.administration.hours import (
    BadHours,
    Hours,
    Status,
    format_closed,
    format_spans,
    holidays_of,
    read_closed,
    read_spans,
)

BERLIN = ZoneInfo("Europe/Berlin")
WEEK = [read_spans("08:00-12:00, 13:00-16:00")] * 4 + [read_spans("8:00–12:00")] + [()] * 2
OFFICE = Hours(BERLIN, WEEK, "DE-BY", [read_closed("2026-11-26 to 2026-11-27: works outing")])


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("moment", "is_open", "until"),
    [
        ("2026-11-23 07:59", False, "2026-11-23 08:00"),
        ("2026-11-23 08:00", True, "2026-11-23 12:00"),
        ("2026-11-23 12:00", False, "2026-11-23 13:00"),
        ("2026-11-23 15:59", True, "2026-11-23 16:00"),
        ("2026-11-23 16:00", False, "2026-11-24 08:00"),
        ("2026-11-20 12:00", False, "2026-11-23 08:00"),  # a weekend
        ("2026-11-25 16:00", False, "2026-11-30 08:00"),  # days of its own, and a weekend
        ("2026-01-05 16:00", False, "2026-01-07 08:00"),  # a holiday of that part of the country
    ],
)
def test_it_knows_when_it_is_open(moment: str, is_open: bool, until: str) -> None:
    assert OFFICE.status(at(moment)) == Status(is_open, at(until))
    assert OFFICE.status(at(moment).astimezone(UTC)) == Status(is_open, at(until))


def test_it_counts_the_hour_that_the_clocks_repeat() -> None:
    night = Hours(BERLIN, [read_spans("00:00-24:00")] * 7)
    status = night.status(datetime(2026, 10, 25, 0, 30, tzinfo=UTC))
    assert status.open
    assert status.until is not None
    assert status.until.astimezone(UTC) == datetime(2026, 10, 25, 23, tzinfo=UTC)


def test_it_looks_no_further_than_it_says() -> None:
    closed = Hours(BERLIN, WEEK, closed=[read_closed("2026-01-01 to 2027-12-31")])
    assert closed.status(at("2026-06-01 10:00")) == Status(open=False, until=None)
    assert not Hours(BERLIN)


@given(st.lists(st.integers(0, 24 * 60), min_size=0, max_size=6, unique=True).map(sorted))
def test_what_is_said_can_be_read(minutes: list[int]) -> None:
    spans = tuple(zip(minutes[::2], minutes[1::2], strict=False))
    assert read_spans(format_spans(spans)) == spans


@given(st.dates(), st.integers(0, 400), st.text("abc ,.", max_size=9).map(str.strip))
def test_the_days_that_are_said_can_be_read(first: date, days: int, why: str) -> None:
    try:
        last = first + timedelta(days=days)
    except OverflowError:
        return
    line = f"{first} to {last}: {why}"
    closed = read_closed(line)
    assert (closed.first, closed.last, closed.why) == (first, last, why)
    assert read_closed(format_closed(closed)) == closed


@given(st.text())
def test_it_reads_anything_or_says_what_to_write(text: str) -> None:
    for read in (read_spans, read_closed):
        try:
            read(text)
        except BadHours as bad:
            assert bad.args[0].endswith(".")  # noqa: PT017 - both ways are answers


@pytest.mark.parametrize(
    ("country", "language", "name"),
    [
        ("DE", "de", "Erster Weihnachtstag"),
        ("DE", "en-gb", "Christmas Day"),
        ("DE", "zh-hans", "Erster Weihnachtstag"),  # not known in it: the country's own
        ("PH", "fil", "Pasko"),
        ("FR", "fr", "Noël"),
    ],
)
def test_a_holiday_has_its_name_in_the_language_of_the_page(
    country: str, language: str, name: str
) -> None:
    assert holidays_of(country, language)[date(2026, 12, 25)] == name
