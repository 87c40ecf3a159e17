"""Charts and tables of the metrics page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from conversations.models import Reason, ReplyOrigin
from conversations.states import TurnState
from conversations.turns.models import ChoiceOutcome
from ieim.pipeline.topology import ORDER
from ieim.studio.labels import stage_label
from review import finding_texts
from review.metrics.selectors import LEFT, OUTSIDE, UNSAID, WITHOUT_A_PERSON, Figures, Period, Row
from review.metrics.statistics import (
    AnswerTimes,
    DecisionStatistics,
    answer_times,
    answered_by,
    statistics_by_person,
    total,
    totals_by,
    true_of,
)
from review.templatetags.metrics import UNITS

Counts = Counter[tuple[date, str]]
"""Numbers by day and key: an outcome, or a stage."""
OPEN = "open"
OUTCOMES: Mapping[str, str] = {
    ReplyOrigin.MODEL.value: gettext_noop("Answered without a person"),
    ReplyOrigin.INDEX.value: gettext_noop("Answered without a person, from the service list"),
    ReplyOrigin.GUIDANCE.value: gettext_noop("Answered without a person, with a prepared text"),
    ReplyOrigin.RETOLD.value: gettext_noop("Answered without a person, retold"),
    ReplyOrigin.CITIZEN_CHOICE.value: gettext_noop("Answered after the citizen chose"),
    ReplyOrigin.MODEL_APPROVED.value: gettext_noop("Approved by a person"),
    ReplyOrigin.STAFF_OVERRIDE.value: gettext_noop("Corrected by a person"),
    ReplyOrigin.STAFF.value: gettext_noop("Written by a person"),
    OUTSIDE: gettext_noop("Told that no service is about it"),
    UNSAID: gettext_noop("Told that the entry does not say it"),
    LEFT: gettext_noop("Asked back, and nothing chosen"),
    OPEN: gettext_noop("Not answered yet"),
    TurnState.CLOSED.value: gettext_noop("Closed without an answer"),
}
"""Outcomes of a question, in the order of the table; every other state is ``open``."""
OUTCOME_SERIES: Mapping[str, Collection[str]] = {
    gettext_noop("Answered without a person"): WITHOUT_A_PERSON,
    gettext_noop("With a person"): set(ReplyOrigin.values) - WITHOUT_A_PERSON,
    gettext_noop("Not in the service list, or nothing chosen"): [OUTSIDE, UNSAID, LEFT],
    gettext_noop("Not answered yet"): [OPEN],
    gettext_noop("Closed without an answer"): [TurnState.CLOSED.value],
}
"""The same outcomes in the chart, where nobody could tell ten series apart."""
CHOICE_OUTCOMES: Mapping[str, str] = {
    ChoiceOutcome.CHOSEN.value: gettext_noop("Chose one or more"),
    ChoiceOutcome.NONE.value: gettext_noop("Asked for a person"),
    ChoiceOutcome.EXPIRED.value: gettext_noop("Chose nothing in time"),
    ChoiceOutcome.REPLACED.value: gettext_noop("Asked something else"),
    OPEN: gettext_noop("Not yet"),
}
"""Outcomes of a choice, in the order of chart and table."""


@dataclass(frozen=True, slots=True)
class DailyCounts:
    """Numbers by day: ``rows`` of a day, its total and a number for each of the ``names``."""

    names: Sequence[str]
    rows: Sequence[tuple[date, int, Sequence[int]]]
    total: int
    totals: Sequence[int]
    chart: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DailyTimes:
    """Times of answers by day, and over the period."""

    rows: Sequence[tuple[date, AnswerTimes]]
    total: AnswerTimes
    chart: Mapping[str, Any]


def questions_by_day(figures: Figures) -> DailyCounts:
    """Return the questions by their outcome."""
    counts: Counts = Counter()
    for row in figures.questions:
        outcome = row["outcome"] if row["outcome"] in OUTCOMES else OPEN
        counts[row["day"], outcome] += row["total"]
    return _daily_counts(figures.period, counts, OUTCOMES, OUTCOME_SERIES)


def choices_by_day(figures: Figures) -> DailyCounts:
    """Return the offered choices by their outcome."""
    counts: Counts = Counter()
    for row in figures.choices:
        counts[row["day"], row["outcome"] or OPEN] += row["total"]
    series = {name: [key] for key, name in CHOICE_OUTCOMES.items()}
    return _daily_counts(figures.period, counts, CHOICE_OUTCOMES, series)


def stages_by_day(period: Period, rows: Sequence[Row], name: str) -> DailyCounts:
    """Return review items or tokens, with each stage in the table and their sum in the chart."""
    stages = sorted({row["stage"] for row in rows}, key=lambda stage: ORDER.get(stage, len(ORDER)))
    names = {stage: stage_label(stage) for stage in stages}
    return _daily_counts(period, totals_by(rows, "day", "stage"), names, {name: stages})


def times_by_day(figures: Figures) -> DailyTimes:
    """Return the times to the answers of people, the newest day first."""
    by_day = {
        day: answer_times(part.answers)
        for day, part in figures.split("day").items()
        if part.answers
    }
    longest = max((times.ninetieth or 0 for times in by_day.values()), default=0)
    # Hours are the largest unit of the scale: "1 days" is no English.
    size, unit = next((unit for unit in UNITS[1:] if longest >= unit[0]), UNITS[-1])
    series = {
        _("Half within"): {day: (times.median or 0) / size for day, times in by_day.items()},
        _("Nine in ten within"): {
            day: (times.ninetieth or 0) / size for day, times in by_day.items()
        },
    }
    days = figures.period.days
    chart = _chart("line", days, {n: [v.get(day) for day in days] for n, v in series.items()})
    rows = sorted(by_day.items(), reverse=True)
    return DailyTimes(rows, answer_times(figures.answers), {**chart, "unit": _(unit)})


def reasons(figures: Figures) -> list[tuple[str, int]]:
    """Return why items were opened, the most frequent reason first."""
    return [
        (f"{finding_texts.sentence(code)} ({code})" if code else _("No reason was noted."), value)
        for code, value in totals_by(figures.stops, "reason").most_common()
    ]


def feedback_reasons(figures: Figures) -> list[tuple[str, int]]:
    """Return the reasons of citizens' feedback in the order of its form."""
    values = totals_by(figures.feedback, "reason")
    labels = [*Reason.choices, ("", _("In their own words alone"))]
    return [(str(label), values[reason]) for reason, label in labels]


def by_person(figures: Figures, people: Mapping[int, str]) -> list[tuple[str, DecisionStatistics]]:
    """Return the decisions of the ``people``, names by key, in the order of their names."""
    statistics = statistics_by_person(figures.decisions).items()
    return sorted((people[key], person) for key, person in statistics if key in people)


def by_agency(figures: Figures, agencies: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the figures of each agency in the order of their names, ``agencies`` by id."""
    names = {"": _("No single agency"), **agencies}
    rows = []
    for agency, part in figures.split("agency").items():
        alone, helped = answered_by(part.questions)
        row = {
            "name": names.get(agency, agency),
            "questions": total(part.questions),
            "alone": alone,
            "helped": helped,
            "stops": total(part.stops),
            "times": answer_times(part.answers, part.overdue),
            "ratings": true_of(part.ratings, "useful"),
            "tokens": total(part.tokens),
        }
        rows.append(row)
    return sorted(rows, key=lambda row: str(row["name"]).casefold())


def _daily_counts(
    period: Period,
    counts: Counts,
    names: Mapping[str, str],
    series: Mapping[str, Collection[str]],
) -> DailyCounts:
    """Return the days with a number, the newest first, in stacked bars and a table.

    ``names`` are columns of the table by key; ``series`` the keys that a part of a bar sums.
    """
    days = period.days
    keys = [key for key in names if any(counts[day, key] for day in days)]
    rows = [(day, [counts[day, key] for key in keys]) for day in reversed(days)]
    totals = [sum(counts[day, key] for day in days) for key in keys]
    bars = {
        _(name): [sum(counts[day, key] for key in series[name]) for day in days] for name in series
    }
    return DailyCounts(
        names=[_(names[key]) for key in keys],
        rows=[(day, sum(values), values) for day, values in rows if any(values)],
        total=sum(totals),
        totals=totals,
        chart=_chart("bar", days, {name: bar for name, bar in bars.items() if any(bar)}),
    )


def _chart(
    kind: str, days: Iterable[date], series: Mapping[str, Sequence[float | None]]
) -> dict[str, Any]:
    """Return what ``static/src/js/metrics.js`` draws."""
    labels = [date_format(day, "j M") for day in days]
    values = [{"name": name, "values": values} for name, values in series.items()]
    return {"type": kind, "unit": "{number}", "labels": labels, "series": values}
