"""The metrics page as plain values: what the templates show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ieim.studio.pages.filters import Choice
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
from review.metrics.sections import Section, Table, duration, share
from review.metrics.wanted import CHOICES, Wanted


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
            Choice(wanted.query_of(days), f"Last {days} days", wanted.days == days)
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
    return (Choice("", "All agencies", not wanted.agency), *choices)


def _scope(scope: frozenset[str] | None, names: Mapping[str, str]) -> str:
    if scope is None:
        return ""
    if not scope:
        return "No agency is assigned to you, so there are no figures. Ask an administrator."
    mine = ", ".join(sorted(names.get(agency, agency) for agency in scope))
    return (
        f"You see the figures of: {mine}. Questions that belong to no single agency are not"
        " among them."
    )


def _tiles(figures: Figures) -> tuple[Tile, ...]:
    turns = sum(row.turns for row in figures.asked)
    alone, _ = answered(figures.asked)
    waited, team = waiting(figures.answered), deciding(figures.decided)
    found_useful, rated = useful(figures.rated)
    elsewhere, went_on = turned_away(figures.went_on)
    return (
        Tile("Questions", f"{turns:,}", "in the period"),
        Tile("Answered without a person", share(alone, turns), f"{alone:,} of {turns:,}"),
        Tile("Stopped for a person", f"{sum(r.items for r in figures.stopped):,}", "items"),
        Tile("A person’s answer", duration(waited.median), "half came within this"),
        Tile("In time", share(waited.in_time, waited.due), f"{waited.in_time:,} of {waited.due:,}"),
        Tile("Found useful", share(found_useful, rated), f"{found_useful:,} of {rated:,} rated"),
        Tile(
            "About something else",
            share(elsewhere, went_on),
            f"{elsewhere:,} of {went_on:,} that went on with the talk",
        ),
        Tile(
            "Corrected",
            share(team.overridden, team.decisions),
            f"{team.overridden:,} of {team.decisions:,} decisions",
        ),
    )


def _alerts(figures: Figures, people: Mapping[int, str] | None) -> tuple[str, ...]:
    """Say where nearly everything is approved in seconds, without blame."""
    who = [("The team", deciding(figures.decided))]
    if people is not None:
        who = [(people.get(key, "Somebody"), d) for key, d in by_person(figures.decided).items()]
    return tuple(_alert(name, how) for name, how in sorted(who) if how.too_smooth)


def _alert(name: str, how: Deciding) -> str:
    return (
        f"{name}: {how.approved:,} of {how.decisions:,} decisions were approvals, half of them made"
        f" within {duration(how.median)}. Such items may not need a person at all, or the page may"
        " not show what one needs to decide. Look at some of them together."
    )


def _by_agency(figures: Figures, names: Mapping[str, str]) -> Table:
    parts = figures.split(lambda row: row.agency)
    known = {"": "No single agency", **names}
    rows = []
    for agency, part in parts.items():
        turns = sum(row.turns for row in part.asked)
        alone, helped = answered(part.asked)
        waited = waiting(part.answered)
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
                f"{found_useful:,} of {rated:,}" if rated else "–",
                f"{tokens:,}",
            )
        )
    headers = (
        "Agency",
        "Questions",
        "Answered without a person",
        "With a person",
        "Stopped",
        "Half answered by a person within",
        "In time",
        "Found useful",
        "Tokens",
    )
    return Table("By agency", headers, tuple(sorted(rows, key=lambda row: row[0].casefold())))


def _people(figures: Figures, people: Mapping[int, str] | None) -> Table:
    headers = ("Who", "Decisions", "Approved", "Corrected", "Half decided within")
    team = ("The team", deciding(figures.decided))
    found: Sequence[tuple[str, Deciding]] = ()
    if people is not None:
        decided = by_person(figures.decided).items()
        found = sorted((people.get(key, "Somebody"), how) for key, how in decided)
    rows = [_person(name, how) for name, how in found]
    return Table("Decisions", headers, tuple(rows), _person(*team))


def _person(name: str, how: Deciding) -> tuple[str, ...]:
    return (
        name,
        f"{how.decisions:,}",
        f"{how.approved:,} ({share(how.approved, how.decisions)})",
        f"{how.overridden:,} ({share(how.overridden, how.decisions)})",
        duration(how.median),
    )
