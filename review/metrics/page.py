"""The metrics page as plain values: what the templates show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from ieim.studio.pages.presenters import Choice
from review.metrics import feedback, sections
from review.metrics.figures import (
    Deciding,
    Figures,
    answered,
    by_person,
    deciding,
    turned_away,
    useful,
    waiting,
)
from review.metrics.sections import Section, Table
from review.metrics.wanted import CHOICES, Wanted
from review.metrics.wording import duration, part_of, share


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure for the whole period; ``more`` says of what it is."""

    label: str
    value: str
    more: str


@dataclass(frozen=True, slots=True)
class MetricsPage:
    """Everything on the page but a problem with the address."""

    wanted: Wanted
    periods: tuple[Choice, ...]
    agencies: tuple[Choice, ...]
    scope: str
    tiles: tuple[Tile, ...]
    alerts: tuple[str, ...]
    sections: tuple[Section, ...]
    by_agency: Table | None
    people: Table


def build(
    wanted: Wanted,
    figures: Figures,
    names: Mapping[str, str],
    people: Mapping[int, str] | None,
    scope: frozenset[str] | None,
) -> MetricsPage:
    """Return the page.

    ``figures`` are those of the user's agencies, ``names`` the agencies' names by id. ``people``
    are the names of those who decided, None where the user may see the team's sums only.
    """
    shown = figures
    if wanted.agency:
        shown = figures.only(lambda row: row.agency == wanted.agency)
    return MetricsPage(
        wanted=wanted,
        periods=tuple(
            Choice(
                wanted.query_of(days),
                _("Last {number} days").format(number=days),
                wanted.days == days,
            )
            for days in CHOICES
        ),
        agencies=_choices(wanted, names),
        scope=_scope(scope, names),
        tiles=_tiles(shown),
        alerts=_alerts(shown, people),
        sections=(*sections.all_of(shown), feedback.section(shown)),
        by_agency=None if wanted.agency else _by_agency(figures, names),
        people=_people(shown, people),
    )


def _choices(wanted: Wanted, names: Mapping[str, str]) -> tuple[Choice, ...]:
    found = sorted(names.items(), key=lambda item: item[1].casefold())
    choices = [Choice(key, name, key == wanted.agency) for key, name in found]
    return (Choice("", _("All agencies"), not wanted.agency), *choices)


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


def _tiles(figures: Figures) -> tuple[Tile, ...]:
    turns = sum(row.turns for row in figures.asked)
    alone, __ = answered(figures.asked)
    waited = waiting(figures.answered, figures.overdue)
    team = deciding(figures.decided)
    found_useful, rated = useful(figures.rated)
    elsewhere, went_on = turned_away(figures.went_on)
    return (
        Tile(_("Questions"), f"{turns:,}", _("in the period")),
        Tile(_("Answered without a person"), share(alone, turns), part_of(alone, turns)),
        Tile(_("Stopped for a person"), f"{sum(r.items for r in figures.stopped):,}", _("items")),
        Tile(_("A person’s answer"), duration(waited.median), _("half came within this")),
        Tile(
            _("In time"),
            share(waited.in_time, waited.due),
            _("{part}; {late} of them overdue and still open").format(
                part=part_of(waited.in_time, waited.due), late=f"{waited.overdue:,}"
            ),
        ),
        Tile(
            _("Found useful"),
            share(found_useful, rated),
            _("{part} of {whole} rated").format(part=f"{found_useful:,}", whole=f"{rated:,}"),
        ),
        Tile(
            _("About something else"),
            share(elsewhere, went_on),
            _("{part} of {whole} that went on with the talk").format(
                part=f"{elsewhere:,}", whole=f"{went_on:,}"
            ),
        ),
        Tile(
            _("Corrected"),
            share(team.overridden, team.decisions),
            _("{part} of {whole} decisions").format(
                part=f"{team.overridden:,}", whole=f"{team.decisions:,}"
            ),
        ),
    )


def _alerts(figures: Figures, people: Mapping[int, str] | None) -> tuple[str, ...]:
    """Say where nearly everything is approved in seconds, without blame."""
    who = [(_("The team"), deciding(figures.decided))]
    if people is not None:
        who = [(people.get(key, _("Somebody")), d) for key, d in by_person(figures.decided).items()]
    return tuple(_alert(name, how) for name, how in sorted(who) if how.too_smooth)


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
    known = {"": _("No single agency"), **names}
    rows = []
    for agency, part in parts.items():
        turns = sum(row.turns for row in part.asked)
        alone, helped = answered(part.asked)
        waited = waiting(part.answered, part.overdue)
        tokens = sum(row.tokens for row in part.spent)
        found_useful, rated = useful(part.rated)
        rows.append(
            (
                known.get(agency, agency),
                f"{turns:,}",
                f"{alone:,}",
                f"{helped:,}",
                f"{sum(row.items for row in part.stopped):,}",
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
    team = (_("The team"), deciding(figures.decided))
    found: Sequence[tuple[str, Deciding]] = ()
    if people is not None:
        decided = by_person(figures.decided).items()
        found = sorted((people.get(key, _("Somebody")), how) for key, how in decided)
    rows = [_person(name, how) for name, how in found]
    return Table(_("Decisions"), headers, tuple(rows), _person(*team))


def _person(name: str, how: Deciding) -> tuple[str, ...]:
    return (
        name,
        f"{how.decisions:,}",
        f"{how.approved:,} ({share(how.approved, how.decisions)})",
        f"{how.overridden:,} ({share(how.overridden, how.decisions)})",
        duration(how.median),
    )
