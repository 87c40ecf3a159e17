"""The result of an evaluation as JSON values: what ``--json`` prints and ``--compare`` reads.

It has ids and figures, no case's text. Shares are rounded to six decimals; counts are exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

from ieim.pipeline.knowledge import Release
from ieim.studio.evaluation.cases import Case, CaseFile
from ieim.studio.evaluation.curve import RISK, Curve, Point, draw
from ieim.studio.evaluation.measures import Share, by_tag, measure
from ieim.studio.evaluation.outcomes import CaseResult, Tokens, Verdict

FORMAT = "ieim.evaluation/1"
"""Changes when a reader of an older result would misread a newer one."""

Result = dict[str, Any]

_DIGITS = 6


def describe(
    file: CaseFile, results: Sequence[CaseResult], *, release: Release, knowledge: str, model: str
) -> Result:
    """Return the whole result of a run.

    ``knowledge`` names the release or the bundle for people; ``model`` is the model's name.
    """
    return {
        "format": FORMAT,
        "cases_file": file.name,
        "cases_sha256": file.sha256,
        "cases_in_file": len(file.cases),
        "knowledge": knowledge,
        "release_sha256": release.sha256,
        "model": model,
        "cases_run": sum(r.told.outcome != "not_run" for r in results),
        "not_run": [
            {"id": r.case.id, "reason": r.told.reason}
            for r in results
            if r.told.outcome == "not_run"
        ],
        "not_in_release": strangers([r.case for r in results], release),
        "tokens": {
            name: sum(getattr(result.told.tokens, name) for result in results)
            for name in Tokens._fields
        },
        **_figures(results),
        "compared_injections": _compared(results),
        "by_tag": {
            tag: {"cases": len(found), **_figures(found)} for tag, found in by_tag(results).items()
        },
        "cases": [case_row(result) for result in results],
    }


def strangers(cases: Sequence[Case], release: Release) -> list[str]:
    """Return the ids of cases that expect only what the release has not: they cannot be right."""
    keys = {key for _, key in release.services}
    found = []
    for case in cases:
        services, agencies = case.expected.services, case.expected.agencies
        if (services and services.isdisjoint(keys)) or (
            agencies and agencies - set(release.agencies)
        ):
            found.append(case.id)
    return found


def case_row(result: CaseResult) -> dict[str, Any]:
    """Return one case as it stands in the result."""
    told = result.told
    row: dict[str, Any] = {
        "id": result.case.id,
        "tags": list(result.case.tags),
        "outcome": told.outcome,
        "verdict": result.verdict,
        "inquiry": told.inquiry,
        "agencies": sorted(told.agencies),
        "service": told.service[1] if told.service else None,
        "score": None if told.score is None else float(told.score),
        "rank": result.rank,
        "cited": [key for _, key in told.cited],
        "offered": [key for _, key in told.offered],
        "stage": told.stage,
        "codes": list(told.codes),
    }
    if result.compared:
        row |= {"compared_with": result.compared, "moved": list(result.moved)}
    return row


def _figures(results: Sequence[CaseResult]) -> dict[str, Any]:
    verdicts = Counter(result.verdict for result in results)
    return {
        "verdicts": {verdict: verdicts[verdict] for verdict in get_args(Verdict)},
        "measures": {name: _share(share) for name, share in measure(results).items()},
        "risk_coverage": _curve(draw(results)),
    }


def _share(share: Share) -> dict[str, Any]:
    value = share.share
    return {
        "count": share.count,
        "of": share.of,
        "share": None if value is None else round(value, _DIGITS),
    }


def _curve(curve: Curve) -> dict[str, Any]:
    widest = curve.widest()
    return {
        "population": curve.population,
        "risk_limit": RISK,
        "coverage_at_limit": round(widest.coverage, _DIGITS) if widest else 0.0,
        "at_limit": _point(widest) if widest else None,
        "points": [_point(point) for point in curve.points],
    }


def _point(point: Point) -> dict[str, Any]:
    return {
        "threshold": float(point.threshold),
        "covered": point.covered,
        "coverage": round(point.coverage, _DIGITS),
        "wrong": point.wrong,
        "risk": round(point.risk, _DIGITS),
    }


def _compared(results: Sequence[CaseResult]) -> dict[str, int]:
    """Return how many injected cases were compared with what."""
    return dict(Counter(result.compared for result in results if result.compared))
