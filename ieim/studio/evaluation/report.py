"""Shows a result: as text in a terminal, and as one HTML page without other files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    "wrong": "wrong: a wrong answer, or guidance for an inquiry",
    "unlabelled": "answered, without a label to judge it by",
}
_SHORT = {
    "agency_right": "agency",
    "service_first": "service",
    "service_first_five": "first five",
    "answered": "answered",
    "asked": "asked",
    "helped": "helped",
    "review": "review",
    "guidance": "guidance",
    "wrong_answered": "wrong",
}
"""The columns of the terminal's table by tag."""

_FEW = 5
_STEPS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
_TITLE_WIDTH = max(len(each.title) for each in MEASURES) + 2
_HEIGHT = 60
"""Of the plot of risk against coverage, which is 100 wide."""


def as_text(result: Result, *, compared: Mapping[str, Any] | None = None) -> str:
    """Return a result for a person to read in a terminal."""
    lines = [
        f"Cases      {_cases(result)}",
        f"Knowledge  {result['knowledge']}",
        f"Model      {result['model']}",
        f"Tokens     {_tokens(result['tokens'])}",
        "",
    ]
    for each in MEASURES:
        value, counts = _cells(result["measures"][each.name])
        lines.append(f"{each.title:<{_TITLE_WIDTH}}{value:<7}{counts}")
    lines += ["", *_tag_lines(result), "", *_curve_lines(result["risk_coverage"])]
    return "\n".join([*lines, *(_compared_lines(compared) if compared else ())])


def as_html(result: Result, *, compared: Mapping[str, Any] | None = None) -> str:
    """Return a result as a page: style and plots inside, no script, nothing fetched."""
    slices = {"All cases": {**result, "cases": len(result["cases"])}, **result["by_tag"]}
    style = Path(__file__).with_name("report.css").read_text(encoding="utf-8")
    shares = [(each, result["measures"][each.name]) for each in MEASURES]
    ended = [
        (name, [(kind, each["verdicts"][kind]) for kind in VERDICTS])
        for name, each in slices.items()
    ]
    return render_to_string(
        "studio/evaluation.html",
        {
            "style": format_html("<style>\n{}</style>", mark_safe(style)),  # noqa: S308  # our own
            "result": result,
            "cases": _cases(result),
            "tokens": _tokens(result["tokens"]),
            "verdicts": VERDICTS,
            "measures": [(each, *_cells(share)) for each, share in shares],
            "bars": [
                (each, f"{share['share']:.1%}", share["of"])
                for each, share in shares
                if each.better and share["of"]
            ],
            "ended": ended,
            "curve": result["risk_coverage"],
            "plot": _plot(result["risk_coverage"]),
            "slices": [(name, each["cases"]) for name, each in slices.items()],
            "table": [
                (each.title, [_cells(found["measures"][each.name]) for found in slices.values()])
                for each in MEASURES
            ],
            "coverages": [found["risk_coverage"] for found in slices.values()],
            "rows": [row for row in result["cases"] if row["verdict"] != "right"],
            "compared": compared,
            "changes": [(CHANGES[kind], compared[kind]) for kind in CHANGES] if compared else [],
            "differences": _differences(compared) if compared else [],
        },
    )


def _plot(curve: Mapping[str, Any]) -> dict[str, Any]:
    """Return risk (upwards) against coverage (to the right) in the units of the SVG."""
    points: Sequence[Mapping[str, float]] = curve["points"]
    limit, widest = curve["risk_limit"], curve["at_limit"]
    highest = max([limit * 2, *(point["risk"] for point in points)])
    scale = next((each for each in (0.2, 0.4, 0.6, 0.8, 1.0) if each >= highest), 1.0)

    def height(risk: float) -> str:
        return f"{_HEIGHT * (1 - risk / scale):.2f}"

    def place(point: Mapping[str, float]) -> tuple[str, str]:
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
        "dots": [place(point) for point in points],
        "line": " ".join(",".join(place(point)) for point in points),
        "best": place(widest) if widest else None,
    }


def _cases(result: Result) -> str:
    chosen, in_file = len(result["cases"]), result["cases_in_file"]
    first = "" if chosen == in_file else f", the first {chosen:,} of {in_file:,}"
    lost = len(result["not_run"])
    not_run = f", {lost:,} could not be run" if lost else ""
    return f"{result['cases_file']}{first}: {result['cases_run']:,} run{not_run}"


def _tokens(tokens: Mapping[str, int]) -> str:
    read, cached, written = (tokens[name] for name in ("read", "cached", "written"))
    return f"{read:,} read, {cached:,} of them cached, {written:,} written"


def _cells(share: Mapping[str, Any] | None) -> tuple[str, str]:
    """Return a share and its counts as two short texts."""
    if not share or not share["of"]:
        return "–", "no case"
    return f"{share['share']:.3f}", f"{share['count']:,} of {share['of']:,}"


def _tag_lines(result: Result) -> Iterator[str]:
    yield f"{'By tag':<24}{'cases':>7}" + "".join(f"{word:>12}" for word in _SHORT.values())
    for tag, found in result["by_tag"].items():
        cells = (_cells(found["measures"][name])[0] for name in _SHORT)
        yield f"{tag:<24}{found['cases']:>7,}" + "".join(f"{cell:>12}" for cell in cells)


def _curve_lines(curve: Mapping[str, Any]) -> Iterator[str]:
    yield f"Risk and coverage of {curve['population']:,} cases, by the service's score"
    yield f"{'score from':>12}{'covered':>10}{'coverage':>10}{'wrong':>8}{'risk':>8}"
    shown = None
    for step in _STEPS:
        reached = [point for point in curve["points"] if point["threshold"] >= step]
        if reached and reached[-1] != shown:
            shown = reached[-1]
            yield (
                f"{step:>12.2f}{shown['covered']:>10,}{shown['coverage']:>10.3f}"
                f"{shown['wrong']:>8,}{shown['risk']:>8.3f}"
            )
    best = curve["at_limit"]
    start = f", from a score of {best['threshold']:.2f}" if best else ""
    yield f"Coverage at {curve['risk_limit']:.0%} risk: {curve['coverage_at_limit']:.3f}{start}"


def _compared_lines(compared: Mapping[str, Any]) -> Iterator[str]:
    before = compared["before"]
    yield ""
    yield f"Compared with {before['cases_file']}, {before['knowledge']}, {before['model']}"
    if not compared["same_cases_file"]:
        yield "The files of cases differ: cases are compared by their ids."
    yield f"{compared['compared']:,} cases in both, {compared['unchanged']:,} unchanged"
    for kind, title in CHANGES.items():
        yield f"{title}: {len(compared[kind]):,}"
        yield from (f"  {row['id']}: {row['from']}, now {row['to']}" for row in compared[kind])
    for run, name in (("earlier", "only_before"), ("present", "only_after")):
        if ids := compared[name]:
            more = ", ..." if len(ids) > _FEW else ""
            yield f"Only in the {run} run: {len(ids):,} ({', '.join(ids[:_FEW])}{more})"
    yield ""
    for title, old, new, difference in _differences(compared):
        yield f"{title:<{_TITLE_WIDTH}}{old:>8}{new:>8}{difference:>9}"


def _differences(compared: Mapping[str, Any]) -> Sequence[tuple[str, str, str, str]]:
    """Return rows of title, before, after, difference."""
    rows = []
    for each in MEASURES:
        row = compared["measures"][each.name]
        change = "–" if row["difference"] is None else f"{row['difference']:+.3f}"
        rows.append((each.title, _cells(row["before"])[0], _cells(row["after"])[0], change))
    old, new = (compared["coverage_at_limit"][name] for name in ("before", "after"))
    return [*rows, ("Coverage at 10% risk", f"{old:.3f}", f"{new:.3f}", f"{new - old:+.3f}")]
