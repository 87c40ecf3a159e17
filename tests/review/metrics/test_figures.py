"""The figures without a database: sums, quantiles, periods, charts, CSV."""

from __future__ import annotations

import csv as standard_csv
import io
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.knowledge.bundles.formats import BOM
from review.metrics import charts, csv, figures, filters
from review.metrics.csv import HEADER, Measure
from review.metrics.figures import Deciding, Figures, quantile
from review.metrics.page import build
from review.metrics.queries import (
    Answered,
    Chosen,
    Counted,
    Decided,
    Period,
    Spent,
    Stopped,
)
from review.queue.filters import BadAddress

pytestmark = pytest.mark.both_databases

TODAY = date(2026, 3, 31)
PERIOD = Period(date(2026, 3, 25), TODAY)
ALL = filters.Filters(PERIOD, 0, "")

days = st.sampled_from(PERIOD.days)
agencies = st.sampled_from(["", "visas", "passports"])
counts = st.integers(1, 10_000)
words = st.text(max_size=12)
questions = st.builds(
    Counted, days, agencies, st.sampled_from(["model", "staff", "running"]), counts
)
stopped = st.builds(Stopped, days, agencies, st.sampled_from(["classify", "reply"]), words, counts)
answered = st.builds(Answered, days, agencies, st.floats(0, 1e6), st.sampled_from([True, None]))
actions = st.sampled_from(["approve", "override", "agree"])
decided = st.builds(
    Decided, days, agencies, st.integers(1, 3), actions, st.integers(0, 900), counts
)
spent = st.builds(Spent, days, agencies, st.sampled_from(["classify", "extract"]), counts, counts)
rated = st.builds(Counted, days, agencies, st.booleans(), counts)
told = st.builds(Counted, days, agencies, st.sampled_from(["", "wrong", "unclear"]), counts)
went_on = st.builds(Counted, days, agencies, st.booleans(), counts)
places = st.sampled_from([("", 0), ("none", 0), ("expired", 0), ("chosen", 1), ("chosen", 4)])
chosen = st.builds(
    lambda day, agency, ended, turns: Chosen(day, agency, ended[0], ended[1], turns),
    *(days, agencies, places, counts),
)
some = st.builds(
    lambda *rows: Figures(PERIOD, *map(tuple, rows)),
    *(
        st.lists(each, max_size=8)
        for each in (questions, stopped, answered, decided, spent, rated, told, chosen, went_on)
    ),
)


def of(shown: Figures) -> dict[str, int]:
    """The sums of a period, as the measures of the CSV name them."""
    return {
        "turns": sum(row.total for row in shown.questions),
        "turns_by_outcome": sum(row.total for row in shown.questions),
        "stopped_by_stage": sum(row.total for row in shown.stopped),
        "stopped_by_reason": sum(row.total for row in shown.stopped),
        "answers_by_people": len(shown.answered),
        "decisions": sum(row.total for row in shown.decided),
        "decisions_of_person": sum(row.total for row in shown.decided),
        "tokens": sum(row.total for row in shown.spent),
        "cached_tokens": sum(row.cached for row in shown.spent),
        "choices_by_outcome": sum(row.total for row in shown.chosen),
        "choices_by_place": sum(row.total for row in shown.chosen if row.place),
        "answers_rated": sum(row.total for row in shown.rated),
        "answers_rated_useful": sum(row.total for row in shown.rated if row.what),
        "answers_that_went_on": sum(row.total for row in shown.went_on),
        "answers_about_something_else": sum(row.total for row in shown.went_on if row.what),
    }


@given(some)
def test_it_sums_by_day_and_agency_to_the_totals(shown: Figures) -> None:
    rows = list(csv.measures(shown, {1: "Eva", 2: "Ann", 3: "Bob"}))
    for measure, total in of(shown).items():
        assert sum(row.value for row in rows if row.measure == measure) == total
    keys = [row[:4] for row in rows]
    assert len(keys) == len(set(keys))


@given(some)
def test_it_shows_the_same_numbers_in_charts_and_tables(shown: Figures) -> None:
    page = build(ALL, shown, {}, None, None)
    questions, choices, stopped, stages, reasons, times, tokens, by_stage, said = page["sections"]
    wants = of(shown)
    for section, total in (
        (questions, "turns"),
        (choices, "choices_by_outcome"),
        (stopped, "stopped_by_stage"),
        (tokens, "tokens"),
    ):
        column = [number(row[1]) for row in section.table.rows]
        assert sum(column) == number(section.table.total[1]) == wants[total]
        drawn = [column.words for column in section.chart.columns if "none" not in column.words]
        assert len(drawn) == len(section.table.rows)
    for section in (stages, reasons, by_stage, said):
        column = [number(row[1]) for row in section.table.rows]
        assert [number(bar.words) for bar in section.chart.bars] == column
    answers = [number(row[1]) for row in times.table.rows]
    assert sum(answers) == wants["answers_by_people"]
    assert len(times.chart.points) == 2 * len(answers)


@given(some)
def test_it_keeps_the_drawing_within_the_chart(shown: Figures) -> None:
    for section in build(ALL, shown, {}, None, None)["sections"]:
        chart = section.chart
        for column in chart.columns:
            assert float(column.x[:-1]) + float(column.width[:-1]) <= 100.001
            top, bottom = charts.TOP - 0.02, charts.TOP + charts.PLOT + 0.02
            assert all(top <= part.y and part.y + part.height <= bottom for part in column.parts)
        assert all(point.y >= charts.TOP - 0.02 for point in chart.points)
        assert all(float(bar.width[:-1]) <= charts.WIDEST for bar in chart.bars)


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(1, 5)), min_size=1), st.floats(0.01, 1))
def test_it_takes_the_smallest_value_that_the_share_does_not_exceed(
    values: list[tuple[float, int]], share: float
) -> None:
    found = quantile(values, share)
    each = [value for value, count in values for _ in range(count)]
    assert found in each
    assert sum(value <= found for value in each) >= share * len(each)
    assert sum(value < found for value in each) < share * len(each)


def test_it_has_no_quantile_of_nothing() -> None:
    assert quantile([], 0.5) is None


@given(st.lists(st.builds(Measure, days, words, words, words, st.integers()), max_size=6), words)
def test_it_writes_csv_that_reads_back(rows: list[Measure], name: str) -> None:
    text = csv.write(rows, {row.agency: name for row in rows})
    assert text.startswith(BOM)
    header, *read = standard_csv.reader(io.StringIO(text.removeprefix(BOM), newline=""))
    assert tuple(header) == HEADER
    for cells, row in zip(read, rows, strict=True):
        texts = (row.agency, name, row.measure, row.detail)
        for cell, meant in zip(cells[1:5], texts, strict=True):
            assert cell in (meant, f"'{meant}")
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d"))
        assert (date.fromisoformat(cells[0]), int(cells[5])) == (row.day, row.value)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\uff1d"])
def test_it_makes_no_formula_of_a_name(start: str) -> None:
    row = Measure(TODAY, "visas", "decisions_of_person", f"{start}HYPERLINK(1)", -5)
    line = csv.write([row], {"visas": f"{start}1+1"})
    (cells,) = list(standard_csv.reader(io.StringIO(line, newline="")))[1:]
    assert cells[2] == f"'{start}1+1"
    assert cells[4] == f"'{start}HYPERLINK(1)"
    assert cells[5] == "-5"


@pytest.mark.parametrize(
    ("decisions", "approved", "median", "smooth"),
    [
        (20, 19, 9, True),
        (20, 20, 0, True),
        (19, 19, 1, False),
        (20, 18, 1, False),
        (20, 20, 10, False),
    ],
)
def test_it_notices_that_everything_is_approved_in_seconds(
    decisions: int, approved: int, median: int, smooth: bool
) -> None:
    assert Deciding(decisions, approved, 0, median).too_smooth is smooth


def test_it_counts_agreeing_as_approving() -> None:
    rows = [Decided(TODAY, "", 1, action, 3, 10) for action in ("approve", "agree", "override")]
    assert figures.deciding(rows) == Deciding(30, 20, 10, 3)


@pytest.mark.parametrize(
    ("params", "first", "last"),
    [
        ({}, TODAY - timedelta(days=27), TODAY),
        ({"days": "7"}, TODAY - timedelta(days=6), TODAY),
        ({"from": "2026-03-02", "to": "2026-03-04"}, date(2026, 3, 2), date(2026, 3, 4)),
    ],
)
def test_it_reads_a_period(params: dict[str, str], first: date, last: date) -> None:
    assert filters.parse(params, TODAY).period == Period(first, last)


@pytest.mark.parametrize(
    ("params", "field", "words"),
    [
        ({"days": "30"}, "from", "7, 28 or 90"),
        ({"days": "9" * 5000}, "from", "7, 28 or 90"),
        ({"from": "2026-03-01"}, "to", "last day too"),
        ({"from": "2026-02-30", "to": "2026-03-01"}, "from", "not a date"),
        ({"from": "2026-03-01", "to": "\0"}, "to", "not a date"),
        ({"from": "2026-03-03", "to": "2026-03-01"}, "from", "Swap"),
        ({"from": "2026-03-03", "to": "2026-04-01"}, "to", "not come yet"),
        ({"from": "2025-01-01", "to": "2026-03-01"}, "from", "366 days"),
        ({"from": "0001-01-01", "to": "0001-01-01"}, "from", "before 2000"),
    ],
)
def test_it_says_what_is_wrong_with_dates(params: dict[str, str], field: str, words: str) -> None:
    with pytest.raises(BadAddress) as caught:
        filters.parse(params, TODAY)
    assert caught.value.field == field
    assert words in str(caught.value)


def number(words: str) -> int:
    return int(words.replace(",", ""))


@pytest.mark.parametrize(
    ("outcome", "alone", "helped"),
    [
        ("model", 3, 0),
        ("citizen_choice", 3, 0),  # the citizen chose: nobody of the staff had a part in it
        ("model_approved", 0, 3),
        ("staff_override", 0, 3),
        ("staff", 0, 3),
        ("running", 0, 0),
    ],
)
def test_who_had_a_part_in_an_answer(outcome: str, alone: int, helped: int) -> None:
    assert figures.answered([Counted(TODAY, "", outcome, 3)]) == (alone, helped)
