"""Sums, shares and quantiles over the rows of :mod:`review.metrics.selectors`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from conversations.models import ReplyOrigin
from review.metrics.selectors import WITHOUT_A_PERSON, Row
from review.models import Action

ALERT_DECISIONS = 20
ALERT_SHARE = 0.95
ALERT_SECONDS = 10
APPROVALS = frozenset({Action.APPROVE.value, Action.AGREE.value})


def total(rows: Iterable[Row]) -> int:
    """Return the sum of the rows' totals."""
    return sum(row["total"] for row in rows)


def totals_by(rows: Iterable[Row], *columns: str) -> Counter[Any]:
    """Return the totals by the value of a column, or by the tuple of several columns."""
    key = itemgetter(*columns)
    totals: Counter[Any] = Counter()
    for row in rows:
        totals[key(row)] += row["total"]
    return totals


def quantile(values: Sequence[tuple[float, int]], share: float) -> float | None:
    """Return the smallest value that ``share`` of all do not exceed (nearest rank).

    ``values`` are pairs of a value and its frequency; None without any.
    """
    rank = math.ceil(share * sum(count for _, count in values))
    for value, count in sorted(values):
        rank -= count
        if rank <= 0:
            return value
    return None


def answered_by(rows: Iterable[Row]) -> tuple[int, int]:
    """Return the number of questions answered without a person, and with one."""
    by_outcome = totals_by(rows, "outcome")
    alone = sum(by_outcome[origin] for origin in WITHOUT_A_PERSON)
    return alone, sum(by_outcome[origin] for origin in ReplyOrigin.values) - alone


def true_of(rows: Iterable[Row], column: str) -> tuple[int, int]:
    """Return the total of the rows whose column is true, and that of all."""
    by_value = totals_by(rows, column)
    return by_value[True], by_value.total()


Z = 1.96
"""Standard errors on each side of an interval of 95 per cent."""
Interval = tuple[float, float]


def wilson(part: int, whole: int) -> Interval:
    """Return the Wilson interval (95 per cent) of a share of at least one."""
    share, square = part / whole, Z * Z / whole
    middle, spread = share + square / 2, Z * math.sqrt((share * (1 - share) + square / 4) / whole)
    return (middle - spread) / (1 + square), (middle + spread) / (1 + square)


def alpha(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return Krippendorff's alpha (nominal) of pairs of verdicts; None where all are the same.

    Not Cohen's kappa: which of two readers comes first means nothing here.
    """
    counts = Counter(verdict for pair in pairs for verdict in pair)
    total = counts.total()
    unlike = total * (total - 1) - sum(count * (count - 1) for count in counts.values())
    if not unlike:
        return None
    observed = sum(first != second for first, second in pairs) / len(pairs)
    return 1 - observed * total * (total - 1) / unlike


def alpha_interval(pairs: Sequence[tuple[str, str]]) -> Interval | None:
    """Return an interval (95 per cent) of :func:`alpha` by the jackknife, None without one."""
    number = len(pairs)
    values = [
        value for i in range(number) if (value := alpha([*pairs[:i], *pairs[i + 1 :]])) is not None
    ]
    middle = alpha(pairs)
    if middle is None or len(values) < number:
        return None
    mean = sum(values) / number
    error = math.sqrt((number - 1) / number * sum((value - mean) ** 2 for value in values))
    return max(middle - Z * error, -1.0), min(middle + Z * error, 1.0)


@dataclass(frozen=True, slots=True)
class AnswerTimes:
    """Times of answers by people, in seconds since the question; None without answers.

    ``due`` are the answers with a due time and the ``overdue`` items, which are still open;
    ``in_time`` of them were answered by then.
    """

    answers: int
    median: float | None
    ninetieth: float | None
    in_time: int
    due: int
    overdue: int


def answer_times(rows: Sequence[Row], overdue: Iterable[Row] = ()) -> AnswerTimes:
    """Return the times of answers; ``overdue`` items count as due and not in time."""
    seconds = [(row["seconds"], 1) for row in rows]
    due = [row["in_time"] for row in rows if row["in_time"] is not None]
    late = total(overdue)
    return AnswerTimes(
        answers=len(rows),
        median=quantile(seconds, 0.5),
        ninetieth=quantile(seconds, 0.9),
        in_time=sum(due),
        due=len(due) + late,
        overdue=late,
    )


@dataclass(frozen=True, slots=True)
class DecisionStatistics:
    """Decisions of a person or a team; ``median`` is in seconds, of those made one by one, None
    without any."""

    decisions: int
    approved: int
    overridden: int
    median: float | None

    @property
    def is_suspicious(self) -> bool:
        """Whether nearly everything is approved in seconds."""
        return (
            self.decisions >= ALERT_DECISIONS
            and self.approved >= ALERT_SHARE * self.decisions
            and self.median is not None
            and self.median < ALERT_SECONDS
        )


def decision_statistics(rows: Sequence[Row]) -> DecisionStatistics:
    """Return the statistics of all decisions together."""
    by_action = totals_by(rows, "action")
    # What is decided with others is claimed in the moment of its decision, and never approved.
    single = [row for row in rows if row["seconds"] or row["action"] in APPROVALS]
    return DecisionStatistics(
        decisions=by_action.total(),
        approved=sum(by_action[action] for action in APPROVALS),
        overridden=by_action[Action.OVERRIDE.value],
        median=quantile([(row["seconds"], row["total"]) for row in single], 0.5),
    )


def statistics_by_person(rows: Iterable[Row]) -> dict[int, DecisionStatistics]:
    """Return the statistics of each person's decisions by the user's key."""
    by_person: dict[int, list[Row]] = {}
    for row in rows:
        by_person.setdefault(row["actor_id"], []).append(row)
    return {actor: decision_statistics(group) for actor, group in by_person.items()}
