"""Render a result as text for a terminal and as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import mark_safe

from ieim.studio.evaluation.measures import MEASURES
from ieim.studio.evaluation.result import CHANGES, Result

VERDICTS: Mapping[str, str] = {
    "right": "right: answered, asked back or guided as expected, or rightly left to a person",
    "review": "sent to review, or asked back without the right service, instead of answered",
    "wrong": "wrong: a wrong answer, guidance for an inquiry, or told that no service is about it",
    "unlabelled": "answered, without a label to judge it by",
}
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
_HEIGHT = 60
"""Of the plot of risk against coverage, which is 100 wide."""


def as_text(result: Result, *, compared: Mapping[str, Any] | None = None) -> str:
    """Return a result as text for a terminal."""
    points = result["risk_coverage"]["points"]
    reached = {f"{step:.2f}": [p for p in points if p["threshold"] >= step] for step in _STEPS}
    steps: dict[int, tuple[str, Any]] = {}
    for step, passed in reached.items():
        if passed:  # the highest step that so many points reach
            steps.setdefault(len(passed), (step, passed[-1]))
    context = {
        "width": max(len(test.title) for test in MEASURES) + 2,
        "columns": _COLUMNS.values(),
        "tags": [
            (tag, part["cases"], [_cells(part["measures"][name])[0] for name in _COLUMNS])
            for tag, part in result["by_tag"].items()
        ],
        "steps": steps.values(),
    }
    return render_to_string("studio/evaluation.txt", context | _context(result, compared)).rstrip()


def as_html(result: Result, *, compared: Mapping[str, Any] | None = None) -> str:
    """Return a result as a page with its style and plots, without scripts or requests."""
    slices = {"All cases": {**result, "cases": len(result["cases"])}, **result["by_tag"]}
    style = Path(__file__).with_name("report.css").read_text(encoding="utf-8")
    context = {
        "style": format_html("<style>\n{}</style>", mark_safe(style)),  # noqa: S308  # our own
        "verdicts": VERDICTS,
        "bars": [
            (test, f"{share['share']:.1%}", share["of"])
            for test in MEASURES
            if test.better and (share := result["measures"][test.name])["of"]
        ],
        "ended": [
            (name, [(verdict, part["verdicts"][verdict]) for verdict in VERDICTS])
            for name, part in slices.items()
        ],
        "plot": _plot(result["risk_coverage"]),
        "slices": [(name, part["cases"]) for name, part in slices.items()],
        "table": [
            (test.title, [_cells(part["measures"][test.name]) for part in slices.values()])
            for test in MEASURES
        ],
        "coverages": [part["risk_coverage"] for part in slices.values()],
        "rows": [row for row in result["cases"] if row["verdict"] != "right"],
    }
    return render_to_string("studio/evaluation.html", context | _context(result, compared))


def _context(result: Result, compared: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the context of both templates."""
    chosen, in_file = len(result["cases"]), result["cases_in_file"]
    first = "" if chosen == in_file else f", the first {chosen:,} of {in_file:,}"
    lost = len(result["not_run"])
    not_run = f", {lost:,} could not be run" if lost else ""
    read, cached, written = (result["tokens"][name] for name in ("read", "cached", "written"))
    return {
        "result": result,
        "cases": f"{result['cases_file']}{first}: {result['cases_run']:,} run{not_run}",
        "tokens": f"{read:,} read, {cached:,} of them cached, {written:,} written",
        "measures": [(test, *_cells(result["measures"][test.name])) for test in MEASURES],
        "curve": result["risk_coverage"],
        "compared": compared,
        "changes": [(CHANGES[kind], compared[kind]) for kind in CHANGES] if compared else [],
        "differences": _differences(compared) if compared else [],
    }


def _plot(curve: Mapping[str, Any]) -> dict[str, Any]:
    """Return risk (vertical) against coverage (horizontal) in the units of the SVG."""
    points: Sequence[Mapping[str, float]] = curve["points"]
    limit, widest = curve["risk_limit"], curve["at_limit"]
    highest = max([limit * 2, *(point["risk"] for point in points)])
    scale = next((top for top in (0.2, 0.4, 0.6, 0.8, 1.0) if top >= highest), 1.0)

    def height(risk: float) -> str:
        return f"{_HEIGHT * (1 - risk / scale):.2f}"

    def position(point: Mapping[str, float]) -> tuple[str, str]:
        return f"{100 * point['coverage']:.2f}", height(point["risk"])

    description = "No threshold keeps the risk that low."
    if widest:
        description = (
            f"At a risk of no more than {limit:.0%} the coverage is {widest['coverage']:.0%}, "
            f"with a threshold of {widest['threshold']:.2f}."
        )
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    return {
        "description": description,
        "risks": [(height(scale * share), f"{scale * share:.0%}") for share in shares],
        "limit": height(limit),
        "dots": [position(point) for point in points],
        "line": " ".join(",".join(position(point)) for point in points),
        "best": position(widest) if widest else None,
    }


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
