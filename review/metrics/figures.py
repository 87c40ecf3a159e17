"""The figures of a period, and what is made of them: sums, shares, medians, who decides how."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, TypeVar

from conversations.models import ReplyOrigin
from review.metrics import queries
from review.metrics.queries import Answered, Chosen, Counted, Decided, Period, Spent, Stopped
from review.models import Action

K = TypeVar("K", bound=Hashable)

ALERT_DECISIONS = 20
ALERT_SHARE = 0.95
ALERT_SECONDS = 10
APPROVING = frozenset({Action.APPROVE.value, Action.AGREE.value})


@dataclass(frozen=True, slots=True)
class Figures:
    """What happened in a period, as :mod:`review.metrics.queries` counts it."""

    period: Period
    questions: tuple[Counted, ...] = ()
    stopped: tuple[Stopped, ...] = ()
    answered: tuple[Answered, ...] = ()
    decided: tuple[Decided, ...] = ()
    spent: tuple[Spent, ...] = ()
    rated: tuple[Counted, ...] = ()
    feedback: tuple[Counted, ...] = ()
    chosen: tuple[Chosen, ...] = ()
    went_on: tuple[Counted, ...] = ()
    overdue: tuple[Counted, ...] = ()

    @property
    def agencies(self) -> frozenset[str]:
        """The ids of all agencies that something happened for; ``""`` is no single one."""
        return frozenset(row.agency for _, rows in self._parts() for row in rows)

    @property
    def cached(self) -> int:
        """The tokens of all calls that a prefix cache had."""
        return sum(row.cached for row in self.spent)

    def only(self, keep: Callable[[Any], bool]) -> Figures:
        """Return the rows of which ``keep`` says so."""
        parts = {name: tuple(filter(keep, rows)) for name, rows in self._parts()}
        return Figures(self.period, **parts)

    def split(self, key: Callable[[Any], K]) -> dict[K, Figures]:
        """Return the figures by what ``key`` gives of a row: of an agency, or of a day."""
        found: dict[K, dict[str, list[Any]]] = {}
        for name, rows in self._parts():
            for row in rows:
                found.setdefault(key(row), {}).setdefault(name, []).append(row)
        return {
            each: Figures(self.period, **{name: tuple(rows) for name, rows in parts.items()})
            for each, parts in found.items()
        }

    def _parts(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        for field in fields(self):
            if field.name != "period":
                yield field.name, getattr(self, field.name)


def load(period: Period, agencies: frozenset[str] | None) -> Figures:
    """Return the figures of some agencies (None: of all, and of turns without a single one)."""
    names = [field.name for field in fields(Figures) if field.name != "period"]
    figures = Figures(period, **{name: tuple(getattr(queries, name)(period)) for name in names})
    return figures if agencies is None else figures.only(lambda row: row.agency in agencies)


def total(rows: Iterable[Any]) -> int:
    """Return the sum of the rows' totals."""
    return sum(row.total for row in rows)


def sums(rows: Iterable[Any], *columns: str) -> Counter[Any]:
    """Return the totals by the value of a column, or by the values of several."""
    found: Counter[Any] = Counter()
    key = attrgetter(*columns)
    for row in rows:
        found[key(row)] += row.total
    return found


def quantile(values: Sequence[tuple[float, int]], share: float) -> float | None:
    """Return the smallest value that ``share`` of all do not exceed (nearest rank).

    ``values`` are ``(value, how often)``; None where there are none.
    """
    rank = math.ceil(share * sum(count for _, count in values))
    for value, count in sorted(values):
        rank -= count
        if rank <= 0:
            return value
    return None


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long people's answers took, in seconds since the question; None without answers.

    ``in_time`` of ``due`` answers came by their due time; among those due are the ``overdue``:
    items that are still open.
    """

    answers: int
    median: float | None
    ninetieth: float | None
    in_time: int
    due: int
    overdue: int


def waiting(rows: Sequence[Answered], late: Iterable[Counted] = ()) -> Waiting:
    """Return how long answers took, and how many were due, with what is ``late`` and still open."""
    seconds = [(row.seconds, 1) for row in rows]
    due = [row.in_time for row in rows if row.in_time is not None]
    left = total(late)
    half, most = quantile(seconds, 0.5), quantile(seconds, 0.9)
    return Waiting(len(rows), half, most, sum(due), len(due) + left, left)


def answered(rows: Iterable[Counted]) -> tuple[int, int]:
    """Return how many questions were answered without a person, and how many with one."""
    by = sums(rows, "what")
    alone = sum(by[origin] for origin in queries.WITHOUT_A_PERSON)
    return alone, sum(by[origin] for origin in ReplyOrigin.values) - alone


def yes_of(rows: Iterable[Counted]) -> tuple[int, int]:
    """Return how many things of a yes-or-no query were so, and how many there are."""
    by = sums(rows, "what")
    return by[True], by.total()


@dataclass(frozen=True, slots=True)
class Deciding:
    """How somebody, or a team, decides; ``median`` is in seconds, None without decisions."""

    decisions: int
    approved: int
    overridden: int
    median: float | None

    @property
    def too_smooth(self) -> bool:
        """Whether nearly everything is approved in seconds: somebody should look into it."""
        return (
            self.decisions >= ALERT_DECISIONS
            and self.approved >= ALERT_SHARE * self.decisions
            and self.median is not None
            and self.median < ALERT_SECONDS
        )


def deciding(rows: Sequence[Decided]) -> Deciding:
    """Return how decisions were made."""
    by_action = sums(rows, "action")
    return Deciding(
        decisions=by_action.total(),
        approved=sum(by_action[action] for action in APPROVING),
        overridden=by_action[Action.OVERRIDE.value],
        median=quantile([(row.seconds, row.total) for row in rows], 0.5),
    )


def by_person(rows: Iterable[Decided]) -> dict[int, Deciding]:
    """Return how each person decides, by the user's key."""
    found: dict[int, list[Decided]] = {}
    for row in rows:
        found.setdefault(row.actor, []).append(row)
    return {actor: deciding(theirs) for actor, theirs in found.items()}
