"""The figures of an evaluation as JSON values: what ``--json`` prints and ``--compare`` reads.

They have ids and figures, no case's text. Shares are rounded to six decimals; counts are exact.
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
from ieim.studio.evaluation.measures import MEASURES, by_tag, measure
from ieim.studio.evaluation.outcomes import CaseResult, Tokens, Verdict, change_of

FORMAT = "ieim.evaluation/1"
"""Changes when a reader of an older result would misread a newer one."""
RISK = 0.10
"""The risk at which coverage is reported: one wrong answer in ten."""

Result = dict[str, Any]

_DIGITS = 6


def describe(
    file: CaseFile, results: Sequence[CaseResult], *, release: Release, knowledge: str, model: str
) -> Result:
    """Return the whole result of a run.

    ``knowledge`` names the release or the bundle for people; ``model`` is the model's name.
    """
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
            tag: {"cases": len(found), **_figures(found)} for tag, found in by_tag(results).items()
        },
        "cases": [_row(result) for result in results],
    }


def not_in_release(cases: Sequence[Case], release: Release) -> list[str]:
    """Return the ids of cases that cannot be right: the release has nothing that they expect."""
    keys = {key for _, key in release.services}
    found = []
    for case in cases:
        services, agencies = case.expected.services, case.expected.agencies
        if (services and services.isdisjoint(keys)) or (
            agencies and agencies - set(release.agencies)
        ):
            found.append(case.id)
    return found


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
        "measures": {
            name: {
                "count": share.count,
                "of": share.of,
                "share": None if share.share is None else round(share.share, _DIGITS),
            }
            for name, share in measure(results).items()
        },
        "risk_coverage": risk_coverage(results),
    }


def risk_coverage(results: Sequence[CaseResult]) -> dict[str, Any]:
    """Return the risk and the coverage of every threshold on the service's score, highest first.

    Coverage is the share of the ``population`` (the labelled cases that are inquiries or were taken
    for one) that is answered when every service with a score of at least the threshold is; risk is
    the share of wrong ones among these. It shows what the score is worth by itself: a case that
    another check sent to review counts by the service that was chosen for it. The curve ends before
    full coverage where turns ended without a service. ``at_limit`` is the point of the largest
    coverage whose risk is at most :data:`RISK`, None without one.
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
    # Cases of one score are let through together: no threshold parts them.
    for score, group in groupby(scored, key=lambda pair: pair[0]):
        verdicts = [is_wrong for _, is_wrong in group]
        covered += len(verdicts)
        wrong += sum(verdicts)
        points.append(
            {
                "threshold": score,
                "covered": covered,
                "coverage": round(covered / len(population), _DIGITS),
                "wrong": wrong,
                "risk": round(wrong / covered, _DIGITS),
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


CHANGES: Mapping[str, str] = {
    "better": "Got better",
    "worse": "Got worse",
    "to_review": "Moved to review",
    "other": "Not run, or not labelled, in one of them",
}
"""How a case's verdict can change, with the heading of the report."""


class NotAResult(ValueError):
    """The file is no result that ``evaluate --json`` printed; the message says why."""


def read_result(path: Path) -> Result:
    """Read a saved result; raises :class:`NotAResult` and OSError."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise NotAResult("it is not JSON") from error
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise NotAResult(f"it has not the format {FORMAT}")
    try:
        for row in value["cases"]:
            _ = row["id"] + row["verdict"]
        for each in MEASURES:
            share = value["measures"].get(each.name, {"count": 0, "of": 0, "share": None})
            _ = share["count"] + share["of"], share["share"]
        _ = value["risk_coverage"]["coverage_at_limit"] + 0.0
        _ = value["cases_file"] + value["cases_sha256"] + value["knowledge"] + value["model"]
    except (KeyError, TypeError, AttributeError) as error:
        raise NotAResult("parts of it are missing or have another shape") from error
    return value


def compare(before: Result, after: Result) -> dict[str, Any]:
    """Return what changed from ``before`` to ``after``, by case id and measure by measure.

    Only cases of both runs are compared by id, by :func:`change_of` their verdicts; the measures
    are each run's own totals.
    """
    old = {row["id"]: row["verdict"] for row in before["cases"]}
    new = {row["id"]: row["verdict"] for row in after["cases"]}
    both = [name for name in new if name in old]
    changes: dict[str, list[dict[str, str]]] = {kind: [] for kind in CHANGES}
    for name in both:
        kind = change_of(old[name], new[name])
        if kind != "same":
            row = {"id": name, "from": old[name], "to": new[name]}
            changes["to_review" if kind == "review" else kind].append(row)
    measures = {}
    for each in MEASURES:
        first, second = before["measures"].get(each.name), after["measures"][each.name]
        comparable = first is not None and None not in (first["share"], second["share"])
        difference = round(second["share"] - first["share"], _DIGITS) if comparable else None
        measures[each.name] = {"before": first, "after": second, "difference": difference}
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
