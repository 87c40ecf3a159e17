"""Two results side by side: which cases got better, got worse, or moved to review."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ieim.studio.evaluation.measures import MEASURES
from ieim.studio.evaluation.result import FORMAT, Result

_KINDS: Mapping[str, str] = {"right": "better", "wrong": "worse", "review": "to_review"}
"""A case that changed is of the kind that its present verdict says."""

CHANGES: Mapping[str, str] = {
    "better": "Got better",
    "worse": "Got worse",
    "to_review": "Moved to review",
    "other": "Not run, or not labelled, in one of them",
}


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

    A case whose verdict changed got ``better`` when it is right now, ``worse`` when it is wrong
    now, and moved ``to_review`` when it is a review now; each says what it was ``from``. Only cases
    of both runs are compared by id; the measures are each run's own totals.
    """
    old = {row["id"]: row["verdict"] for row in before["cases"]}
    new = {row["id"]: row["verdict"] for row in after["cases"]}
    both = [name for name in new if name in old]
    changes: dict[str, list[dict[str, str]]] = {kind: [] for kind in CHANGES}
    for name in both:
        if old[name] != new[name]:
            changes[_kind(old[name], new[name])].append(
                {"id": name, "from": old[name], "to": new[name]}
            )
    return {
        "before": {name: before[name] for name in ("cases_file", "knowledge", "model")},
        "same_cases_file": before["cases_sha256"] == after["cases_sha256"],
        "compared": len(both),
        "unchanged": sum(old[name] == new[name] for name in both),
        "only_before": [name for name in old if name not in new],
        "only_after": [name for name in new if name not in old],
        **changes,
        "measures": _measures(before, after),
        "coverage_at_limit": {
            "before": before["risk_coverage"]["coverage_at_limit"],
            "after": after["risk_coverage"]["coverage_at_limit"],
        },
    }


def _kind(old: str, new: str) -> str:
    return _KINDS[new] if old in _KINDS and new in _KINDS else "other"


def _measures(before: Result, after: Result) -> dict[str, Any]:
    rows = {}
    for each in MEASURES:
        old, new = before["measures"].get(each.name), after["measures"][each.name]
        known = old is not None and None not in (old["share"], new["share"])
        rows[each.name] = {
            "before": old,
            "after": new,
            "difference": round(new["share"] - old["share"], 6) if known else None,
        }
    return rows
