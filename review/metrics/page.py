"""The metrics page as plain values: tiles, alerts, charts and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from conversations.models import Reason, ReplyOrigin
from conversations.states import TurnState
from conversations.turns.models import ChoiceOutcome
from ieim.pipeline.topology import ORDER
from ieim.studio.labels import stage_label
from ieim.studio.pages.presenters import Choice
from review import finding_texts
from review.metrics import charts
from review.metrics.charts import Chart, day_words, number
from review.metrics.figures import (
    Deciding,
    Figures,
    Waiting,
    answered,
    by_person,
    deciding,
    sums,
    total,
    waiting,
    yes_of,
)
from review.metrics.filters import CHOICES, Filters

OUTCOMES: Mapping[str, str] = {
    ReplyOrigin.MODEL.value: gettext_noop("Answered without a person"),
    ReplyOrigin.INDEX.value: gettext_noop("Answered without a person, from the service list"),
    ReplyOrigin.GUIDANCE.value: gettext_noop("Answered without a person, with a prepared text"),
    ReplyOrigin.RETOLD.value: gettext_noop("Answered without a person, retold"),
    ReplyOrigin.CITIZEN_CHOICE.value: gettext_noop("Answered after the citizen chose"),
    ReplyOrigin.MODEL_APPROVED.value: gettext_noop("Approved by a person"),
    ReplyOrigin.STAFF_OVERRIDE.value: gettext_noop("Corrected by a person"),
    ReplyOrigin.STAFF.value: gettext_noop("Written by a person"),
    "open": gettext_noop("Not answered yet"),
    TurnState.CLOSED.value: gettext_noop("Closed without an answer"),
}
"""What comes of a question, in the order of the chart; every other state is ``open``."""
CHOICE_OUTCOMES: Mapping[str, str] = {
    ChoiceOutcome.CHOSEN.value: gettext_noop("Chose one or more"),
    ChoiceOutcome.NONE.value: gettext_noop("Asked for a person"),
    ChoiceOutcome.EXPIRED.value: gettext_noop("Chose nothing in time"),
    ChoiceOutcome.REPLACED.value: gettext_noop("Asked something else"),
    "open": gettext_noop("Not yet"),
}
"""What comes of asking a citizen back, in the order of the chart."""
TOTAL = gettext_noop("In all")


def named(words_of: Mapping[str, str]) -> Mapping[str, str]:
    """Return names by their codes, in the language of the page."""
    return {key: _(name) for key, name in words_of.items()}


def duration(seconds: float | None) -> str:
    """Return a time in the unit that fits it: seconds, minutes, hours or days."""
    if seconds is None:
        return "–"
    if seconds >= 86_400:
        days = _trimmed(seconds / 86_400)
        return _("1 day") if days == "1" else _("{number} days").format(number=days)
    if seconds >= 3_600:
        return _("{number} h").format(number=_trimmed(seconds / 3_600))
    if seconds >= 60:
        return _("{number} min").format(number=_trimmed(seconds / 60))
    return _("{number} s").format(number=f"{seconds:.0f}")


def share(part: int, whole: int) -> str:
    """Return a part of a whole in per cent; a dash of nothing."""
    return f"{part / whole:.0%}" if whole else "–"


def part_of(part: int, whole: int) -> str:
    """Return a part and its whole in words."""
    return _("{part} of {whole}").format(part=f"{part:,}", whole=f"{whole:,}")


def _trimmed(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


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
    """A chart with its table; ``note`` explains the numbers."""

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
            _stages(figures.stopped),
        ),
        counted(
            "reasons",
            _("Stopped by reason"),
            _("Where an item has several reasons, the first one counts."),
            _("Reason"),
            _reasons(sums(figures.stopped, "reason")),
        ),
        _times(figures),
        _tokens(figures),
        counted(
            "tokens-stages",
            _("Tokens by stage"),
            _("What calls of the model took in and gave back, as budgets count it."),
            _("Stage"),
            _stages(figures.spent),
        ),
    )


def _outcomes(figures: Figures) -> Section:
    by: Counter[tuple[date, str]] = Counter()
    for row in figures.questions:
        by[row.day, str(row.what) if row.what in OUTCOMES else "open"] += row.total
    return _by_day(
        figures,
        by,
        named(OUTCOMES),
        id="questions",
        heading=_("Questions and what came of them"),
        note=_("By the day of the question. Questions that citizens erased are not counted."),
    )


def _chosen(figures: Figures) -> Section:
    by: Counter[tuple[date, str]] = Counter()
    for row in figures.chosen:
        by[row.day, row.outcome or "open"] += row.total
    places = sums((row for row in figures.chosen if row.place), "place")
    return _by_day(
        figures,
        by,
        named(CHOICE_OUTCOMES),
        id="choices",
        heading=_("Asked back"),
        note=_(
            "Where the assistant did not know, citizens were offered services to choose from."
            " {share} of those who chose took the first one."
        ).format(share=share(places[1], places.total())),
    )


def _stopped(figures: Figures) -> Section:
    return _with_stages(
        figures,
        figures.stopped,
        id="stopped",
        heading=_("Stopped for a person"),
        note=_("Items by the day on which they were opened. The table has each stage too."),
    )


def _tokens(figures: Figures) -> Section:
    return _with_stages(
        figures,
        figures.spent,
        id="tokens",
        heading=_("Tokens"),
        note=_("By the day of the call; {number} were cached. The table has each stage.").format(
            number=f"{figures.cached:,}"
        ),
    )


def _with_stages(
    figures: Figures,
    rows: Sequence[Any],
    *,
    id: str,  # noqa: A002  # the chart's
    heading: str,
    note: str,
) -> Section:
    """Return a chart of sums by day: ten stages on top of each other could not be told apart."""
    by = sums(rows, "day", "stage")
    days = Counter({(day, id): value for day, value in sums(rows, "day").items()})
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
    whole = sum(value for *_rest, value in values)
    drawn = [(short, value) for short, _name, value in values]
    chart = charts.bars(id, heading, _("{number} in all.").format(number=number(whole)), drawn)
    table = Table(
        heading,
        (what, _("Number"), _("Share")),
        tuple((name, number(value), share(value, whole)) for _short, name, value in values),
        (_(TOTAL), number(whole), share(whole, whole)),
    )
    return Section(heading, note, chart, table)


def _stages(rows: Iterable[Any]) -> list[Named]:
    values = sums(rows, "stage")
    return [(stage_label(s), stage_label(s), values[s]) for s in _in_order(values)]


def _in_order(stages: Iterable[str]) -> list[str]:
    return sorted(set(stages), key=lambda stage: ORDER.get(stage, len(ORDER)))


def _reasons(values: Counter[str]) -> list[Named]:
    """Return reasons by how often they are; a chart has the code only where it tells two apart."""
    short = {
        code: finding_texts.sentence(code) if code else _("No reason was noted.") for code in values
    }
    long = {code: f"{sentence} ({code})" if code else sentence for code, sentence in short.items()}
    often = Counter(short.values())
    return [
        (short[code] if often[short[code]] == 1 else long[code], long[code], count)
        for code, count in values.most_common()
    ]


WORDS_ALONE = gettext_noop("In their own words alone")


def feedback_section(figures: Figures) -> Section:
    """Return how often citizens gave each reason, in the order in which they are offered."""
    by = sums(figures.feedback, "what")
    named = [*((value, str(label)) for value, label in Reason.choices), ("", _(WORDS_ALONE))]
    return counted(
        "feedback",
        _("What citizens said of answers"),
        _("By the day on which they said it. An answer counts once, as it is now."),
        _("Reason"),
        [(label, label, by[value]) for value, label in named],
    )


def build(
    filters: Filters,
    figures: Figures,
    names: Mapping[str, str],
    people: Mapping[int, str] | None,
    scope: frozenset[str] | None,
) -> dict[str, Any]:
    """Return everything on the page but a problem with the address.

    ``figures`` are those of the user's agencies, ``names`` the agencies' names by id. ``people``
    are the names of those who decided, None where the user may see the team's sums only.
    """
    shown = figures
    if filters.agency:
        shown = figures.only(lambda row: row.agency == filters.agency)
    return {
        "filters": filters,
        "periods": [
            Choice(
                filters.query_of(days),
                _("Last {number} days").format(number=days),
                filters.days == days,
            )
            for days in CHOICES
        ],
        "agencies": _choices(filters, names),
        "scope": _scope(scope, names),
        "tiles": _tiles(shown),
        "alerts": _alerts(shown, people),
        "sections": (*all_of(shown), feedback_section(shown)),
        "by_agency": None if filters.agency else _by_agency(figures, names),
        "people": _people(shown, people),
    }


def _choices(filters: Filters, names: Mapping[str, str]) -> tuple[Choice, ...]:
    found = sorted(names.items(), key=lambda item: item[1].casefold())
    choices = [Choice(key, name, key == filters.agency) for key, name in found]
    return (Choice("", _("All agencies"), not filters.agency), *choices)


def _scope(scope: frozenset[str] | None, names: Mapping[str, str]) -> str:
    if scope is None:
        return ""
    if not scope:
        return _("No agency is assigned to you, so there are no figures. Ask an administrator.")
    mine = ", ".join(sorted(names.get(agency, agency) for agency in scope))
    return _(
        "You see the figures of: {agencies}. Questions that belong to no single agency are not"
        " among them."
    ).format(agencies=mine)


def _tiles(figures: Figures) -> tuple[tuple[str, str, str], ...]:
    """Return single figures for the whole period: name, value, and what it is a share of."""
    turns = total(figures.questions)
    alone, __ = answered(figures.questions)
    waited = waiting(figures.answered, figures.overdue)
    team = deciding(figures.decided)
    found_useful, rated = yes_of(figures.rated)
    elsewhere, went_on = yes_of(figures.went_on)
    return (
        (_("Questions"), f"{turns:,}", _("in the period")),
        (_("Answered without a person"), share(alone, turns), part_of(alone, turns)),
        (_("Stopped for a person"), f"{total(figures.stopped):,}", _("items")),
        (_("A person’s answer"), duration(waited.median), _("half came within this")),
        (
            _("In time"),
            share(waited.in_time, waited.due),
            _("{part}; {late} of them overdue and still open").format(
                part=part_of(waited.in_time, waited.due), late=f"{waited.overdue:,}"
            ),
        ),
        (
            _("Found useful"),
            share(found_useful, rated),
            _("{part} of {whole} rated").format(part=f"{found_useful:,}", whole=f"{rated:,}"),
        ),
        (
            _("About something else"),
            share(elsewhere, went_on),
            _("{part} of {whole} that went on with the talk").format(
                part=f"{elsewhere:,}", whole=f"{went_on:,}"
            ),
        ),
        (
            _("Corrected"),
            share(team.overridden, team.decisions),
            _("{part} of {whole} decisions").format(
                part=f"{team.overridden:,}", whole=f"{team.decisions:,}"
            ),
        ),
    )


def _alerts(figures: Figures, people: Mapping[int, str] | None) -> tuple[str, ...]:
    """Say where nearly everything is approved in seconds, without blame."""
    team = [(_("The team"), deciding(figures.decided))]
    who = team if people is None else _deciders(figures, people)
    return tuple(_alert(name, how) for name, how in who if how.too_smooth)


def _deciders(figures: Figures, people: Mapping[int, str]) -> list[tuple[str, Deciding]]:
    """Return how each person decides, by name."""
    decided = by_person(figures.decided).items()
    named = ((people.get(key, _("Somebody")), how) for key, how in decided)
    return sorted(named, key=lambda each: each[0])


def _alert(name: str, how: Deciding) -> str:
    return _(
        "{name}: {part} of {whole} decisions were approvals, half of them made within {time}."
        " Such items may not need a person at all, or the page may not show what one needs to"
        " decide. Look at some of them together."
    ).format(
        name=name,
        part=f"{how.approved:,}",
        whole=f"{how.decisions:,}",
        time=duration(how.median),
    )


def _by_agency(figures: Figures, names: Mapping[str, str]) -> Table:
    parts = figures.split(lambda row: row.agency)
    names_by_id = {"": _("No single agency"), **names}
    rows = []
    for agency, part in parts.items():
        turns = total(part.questions)
        alone, helped = answered(part.questions)
        waited = waiting(part.answered, part.overdue)
        tokens = total(part.spent)
        found_useful, rated = yes_of(part.rated)
        rows.append(
            (
                names_by_id.get(agency, agency),
                f"{turns:,}",
                f"{alone:,}",
                f"{helped:,}",
                f"{total(part.stopped):,}",
                duration(waited.median),
                share(waited.in_time, waited.due),
                part_of(found_useful, rated) if rated else "–",
                f"{tokens:,}",
            )
        )
    headers = (
        _("Agency"),
        _("Questions"),
        _("Answered without a person"),
        _("With a person"),
        _("Stopped"),
        _("Half answered by a person within"),
        _("In time"),
        _("Found useful"),
        _("Tokens"),
    )
    return Table(_("By agency"), headers, tuple(sorted(rows, key=lambda row: row[0].casefold())))


def _people(figures: Figures, people: Mapping[int, str] | None) -> Table:
    headers = (
        _("Who"),
        _("Decisions"),
        _("Approved"),
        _("Corrected"),
        _("Half decided within"),
    )
    rows = [] if people is None else [_person(*each) for each in _deciders(figures, people)]
    team = _person(_("The team"), deciding(figures.decided))
    return Table(_("Decisions"), headers, tuple(rows), team)


def _person(name: str, how: Deciding) -> tuple[str, ...]:
    return (
        name,
        f"{how.decisions:,}",
        f"{how.approved:,} ({share(how.approved, how.decisions)})",
        f"{how.overridden:,} ({share(how.overridden, how.decisions)})",
        duration(how.median),
    )
