"""The figures without a database: sums, quantiles, periods, charts and tables."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.metrics import exports, presenters
from review.metrics.forms import MetricsForm
from review.metrics.selectors import Figures, Period
from review.metrics.statistics import (
    DecisionStatistics,
    answered_by,
    decision_statistics,
    quantile,
)
from review.templatetags.metrics import duration, share

TODAY = date(2026, 3, 31)
PERIOD = Period(date(2026, 3, 25), TODAY)

counts = st.integers(1, 10_000)


def rows(**columns: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    day, agency = st.sampled_from(PERIOD.days), st.sampled_from(["", "visas", "passports"])
    columns = {"day": day, "agency": agency, "total": counts, **columns}
    return st.lists(st.fixed_dictionaries(columns), max_size=8)


stages = st.sampled_from(["classify", "reply"])
some_figures = st.builds(
    Figures,
    st.just(PERIOD),
    questions=rows(outcome=st.sampled_from(["model", "staff", "running"])),
    stops=rows(stage=stages, reason=st.sampled_from(["", "schema", "policy.risk"])),
    choices=rows(outcome=st.sampled_from(["", "chosen", "none"]), position=st.integers(0, 4)),
    answers=rows(seconds=st.floats(0, 1e6), in_time=st.sampled_from([True, False, None])),
    ratings=rows(useful=st.booleans()),
    feedback=rows(reason=st.sampled_from(["", "wrong", "unclear"])),
    follow_ups=rows(replaced=st.booleans()),
    decisions=rows(
        actor_id=st.integers(1, 3),
        action=st.sampled_from(["approve", "override", "agree"]),
        seconds=st.integers(0, 900),
    ),
    tokens=rows(stage=stages, cached=counts),
)


def totals(figures: Figures) -> dict[str, int]:
    """The sums of a period, by the measures of the CSV."""

    def total(rows: Any, column: str = "") -> int:
        return sum(row["total"] for row in rows if not column or row[column])

    return {
        "turns": total(figures.questions),
        "turns_by_outcome": total(figures.questions),
        "stopped_by_stage": total(figures.stops),
        "stopped_by_reason": total(figures.stops),
        "choices_by_outcome": total(figures.choices),
        "choices_by_place": total(figures.choices, "position"),
        "answers_by_people": len(figures.answers),
        "answers_rated": total(figures.ratings),
        "answers_rated_useful": total(figures.ratings, "useful"),
        "answers_that_went_on": total(figures.follow_ups),
        "answers_about_something_else": total(figures.follow_ups, "replaced"),
        "decisions": total(figures.decisions),
        "decisions_of_person": total(figures.decisions),
        "tokens": total(figures.tokens),
        "cached_tokens": sum(row["cached"] for row in figures.tokens),
    }


@given(some_figures)
def test_csv_sums_by_day_and_agency_to_the_totals(figures: Figures) -> None:
    groups = figures.split("day", "agency").values()
    people = {1: "Eva", 2: "Ann", 3: "Bob"}
    measures = [measure for group in groups for measure in exports.measures(group, people)]
    for name, total in totals(figures).items():
        assert sum(value for measure, _, value in measures if measure == name) == total


@given(some_figures)
def test_charts_and_tables_show_the_same_numbers(figures: Figures) -> None:
    want = totals(figures)
    for daily, total in (
        (presenters.questions_by_day(figures), want["turns"]),
        (presenters.choices_by_day(figures), want["choices_by_outcome"]),
        (presenters.stages_by_day(PERIOD, figures.stops, "Stopped"), want["stopped_by_stage"]),
        (presenters.stages_by_day(PERIOD, figures.tokens, "Tokens"), want["tokens"]),
    ):
        assert daily.total == sum(daily.totals) == sum(row[1] for row in daily.rows) == total
        series = [part["values"] for part in daily.chart["series"]]
        bars = [sum(values) for values in zip(*series, strict=True)]
        assert [bar for bar in reversed(bars) if bar] == [row[1] for row in daily.rows]
    times = presenters.times_by_day(figures)
    assert sum(row.answers for _, row in times.rows) == times.total.answers == len(figures.answers)
    for series in times.chart["series"]:
        assert sum(value is not None for value in series["values"]) == len(times.rows)
    assert sum(value for _, value in presenters.reasons(figures)) == want["stopped_by_reason"]


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(1, 5)), min_size=1), st.floats(0.01, 1))
def test_a_quantile_is_the_smallest_value_that_the_share_does_not_exceed(
    values: list[tuple[float, int]], part: float
) -> None:
    result = quantile(values, part)
    assert result is not None
    every = [value for value, count in values for _ in range(count)]
    assert result in every
    assert sum(value <= result for value in every) >= part * len(every)
    assert sum(value < result for value in every) < part * len(every)


def test_nothing_has_no_quantile_and_no_share() -> None:
    assert quantile([], 0.5) is None
    assert (duration(None), share(0, 0)) == ("–", "–")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59, "59 s"), (90, "1.5 min"), (7_200, "2 h"), (86_400, "1 day")],
)
def test_a_duration_has_the_unit_that_fits_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("decisions", "approved", "median", "is_suspicious"),
    [
        (20, 19, 9, True),
        (20, 20, 0, True),
        (19, 19, 1, False),
        (20, 18, 1, False),
        (20, 20, 10, False),
    ],
)
def test_approving_everything_in_seconds_is_suspicious(
    decisions: int, approved: int, median: int, is_suspicious: bool
) -> None:
    assert DecisionStatistics(decisions, approved, 0, median).is_suspicious is is_suspicious


def test_half_are_decided_within_a_time_of_those_that_were_decided_one_by_one() -> None:
    def median(*decisions: tuple[str, int, int]) -> float | None:
        columns = ("action", "seconds", "total")
        return decision_statistics([dict(zip(columns, d, strict=True)) for d in decisions]).median

    assert median(("service", 0, 40), ("service", 30, 3)) == 30
    assert median(("service", 0, 40)) is None
    assert median(("approve", 0, 20)) == 0


def test_agreeing_counts_as_approving() -> None:
    decisions = [
        {"action": action, "seconds": 3, "total": 10} for action in ("approve", "agree", "override")
    ]
    assert decision_statistics(decisions) == DecisionStatistics(30, 20, 10, 3)


@pytest.mark.parametrize(
    ("outcome", "alone", "helped"),
    [
        ("model", 3, 0),
        ("citizen_choice", 3, 0),  # nobody of the staff had a part in it
        ("model_approved", 0, 3),
        ("staff_override", 0, 3),
        ("staff", 0, 3),
        ("running", 0, 0),
    ],
)
def test_who_had_a_part_in_an_answer(outcome: str, alone: int, helped: int) -> None:
    assert answered_by([{"outcome": outcome, "total": 3}]) == (alone, helped)


@pytest.mark.parametrize(
    ("params", "first", "last"),
    [
        ({}, TODAY - timedelta(days=27), TODAY),
        ({"days": "7"}, TODAY - timedelta(days=6), TODAY),
        ({"from": "2026-03-02", "to": "2026-03-04"}, date(2026, 3, 2), date(2026, 3, 4)),
    ],
)
def test_the_form_reads_a_period(params: dict[str, str], first: date, last: date) -> None:
    form = MetricsForm(params, today=TODAY, agencies=None)
    assert form.is_valid()
    assert form.cleaned_data["period"] == Period(first, last)


@pytest.mark.parametrize(
    ("params", "field", "words"),
    [
        ({"days": "30"}, "first", "7, 28 or 90"),
        ({"days": "9" * 5000}, "first", "7, 28 or 90"),
        ({"from": "2026-03-01"}, "last", "last day too"),
        ({"to": "2026-03-01"}, "first", "first day too"),
        ({"from": "2026-02-30", "to": "2026-03-01"}, "first", "not a date"),
        ({"from": "2026-03-01", "to": "\0"}, "last", "not a date"),
        ({"from": "2026-03-03", "to": "2026-03-01"}, "first", "Swap"),
        ({"from": "2026-03-03", "to": "2026-04-01"}, "last", "not come yet"),
        ({"from": "2025-01-01", "to": "2026-03-01"}, "first", "366 days"),
        ({"from": "0001-01-01", "to": "0001-01-01"}, "first", "before 2000"),
        ({"agency": "passports"}, "agency", "no figures of that agency"),
    ],
)
def test_the_form_says_what_is_wrong(params: dict[str, str], field: str, words: str) -> None:
    form = MetricsForm(params, today=TODAY, agencies=frozenset({"visas"}))
    assert list(form.errors) == [field]
    assert words in form.errors[field][0]
