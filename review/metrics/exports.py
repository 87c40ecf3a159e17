"""The figures as CSV: one row for each day, agency and measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ieim.knowledge.bundles.formats import csv_lines
from review.metrics.selectors import Figures
from review.metrics.statistics import (
    answer_times,
    decision_statistics,
    statistics_by_person,
    total,
    totals_by,
    true_of,
)

HEADER = ("day", "agency", "agency_name", "measure", "detail", "value")


def as_csv(figures: Figures, agencies: Mapping[str, str], people: Mapping[int, str]) -> str:
    """Return the figures as CSV with a header.

    ``agencies`` are names by id, ``people`` the names of those whose figures are shown by person.
    """
    groups = figures.split("day", "agency")
    rows = (
        (day.isoformat(), agency, agencies.get(agency, ""), *measure)
        for (day, agency), group in sorted(groups.items(), key=lambda item: item[0])
        for measure in measures(group, people)
    )
    return "".join(csv_lines(HEADER, rows))


def measures(figures: Figures, people: Mapping[int, str]) -> Iterator[tuple[str, str, int]]:
    """Yield measures with their detail (an origin, a stage, a person) and value.

    Times are in seconds.
    """
    if figures.questions:
        yield "turns", "", total(figures.questions)
    yield from _details("turns_by_outcome", totals_by(figures.questions, "outcome"))
    yield from _details("stopped_by_stage", totals_by(figures.stops, "stage"))
    yield from _details("stopped_by_reason", totals_by(figures.stops, "reason"))
    yield from _details("choices_by_outcome", totals_by(figures.choices, "outcome"), empty="open")
    chosen = (row for row in figures.choices if row["position"])
    yield from _details("choices_by_place", totals_by(chosen, "position"))
    times = answer_times(figures.answers)
    if times.median is not None and times.ninetieth is not None:
        yield "answers_by_people", "", times.answers
        yield "answers_by_people_with_due_time", "", times.due
        yield "answers_by_people_in_time", "", times.in_time
        yield "answer_seconds_median", "", round(times.median)
        yield "answer_seconds_90th_percentile", "", round(times.ninetieth)
    if figures.overdue:
        yield "items_overdue_and_open", "", total(figures.overdue)
    useful, rated = true_of(figures.ratings, "useful")
    if rated:
        yield "answers_rated", "", rated
        yield "answers_rated_useful", "", useful
    yield from _details("answers_by_feedback", totals_by(figures.feedback, "reason"), empty="words")
    turned_away, followed_up = true_of(figures.follow_ups, "replaced")
    if followed_up:
        yield "answers_that_went_on", "", followed_up
        yield "answers_about_something_else", "", turned_away
    yield from _details("decisions", totals_by(figures.decisions, "action"))
    median = decision_statistics(figures.decisions).median
    if median is not None:
        yield "decision_seconds_median", "", round(median)
    for actor, person in statistics_by_person(figures.decisions).items():
        if actor not in people:
            continue
        yield "decisions_of_person", people[actor], person.decisions
        yield "overrides_of_person", people[actor], person.overridden
        if person.median is not None:
            yield "decision_seconds_median_of_person", people[actor], round(person.median)
    yield from _details("tokens", totals_by(figures.tokens, "stage"))
    cached = Counter[str]()
    for row in figures.tokens:
        cached[row["stage"]] += row["cached"]
    yield from _details("cached_tokens", +cached)


def _details(
    measure: str, values: Counter[Any], *, empty: str = ""
) -> Iterator[tuple[str, str, int]]:
    """Yield a row for each value, with the detail ``empty`` in place of an empty one."""
    by_detail = {str(detail) or empty: value for detail, value in values.items()}
    for detail, value in sorted(by_detail.items()):
        yield measure, detail, value
