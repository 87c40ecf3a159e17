"""The figures as a table for spreadsheets: one row a day, an agency and a measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

from ieim.knowledge.bundles.formats import csv_lines
from review.metrics.figures import Figures, by_person, deciding, sums, total, waiting, yes_of

HEADER = ("day", "agency", "agency_name", "measure", "detail", "value")


class Measure(NamedTuple):
    """One row; ``detail`` is what of the measure (an origin, a stage, a person), or empty.

    Times are in seconds.
    """

    day: date
    agency: str
    measure: str
    detail: str
    value: int


def measures(figures: Figures, people: Mapping[int, str]) -> Iterator[Measure]:
    """Yield the rows by day and agency; ``people`` are those whose own figures are shown."""
    parts = figures.split(lambda row: (row.day, row.agency))
    for (day, agency), part in sorted(parts.items(), key=lambda item: item[0]):
        for measure, detail, value in _of(part, people):
            yield Measure(day, agency, measure, detail, value)


def write(rows: Iterable[Measure], names: Mapping[str, str]) -> str:
    """Return rows as CSV with a header; ``names`` are those of agencies by id."""
    return "".join(
        csv_lines(
            HEADER,
            (
                (r.day.isoformat(), r.agency, names.get(r.agency, ""), r.measure, r.detail, r.value)
                for r in rows
            ),
        )
    )


def _of(part: Figures, people: Mapping[int, str]) -> Iterator[tuple[str, str, int]]:
    if part.questions:
        yield "turns", "", total(part.questions)
    yield from _each("turns_by_outcome", sums(part.questions, "what"))
    yield from _each("stopped_by_stage", sums(part.stopped, "stage"))
    yield from _each("stopped_by_reason", sums(part.stopped, "reason"))
    yield from _each("choices_by_outcome", sums(part.chosen, "outcome"), empty="open")
    yield from _each("choices_by_place", sums((r for r in part.chosen if r.place), "place"))
    waited = waiting(part.answered)
    if waited.median is not None and waited.ninetieth is not None:
        yield "answers_by_people", "", waited.answers
        yield "answers_by_people_with_due_time", "", waited.due
        yield "answers_by_people_in_time", "", waited.in_time
        yield "answer_seconds_median", "", round(waited.median)
        yield "answer_seconds_90th_percentile", "", round(waited.ninetieth)
    if part.overdue:
        yield "items_overdue_and_open", "", total(part.overdue)
    if part.rated:
        found_useful, rated = yes_of(part.rated)
        yield "answers_rated", "", rated
        yield "answers_rated_useful", "", found_useful
    yield from _each("answers_by_feedback", sums(part.feedback, "what"), empty="words")
    if part.went_on:
        elsewhere, went_on = yes_of(part.went_on)
        yield "answers_that_went_on", "", went_on
        yield "answers_about_something_else", "", elsewhere
    yield from _each("decisions", sums(part.decided, "action"))
    median = deciding(part.decided).median
    if median is not None:
        yield "decision_seconds_median", "", round(median)
    for actor, theirs in by_person(part.decided).items():
        if actor in people and theirs.median is not None:
            yield "decisions_of_person", people[actor], theirs.decisions
            yield "overrides_of_person", people[actor], theirs.overridden
            yield "decision_seconds_median_of_person", people[actor], round(theirs.median)
    yield from _each("tokens", sums(part.spent, "stage"))
    cached = Counter[str]()
    for row in part.spent:
        cached[row.stage] += row.cached
    yield from _each("cached_tokens", +cached)


def _each(measure: str, values: Counter[Any], *, empty: str = "") -> Iterator[tuple[str, str, int]]:
    """Yield a row for each value, ``empty`` in place of an empty one."""
    named = {str(detail) or empty: value for detail, value in values.items()}
    for detail, value in sorted(named.items()):
        yield measure, detail, value
