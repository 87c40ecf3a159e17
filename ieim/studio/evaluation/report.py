"""Showing a result: as text in a terminal, and as one HTML page that needs nothing beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import mark_safe

from ieim.studio.evaluation import charts
from ieim.studio.evaluation.compare import CHANGES
from ieim.studio.evaluation.measures import MEASURES
from ieim.studio.evaluation.result import Result

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


def as_text(result: Result, *, compared: Mapping[str, Any] | None = None) -> str:
    """Return a result for a person to read in a terminal."""
    return "\n".join(
        [
            f"Cases      {_cases(result)}",
            f"Knowledge  {result['knowledge']}",
            f"Model      {result['model']}",
            f"Tokens     {_tokens(result['tokens'])}",
            "",
            *(
                f"{each.title:<{_TITLE_WIDTH}}{_figure(result['measures'][each.name])}"
                for each in MEASURES
            ),
            "",
            *_tag_lines(result),
            "",
            *_curve_lines(result["risk_coverage"]),
            *(_compared_lines(compared) if compared else ()),
        ]
    )


def as_html(result: Result, *, compared: Mapping[str, Any] | None = None) -> str:
    """Return a result as a page: style and plots inside, no script, nothing fetched."""
    slices = {"All cases": {**result, "cases": len(result["cases"])}, **result["by_tag"]}
    style = Path(__file__).with_name("report.css").read_text(encoding="utf-8")
    judged = [each for each in MEASURES if each.better]
    return render_to_string(
        "studio/evaluation.html",
        {
            "style": format_html("<style>\n{}</style>", mark_safe(style)),  # noqa: S308  # our own
            "result": result,
            "cases": _cases(result),
            "tokens": _tokens(result["tokens"]),
            "verdicts": VERDICTS,
            "measures": [(each, *_cells(result["measures"][each.name])) for each in MEASURES],
            "measure_chart": charts.bars(
                "measures",
                "Measures",
                [
                    (each.title, share["share"], _share_text(share), each.better or "")
                    for each in judged
                    if (share := result["measures"][each.name])["of"]
                ],
            ),
            "ended": (ended := [(n, _counts(found)) for n, found in slices.items()]),
            "ended_chart": charts.stacked("ended", "How the cases ended", list(VERDICTS), ended),
            "curve": result["risk_coverage"],
            "curve_chart": charts.curve("curve", "Risk against coverage", result["risk_coverage"]),
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


def _cases(result: Result) -> str:
    chosen, in_file = len(result["cases"]), result["cases_in_file"]
    first = "" if chosen == in_file else f", the first {chosen:,} of {in_file:,}"
    lost = len(result["not_run"])
    return (
        f"{result['cases_file']}{first}: {result['cases_run']:,} run"
        f"{f', {lost:,} could not be run' if lost else ''}"
    )


def _tokens(tokens: Mapping[str, int]) -> str:
    read, cached, written = (tokens[name] for name in ("read", "cached", "written"))
    return f"{read:,} read, {cached:,} of them cached, {written:,} written"


def _counts(found: Mapping[str, Any]) -> dict[str, int]:
    """Return how many cases have each verdict, of those that were run."""
    return {kind: found["verdicts"][kind] for kind in VERDICTS}


def _cells(share: Mapping[str, Any] | None) -> tuple[str, str]:
    """Return a share and its counts as two short texts."""
    if not share or not share["of"]:
        return "–", "no case"
    return f"{share['share']:.3f}", f"{share['count']:,} of {share['of']:,}"


def _figure(share: Mapping[str, Any]) -> str:
    value, counts = _cells(share)
    return f"{value:<7}{counts}"


def _share_text(share: Mapping[str, Any]) -> str:
    return f"{share['share']:.1%} of {share['of']:,}"


def _tag_lines(result: Result) -> Iterator[str]:
    yield f"{'By tag':<24}{'cases':>7}" + "".join(f"{word:>12}" for word in _SHORT.values())
    for tag, found in result["by_tag"].items():
        shares = (found["measures"][name] for name in _SHORT)
        cells = (f"{s['share']:.3f}" if s["of"] else "–" for s in shares)
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
    at = f", from a score of {best['threshold']:.2f}" if best else ""
    yield f"Coverage at {curve['risk_limit']:.0%} risk: {curve['coverage_at_limit']:.3f}{at}"


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
    for words, name in (("earlier", "only_before"), ("present", "only_after")):
        if ids := compared[name]:
            more = ", ..." if len(ids) > _FEW else ""
            yield f"Only in the {words} run: {len(ids):,} ({', '.join(ids[:_FEW])}{more})"
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
