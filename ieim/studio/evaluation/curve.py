"""Risk against coverage: what a threshold on the service's score would let through.

Pure. It shows what the score is worth by itself: a case that another check sent to review counts
by the service that was chosen for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from ieim.studio.evaluation.outcomes import CaseResult

RISK = 0.10
"""The risk at which coverage is reported: one wrong answer in ten."""


@dataclass(frozen=True, slots=True)
class Point:
    """What is answered when every service with a score of ``threshold`` or more is.

    ``coverage`` is ``covered`` through the population, ``risk`` is ``wrong`` through ``covered``.
    """

    threshold: Decimal
    covered: int
    coverage: float
    wrong: int
    risk: float


@dataclass(frozen=True, slots=True)
class Curve:
    """The whole curve, highest threshold first; ``population`` is what coverage is a share of.

    It ends before full coverage where turns ended without a service to score.
    """

    population: int
    points: tuple[Point, ...]

    def widest(self, risk: float = RISK) -> Point | None:
        """Return the point of the largest coverage whose risk is no more than ``risk``."""
        good = [point for point in self.points if point.risk <= risk]
        return max(good, key=lambda point: point.covered, default=None)


def draw(results: Sequence[CaseResult]) -> Curve:
    """Return the curve over the labelled cases that are inquiries or were taken for one."""
    population = [
        result
        for result in results
        if result.told.outcome != "not_run"
        and result.expected.labelled
        and (result.expected.inquiry or result.told.inquiry)
    ]
    scored = sorted(
        ((r.told.score, r.would_be_wrong) for r in population if r.told.score is not None),
        key=lambda pair: -pair[0],
    )
    points = []
    covered = wrong = 0
    # Cases of one score are let through together: no threshold parts them.
    for score, group in groupby(scored, key=lambda pair: pair[0]):
        verdicts = [is_wrong for _, is_wrong in group]
        covered += len(verdicts)
        wrong += sum(verdicts)
        coverage = covered / len(population)
        points.append(Point(score, covered, coverage, wrong, wrong / covered))
    return Curve(len(population), tuple(points))
