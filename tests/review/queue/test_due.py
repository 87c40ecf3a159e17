from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.administration.hours import Closed, Hours
from ieim.pipeline.knowledge import Label
from review import due
from review.due import LONGEST_MINUTES, Target
from review.models import Priority

BERLIN = ZoneInfo("Europe/Berlin")
WEEKDAYS = [((9 * 60, 17 * 60),)] * 5 + [()] * 2
OFFICE = Hours(BERLIN, WEEKDAYS, "DE")
LABELS = {
    code: Label("urgencies", code, code.title(), effect=effect)
    for code, effect in {"emergency": "30", "high": "240", "normal": "1440", "odd": ""}.items()
}

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
moments = st.integers(min_value=0, max_value=2 * 365 * 24 * 3600).map(
    lambda seconds: BEGIN + timedelta(seconds=seconds)
)
minutes = st.integers(min_value=0, max_value=10_000)
# Nobody opens an office while clocks are changed.
mornings = st.tuples(st.integers(4 * 60, 8 * 60), st.integers(8 * 60 + 1, 12 * 60))
afternoons = st.tuples(st.integers(12 * 60, 13 * 60), st.integers(13 * 60 + 1, 24 * 60))
parts = {"morning": mornings, "afternoon": afternoons}
days = st.sampled_from(["", "morning", "afternoon", "both"]).flatmap(
    lambda kind: st.tuples(
        *(each for name, each in parts.items() if kind in (name, "both")),
    )
)
calendars = st.builds(
    Hours,
    st.sampled_from(
        [BERLIN, ZoneInfo("UTC"), ZoneInfo("America/New_York"), ZoneInfo("Asia/Kathmandu")]
    ),
    st.lists(days, min_size=7, max_size=7).filter(
        lambda week: sum(closes - opens for spans in week for opens, closes in spans) > 240
    ),
    st.sampled_from(["DE", "US", ""]),
)


def berlin(day: int, hour: int, minute: int = 0, *, month: int = 11) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=BERLIN)


@given(moments, minutes, calendars)
def test_it_is_never_due_outside_business_hours(
    start: datetime, wanted: int, calendar: Hours
) -> None:
    result = due.due(start, Target(wanted), calendar)
    # Closing at midnight belongs to the day that ends with it.
    local = (result - timedelta(microseconds=1)).astimezone(calendar.zone)
    begins = result.astimezone(calendar.zone)
    on_opening = any(begins == opens for opens, _ in calendar.moments(begins.date()))
    within = any(opens <= result <= closes for opens, closes in calendar.moments(local.date()))
    assert on_opening or within
    assert result >= start


@given(moments, moments, minutes, minutes, calendars)
def test_it_is_due_later_for_a_later_start_and_for_more_time(
    one: datetime, other: datetime, few: int, many: int, calendar: Hours
) -> None:
    first, last = sorted([one, other])
    short, long = sorted([few, many])
    assert due.due(first, Target(short), calendar) <= due.due(last, Target(short), calendar)
    assert due.due(first, Target(short), calendar) <= due.due(first, Target(long), calendar)


@given(moments, minutes)
def test_it_counts_a_crisis_at_any_hour(start: datetime, wanted: int) -> None:
    assert due.due(start, Target(wanted, at_any_hour=True), OFFICE) - start == timedelta(
        minutes=wanted
    )


@given(moments, minutes, minutes, calendars)
def test_it_loses_no_minute_between_two_parts(
    start: datetime, one: int, other: int, calendar: Hours
) -> None:
    halfway = due.due(start, Target(one), calendar)
    assert due.due(halfway, Target(other), calendar) == due.due(
        start, Target(one + other), calendar
    )


@pytest.mark.parametrize(
    ("start", "wanted", "expected"),
    [
        (berlin(18, 10), 240, berlin(18, 14)),
        (berlin(18, 10), 420, berlin(18, 17)),
        (berlin(18, 16), 120, berlin(19, 10)),
        (berlin(18, 20), 60, berlin(19, 10)),
        (berlin(18, 3), 0, berlin(18, 9)),
        # Friday evening: the weekend does not count.
        (berlin(20, 16), 120, berlin(23, 10)),
        # Christmas: Thursday evening to Monday.
        (berlin(24, 16, month=12), 120, berlin(28, 10, month=12)),
        # Three days of eight hours.
        (berlin(16, 9), 1440, berlin(18, 17)),
        # Clocks go back between Friday and Monday.
        (berlin(23, 16, month=10), 120, berlin(26, 10, month=10)),
    ],
)
def test_it_counts_business_hours(start: datetime, wanted: int, expected: datetime) -> None:
    assert due.due(start, Target(wanted), OFFICE) == expected


def test_it_counts_the_hours_that_there_are_when_clocks_change() -> None:
    # 29 March 2026 has 23 hours in Berlin, 25 October has 25.
    always = Hours(BERLIN, [((0, 24 * 60),)] * 7)
    day = timedelta(days=1)
    for start in (berlin(28, 12, month=3), berlin(24, 12, month=10)):
        assert due.due(start.astimezone(UTC), Target(24 * 60), always) - start == day


def test_it_is_due_some_day_where_nobody_ever_opens() -> None:
    shut = Hours(BERLIN, WEEKDAYS, closed=[Closed(date.min, date.max)])
    for hours in (shut, Hours(BERLIN)):
        assert due.due(berlin(18, 10), Target(60), hours).year == 2036


def test_it_takes_no_target_that_is_beyond_all_calendars() -> None:
    start = berlin(18, 10)
    longest = due.due(start, Target(LONGEST_MINUTES), OFFICE)
    assert due.due(start, Target(10**9), OFFICE) == longest
    assert due.due(start, Target(10**9, at_any_hour=True), OFFICE).year == 2027


@pytest.mark.parametrize(
    ("urgency", "priority", "crisis", "urgencies", "expected"),
    [
        ("high", Priority.LOW, False, LABELS, Target(240)),
        ("", Priority.HIGH, False, LABELS, Target(240)),
        ("", Priority.NORMAL, False, LABELS, Target(1440)),
        ("", Priority.LOW, False, {}, Target(4320)),
        ("odd", Priority.NORMAL, False, LABELS, Target(1440)),
        ("unknown", Priority.LOW, False, LABELS, Target(4320)),
        ("normal", Priority.NORMAL, True, LABELS, Target(30, at_any_hour=True)),
        ("", Priority.NORMAL, True, {}, Target(30, at_any_hour=True)),
    ],
)
def test_it_knows_how_long_an_item_may_wait(
    urgency: str,
    priority: Priority,
    crisis: bool,
    urgencies: Mapping[str, Label],
    expected: Target,
) -> None:
    result = due.target(urgency=urgency, priority=priority, crisis=crisis, urgencies=urgencies)
    assert result == expected
