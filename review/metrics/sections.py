"""The parts of the metrics page that are a chart with a table of the same numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.translation import gettext as _

from ieim.pipeline.topology import ORDER
from ieim.studio.labels import stage_label
from review import words
from review.metrics import charts
from review.metrics.charts import Chart, day_words, number
from review.metrics.figures import Figures, Waiting, sums, waiting
from review.metrics.wording import CHOICES, OUTCOMES, TOTAL, duration, named, part_of, share

HALF, NINETY = "half", "ninety"
Named = tuple[str, str, int]
"""A value with its name in a chart and its name in a table."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of words, each beginning with its header; ``total`` is the last row, or empty."""

    caption: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A chart beside its table; ``note`` says how the numbers are meant."""

    heading: str
    note: str
    chart: Chart
    table: Table


def all_of(figures: Figures) -> tuple[Section, ...]:
    """Return the sections of the page, in its order."""
    return (
        _outcomes(figures),
        _chosen(figures),
        _stopped(figures),
        counted(
            "stages",
            _("Stopped by stage"),
            _("The stage at which an item was opened."),
            _("Stage"),
            _stages(sums(figures.stopped, lambda row: row.stage, lambda row: row.items)),
        ),
        counted(
            "reasons",
            _("Stopped by reason"),
            _("Where an item has several reasons, the first one counts."),
            _("Reason"),
            _reasons(sums(figures.stopped, lambda row: row.reason, lambda row: row.items)),
        ),
        _times(figures),
        _tokens(figures),
        counted(
            "tokens-stages",
            _("Tokens by stage"),
            _("What calls of the model took in and gave back, as budgets count it."),
            _("Stage"),
            _stages(sums(figures.spent, lambda row: row.stage, lambda row: row.tokens)),
        ),
    )


def _outcomes(figures: Figures) -> Section:
    by = sums(
        figures.asked,
        lambda row: (row.day, row.outcome if row.outcome in OUTCOMES else "open"),
        lambda row: row.turns,
    )
    return _by_day(
        figures,
        by,
        named(OUTCOMES),
        id="questions",
        heading=_("Questions and what came of them"),
        note=_("By the day of the question. Questions that citizens erased are not counted."),
    )


def _chosen(figures: Figures) -> Section:
    by = sums(figures.chosen, lambda row: (row.day, row.outcome or "open"), lambda row: row.turns)
    first = sum(row.turns for row in figures.chosen if row.place == 1)
    chose = sum(row.turns for row in figures.chosen if row.place)
    return _by_day(
        figures,
        by,
        named(CHOICES),
        id="choices",
        heading=_("Asked back"),
        note=_(
            "Where the assistant did not know, citizens were offered services to choose from."
            " {share} of those who chose took the first one."
        ).format(share=share(first, chose)),
    )


def _stopped(figures: Figures) -> Section:
    return _with_stages(
        figures,
        sums(figures.stopped, lambda row: (row.day, row.stage), lambda row: row.items),
        id="stopped",
        heading=_("Stopped for a person"),
        note=_("Items by the day on which they were opened. The table has each stage too."),
    )


def _tokens(figures: Figures) -> Section:
    return _with_stages(
        figures,
        sums(figures.spent, lambda row: (row.day, row.stage), lambda row: row.tokens),
        id="tokens",
        heading=_("Tokens"),
        note=_("By the day of the call; {number} were cached. The table has each stage.").format(
            number=f"{figures.cached:,}"
        ),
    )


def _with_stages(
    figures: Figures,
    by: Counter[tuple[date, str]],
    *,
    id: str,  # noqa: A002  # the chart's
    heading: str,
    note: str,
) -> Section:
    """Return a chart of sums by day: ten stages on top of each other could not be told apart."""
    days: Counter[tuple[date, str]] = Counter()
    for (day, _stage), value in by.items():
        days[day, id] += value
    drawn = _by_day(figures, days, {id: heading}, id=id, heading=heading, note=note)
    stages = {name: stage_label(name) for name in _in_order(name for _day, name in by)}
    table = _day_table(
        _("{heading} by day and stage").format(heading=heading), figures.period.days, by, stages
    )
    return Section(drawn.heading, drawn.note, drawn.chart, table)


def _times(figures: Figures) -> Section:
    found = {
        day: waiting(part.answered) for day, part in figures.split(lambda row: row.day).items()
    }
    days = [(day, _points(found.get(day))) for day in figures.period.days]
    all_in_all = waiting(figures.answered)
    chart = charts.points(
        "times",
        _("Time from the question to a person’s answer, by day of the answer"),
        _("Half came within {half}, nine in ten within {most}.").format(
            half=duration(all_in_all.median), most=duration(all_in_all.ninetieth)
        ),
        days,
        {HALF: _("Half within"), NINETY: _("Nine in ten within")},
        duration,
    )
    rows = [_time_row(day_words(day), w) for day, w in sorted(found.items(), reverse=True)]
    table = Table(
        _("Time to a person’s answer by day"),
        (
            _("Day"),
            _("Answers"),
            _("Half within"),
            _("Nine in ten within"),
            _("Of the answers, in time"),
        ),
        tuple(row for row in rows if row[1] != "0"),
        _time_row(_(TOTAL), all_in_all),
    )
    note = _("By the day of the answer, round the clock. Due times count business hours only.")
    return Section(_("Time to a person’s answer"), note, chart, table)


def _points(waited: Waiting | None) -> dict[str, float]:
    if waited is None or waited.median is None or waited.ninetieth is None:
        return {}
    return {HALF: waited.median, NINETY: waited.ninetieth}


def _time_row(name: str, waited: Waiting) -> tuple[str, ...]:
    in_time = f"{part_of(waited.in_time, waited.due)} ({share(waited.in_time, waited.due)})"
    return (
        name,
        number(waited.answers),
        duration(waited.median),
        duration(waited.ninetieth),
        in_time if waited.due else "–",
    )


def _by_day(
    figures: Figures,
    by: Counter[tuple[date, str]],
    series: Mapping[str, str],
    *,
    id: str,  # noqa: A002  # the chart's
    heading: str,
    note: str,
) -> Section:
    days = figures.period.days
    drawn = [(day, {key: by[day, key] for key in series}) for day in days]
    chart = charts.columns(
        id,
        _("{heading}, by day").format(heading=heading),
        _("{number} from {first} to {last}.").format(
            number=number(by.total()), first=day_words(days[0]), last=day_words(days[-1])
        ),
        drawn,
        series,
    )
    return Section(
        heading,
        note,
        chart,
        _day_table(_("{heading} by day").format(heading=heading), days, by, series),
    )


def _day_table(
    caption: str,
    days: Sequence[date],
    by: Counter[tuple[date, str]],
    series: Mapping[str, str],
) -> Table:
    """Return the days with anything, newest first, with a column each for more than one series."""
    rows = []
    for day in reversed(days):
        values = [by[day, key] for key in series]
        if any(values):
            rows.append(_row(day_words(day), values))
    totals = [sum(by[day, key] for day in days) for key in series]
    names = tuple(series.values())
    headers = (_("Day"), *names) if len(names) == 1 else (_("Day"), _(TOTAL), *names)
    return Table(caption, headers, tuple(rows), _row(_(TOTAL), totals))


def _row(name: str, values: Sequence[int]) -> tuple[str, ...]:
    each = map(number, values)
    return (name, *each) if len(values) == 1 else (name, number(sum(values)), *each)


def counted(
    id: str,  # noqa: A002  # the chart's
    heading: str,
    note: str,
    what: str,
    values: Sequence[Named],
) -> Section:
    total = sum(value for *_rest, value in values)
    drawn = [(short, value) for short, _name, value in values]
    chart = charts.bars(id, heading, _("{number} in all.").format(number=number(total)), drawn)
    table = Table(
        heading,
        (what, _("Number"), _("Share")),
        tuple((name, number(value), share(value, total)) for _short, name, value in values),
        (_(TOTAL), number(total), share(total, total)),
    )
    return Section(heading, note, chart, table)


def _stages(values: Counter[str]) -> list[Named]:
    return [(stage_label(s), stage_label(s), values[s]) for s in _in_order(values)]


def _in_order(stages: Iterable[str]) -> list[str]:
    return sorted(set(stages), key=lambda stage: ORDER.get(stage, len(ORDER)))


def _reasons(values: Counter[str]) -> list[Named]:
    """Return reasons by how often they are; a chart has the code only where it tells two apart."""
    short = {code: words.reason(code) if code else _("No reason was noted.") for code in values}
    long = {code: f"{said} ({code})" if code else said for code, said in short.items()}
    often = Counter(short.values())
    return [
        (short[code] if often[short[code]] == 1 else long[code], long[code], count)
        for code, count in values.most_common()
    ]
