"""Render a result as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.template.loader import render_to_string

from ieim.studio.evaluation.measures import MEASURES
from ieim.studio.evaluation.result import CHANGES, Result

_COLUMNS = {
    "agency_right": "agency",
    "service_first": "service",
    "service_first_five": "first five",
    "answered": "answered",
    "asked": "asked",
    "helped": "helped",
    "review": "review",
    "guidance": "guidance",
    "outside": "none",
    "wrong_answered": "wrong",
}
"""The columns of the terminal's table by tag."""
_STEPS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)


def as_text(result: Result, *, compared: Mapping[str, Any] | None = None) -> str:
    """Return a result as text for a terminal."""
    points = result["risk_coverage"]["points"]
    reached = {f"{step:.2f}": [p for p in points if p["threshold"] >= step] for step in _STEPS}
    steps: dict[int, tuple[str, Any]] = {}
    for step, passed in reached.items():
        if passed:  # the highest step that so many points reach
            steps.setdefault(len(passed), (step, passed[-1]))
    chosen, in_file = len(result["cases"]), result["cases_in_file"]
    first = "" if chosen == in_file else f", the first {chosen:,} of {in_file:,}"
    lost = len(result["not_run"])
    not_run = f", {lost:,} could not be run" if lost else ""
    read, cached, output = (result["tokens"][name] for name in ("read", "cached", "written"))
    context = {
        "result": result,
        "cases": f"{result['cases_file']}{first}: {result['cases_run']:,} run{not_run}",
        "tokens": f"{read:,} read, {cached:,} of them cached, {output:,} written",
        "width": max(len(test.title) for test in MEASURES) + 2,
        "measures": [(test, *_cells(result["measures"][test.name])) for test in MEASURES],
        "columns": _COLUMNS.values(),
        "tags": [
            (tag, part["cases"], [_cells(part["measures"][name])[0] for name in _COLUMNS])
            for tag, part in result["by_tag"].items()
        ],
        "curve": result["risk_coverage"],
        "steps": steps.values(),
        "compared": compared,
        "changes": [(CHANGES[kind], compared[kind]) for kind in CHANGES] if compared else [],
        "differences": _differences(compared) if compared else [],
    }
    return render_to_string("studio/evaluation.txt", context).rstrip()


def _cells(share: Mapping[str, Any] | None) -> tuple[str, str]:
    """Return a share and its counts as two short texts."""
    if not share or not share["of"]:
        return "–", "no case"
    return f"{share['share']:.3f}", f"{share['count']:,} of {share['of']:,}"


def _differences(compared: Mapping[str, Any]) -> Sequence[tuple[str, str, str, str]]:
    """Return rows of title, before, after, difference."""
    rows = []
    for test in MEASURES:
        row = compared["measures"][test.name]
        change = "–" if row["difference"] is None else f"{row['difference']:+.3f}"
        rows.append((test.title, _cells(row["before"])[0], _cells(row["after"])[0], change))
    old, new = (compared["coverage_at_limit"][name] for name in ("before", "after"))
    return [*rows, ("Coverage at 10% risk", f"{old:.3f}", f"{new:.3f}", f"{new - old:+.3f}")]
