"""The figures of an evaluation as JSON: the output of ``--json`` and the input of ``--compare``.

They hold ids and figures, none of a case's text. Shares are rounded to six decimals; counts are
exact.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

from ieim.pipeline.knowledge import Release
from ieim.studio.evaluation.cases import Case, CaseFile
from ieim.studio.evaluation.comparing import verdict_change
from ieim.studio.evaluation.measures import DIGITS, MEASURES, Share, by_tag, measure
from ieim.studio.evaluation.outcomes import CaseResult, Tokens, Verdict

FORMAT = "ieim.evaluation/1"
"""Changes when a reader of an older result would misread a newer one."""
RISK = 0.10
"""The risk at which coverage is reported: one wrong answer in ten."""
CHANGES: Mapping[str, str] = {
    "better": "Got better",
    "worse": "Got worse",
    "to_review": "Moved to review",
    "other": "Not run, or not labelled, in one of them",
}
"""The changes of a case's verdict, with their headings in the report."""

Result = dict[str, Any]


class NotAResult(ValueError):
    """The file was not printed by ``evaluate --json``; the message says why."""


def describe(
    file: CaseFile, results: Sequence[CaseResult], *, release: Release, knowledge: str, model: str
) -> Result:
    """Return the result of a run; ``knowledge`` names the release or the bundle for people."""
    not_run = [result for result in results if result.turn.outcome == "not_run"]
    return {
        "format": FORMAT,
        "cases_file": file.name,
        "cases_sha256": file.sha256,
        "cases_in_file": len(file.cases),
        "knowledge": knowledge,
        "release_sha256": release.sha256,
        "model": model,
        "cases_run": len(results) - len(not_run),
        "not_run": [{"id": result.case.id, "reason": result.turn.reason} for result in not_run],
        "not_in_release": not_in_release([result.case for result in results], release),
        "tokens": {
            name: sum(getattr(result.turn.tokens, name) for result in results)
            for name in Tokens._fields
        },
        **_figures(results),
        "compared_injections": dict(Counter(r.compared for r in results if r.compared)),
        "by_tag": {
            tag: {"cases": len(members), **_figures(members)}
            for tag, members in by_tag(results).items()
        },
        "cases": [_row(result) for result in results],
    }


def not_in_release(cases: Sequence[Case], release: Release) -> list[str]:
    """Return the ids of cases that cannot be right: the release lacks what they expect."""
    keys = {key for _, key in release.services}

    def is_missing(case: Case) -> bool:
        services, agencies = case.expected.services, case.expected.agencies or frozenset()
        return (bool(services) and services.isdisjoint(keys)) or bool(
            agencies - release.agencies.keys()
        )

    return [case.id for case in cases if is_missing(case)]


def _row(result: CaseResult) -> dict[str, Any]:
    turn = result.turn
    row: dict[str, Any] = {
        "id": result.case.id,
        "tags": list(result.case.tags),
        "outcome": turn.outcome,
        "verdict": result.verdict,
        "inquiry": turn.inquiry,
        "agencies": sorted(turn.agencies),
        "service": turn.service[1] if turn.service else None,
        "score": None if turn.score is None else float(turn.score),
        "rank": result.rank,
        "cited": [key for _, key in turn.cited],
        "offered": [key for _, key in turn.offered],
        "stage": turn.stage,
        "codes": list(turn.codes),
    }
    if result.compared:
        row |= {"compared_with": result.compared, "moved": list(result.moved)}
    return row


def _figures(results: Sequence[CaseResult]) -> dict[str, Any]:
    verdicts = Counter(result.verdict for result in results)
    return {
        "verdicts": {verdict: verdicts[verdict] for verdict in get_args(Verdict)},
        "measures": measure(results),
        "risk_coverage": risk_coverage(results),
    }


def risk_coverage(results: Sequence[CaseResult]) -> dict[str, Any]:
    """Return risk and coverage at every threshold on the service's score, highest first.

    If every service with a score of at least the threshold were shown, coverage is the answered
    share of the ``population`` (labelled cases that are inquiries or were taken for one), and risk
    the share of wrong answers among these. A case that another check sent to review counts by the
    service that was chosen for it. The curve ends before full coverage where turns ended without a
    service. ``at_limit`` is the point of the largest coverage whose risk is at most :data:`RISK`,
    None without one.
    """
    population = [
        result
        for result in results
        if result.turn.outcome != "not_run"
        and result.expected.labelled
        and (result.expected.inquiry or result.turn.inquiry)
    ]
    scored = sorted(
        ((float(r.turn.score), r.would_be_wrong) for r in population if r.turn.score is not None),
        key=lambda pair: -pair[0],
    )
    points = []
    covered = wrong = 0
    # No threshold separates cases of the same score.
    for score, group in groupby(scored, key=lambda pair: pair[0]):
        verdicts = [is_wrong for _, is_wrong in group]
        covered += len(verdicts)
        wrong += sum(verdicts)
        points.append(
            {
                "threshold": score,
                "covered": covered,
                "coverage": round(covered / len(population), DIGITS),
                "wrong": wrong,
                "risk": round(wrong / covered, DIGITS),
            }
        )
    good = [point for point in points if point["wrong"] / point["covered"] <= RISK]
    widest = max(good, key=lambda point: point["covered"], default=None)
    return {
        "population": len(population),
        "risk_limit": RISK,
        "coverage_at_limit": widest["coverage"] if widest else 0.0,
        "at_limit": widest,
        "points": points,
    }


def read_result(path: Path) -> Result:
    """Read a saved result.

    Raises:
        NotAResult: it has another format or shape.
        OSError: the file cannot be read.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise NotAResult("it is not JSON") from error
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise NotAResult(f"its format is not {FORMAT}")
    try:
        for row in value["cases"]:
            _ = row["id"] + row["verdict"]
        for test in MEASURES:
            share = value["measures"].get(test.name, {"count": 0, "of": 0, "share": None})
            _ = share["count"] + share["of"], share["share"]
        _ = value["risk_coverage"]["coverage_at_limit"] + 0.0
        _ = value["cases_file"] + value["cases_sha256"] + value["knowledge"] + value["model"]
    except (KeyError, TypeError, AttributeError) as error:
        raise NotAResult("parts of it are missing or have another shape") from error
    return value


def compare(before: Result, after: Result) -> dict[str, Any]:
    """Return the changes from ``before`` to ``after``, by case id and by measure.

    Only cases of both runs are compared by id, by :func:`verdict_change`; the measures are each
    run's own totals.
    """
    old = {row["id"]: row["verdict"] for row in before["cases"]}
    new = {row["id"]: row["verdict"] for row in after["cases"]}
    both = [name for name in new if name in old]
    changes: dict[str, list[dict[str, str]]] = {kind: [] for kind in CHANGES}
    for name in both:
        kind = verdict_change(old[name], new[name])
        if kind != "same":
            row = {"id": name, "from": old[name], "to": new[name]}
            changes["to_review" if kind == "review" else kind].append(row)
    measures = {}
    for test in MEASURES:
        first: Share | None = before["measures"].get(test.name)
        second: Share = after["measures"][test.name]
        difference = None
        if first is not None and first["share"] is not None and second["share"] is not None:
            difference = round(second["share"] - first["share"], DIGITS)
        measures[test.name] = {"before": first, "after": second, "difference": difference}
    return {
        "before": {name: before[name] for name in ("cases_file", "knowledge", "model")},
        "same_cases_file": before["cases_sha256"] == after["cases_sha256"],
        "compared": len(both),
        "unchanged": sum(old[name] == new[name] for name in both),
        "only_before": [name for name in old if name not in new],
        "only_after": [name for name in new if name not in old],
        **changes,
        "measures": measures,
        "coverage_at_limit": {
            "before": before["risk_coverage"]["coverage_at_limit"],
            "after": after["risk_coverage"]["coverage_at_limit"],
        },
    }
