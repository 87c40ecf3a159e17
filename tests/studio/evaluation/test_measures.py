"""What an evaluation counts."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ieim.pipeline.knowledge import Release
from ieim.studio.evaluation.cases import CaseFile
from ieim.studio.evaluation.measures import MEASURES, by_tag, measure
from ieim.studio.evaluation.outcomes import CaseResult, TurnResult
from ieim.studio.evaluation.result import NotAResult, compare, describe, read_result, risk_coverage
from tests.studio.evaluation.evaluating import GOOD, NOTHING_ANSWERS, SMALL_TALK, VISA, case, result

OTHER = (("immigration", "immigration.other"),)
RELEASE = Release(1, "0" * 64, {}, {}, {})
REVIEW = TurnResult("review", inquiry=True, agencies=frozenset({"immigration"}))
GUIDANCE = TurnResult("guidance", inquiry=False)


@pytest.mark.parametrize(
    ("of", "turn", "verdict"),
    [
        ({}, GOOD, "right"),
        ({}, TurnResult("answered", cited=OTHER), "wrong"),
        ({}, REVIEW, "review"),
        ({}, GUIDANCE, "wrong"),
        ({}, TurnResult("not_run"), "not_run"),
        (SMALL_TALK, GUIDANCE, "right"),
        (SMALL_TALK, GOOD, "wrong"),
        (NOTHING_ANSWERS, REVIEW, "right"),
        ({"expected": {"service": None, "acceptable_services": []}}, GOOD, "right"),
        (
            {"expected": {"agencies": ["x"], "service": None, "acceptable_services": []}},
            GOOD,
            "wrong",
        ),
        (
            {"expected": {"agencies": None, "service": None, "acceptable_services": []}},
            GOOD,
            "unlabelled",
        ),
    ],
)
def test_it_says_how_good_the_end_was(of: dict[str, Any], turn: TurnResult, verdict: str) -> None:
    assert CaseResult(case(**of), turn).verdict == verdict


@pytest.mark.parametrize(
    ("turn", "shortlist", "rank"),
    [
        ({"candidates": ("a", "b", "c", "d", VISA)}, (), 1),
        ({"candidates": ("a", "b", "c", "d", VISA), "service": None}, (), 5),
        ({"candidates": ("a", "b", "c", "d", VISA), "service": ("x", "z")}, (), 6),
        ({"candidates": ("a",), "service": None}, (VISA,), None),
        ({"candidates": None, "service": None}, ("a", VISA), 2),
        ({"candidates": None, "service": None}, (), None),
    ],
)
def test_it_ranks_the_first_services(
    turn: dict[str, Any], shortlist: tuple[str, ...], rank: int | None
) -> None:
    assert CaseResult(case(), result(**turn).turn, shortlist).rank == rank


def injected(plain: TurnResult | None, **turn: Any) -> CaseResult:
    one = case(tags=["injection"])
    return CaseResult(one, result(**turn).turn, plain=plain, compared="case" if plain else "")


@pytest.mark.parametrize(
    ("plain", "turn", "moved"),
    [
        (GOOD, {}, ()),
        (GOOD, {"inquiry": False}, ("inquiry",)),
        (GOOD, {"agencies": frozenset({"immigration", "x"})}, ("agencies",)),
        (REVIEW, {}, ("service",)),
        (GOOD, {"outcome": "review", "service": None, "score": None}, ()),
        (GOOD, {"outcome": "not_run", "service": OTHER[0]}, ()),
        # Nothing to compare with: what is expected counts.
        (None, {}, ()),
        (None, {"service": OTHER[0]}, ("service",)),
    ],
)
def test_it_sees_a_label_that_an_injected_text_moved(
    plain: TurnResult | None, turn: dict[str, Any], moved: tuple[str, ...]
) -> None:
    assert injected(plain, **turn).moved == moved


def test_it_counts_each_measure() -> None:
    small_talk = case(**SMALL_TALK)
    two = case(expected={"agencies": ["immigration", "revenue"]})
    results = [
        result(),
        result(cited=(("immigration", VISA), *OTHER)),
        result(cited=OTHER, service=OTHER[0], candidates=("a", "b", "c", "d", "e", VISA)),
        result(REVIEW, service=("immigration", VISA), score=Decimal("0.10")),
        CaseResult(case(), REVIEW, shortlist=("a", VISA)),
        result(TurnResult("asked", offered=OTHER)),
        result(TurnResult("outside", inquiry=True)),
        result(GUIDANCE),
        result(GUIDANCE, of=small_talk),
        result(of=small_talk),
        result(REVIEW, of=case(**NOTHING_ANSWERS)),
        result(of=two, agencies=frozenset({"immigration", "revenue", "x"})),
        injected(GOOD, service=OTHER[0], cited=OTHER),
        injected(GOOD, outcome="review", cited=()),
        result(TurnResult("not_run")),
    ]
    assert {name: (share["count"], share["of"]) for name, share in measure(results).items()} == {
        "inquiry_precision": (10, 11),
        "inquiry_recall": (10, 12),
        "not_inquiry_right": (1, 2),
        "agency_right": (7, 11),
        "agencies_found": (8, 11),
        "service_first": (5, 11),
        "service_first_five": (7, 11),
        "shortlist_alone": (2, 11),
        "answered": (6, 14),
        "asked": (1, 14),
        "asked_right": (0, 1),
        "helped": (3, 11),
        "review": (4, 14),
        "guidance": (2, 14),
        "outside": (1, 14),
        "outside_wrong": (1, 11),
        "wrong_answered": (3, 6),
        "beside_answered": (1, 5),
        "review_right": (1, 1),
        "injected_moved": (1, 2),
        "injected_stopped": (1, 2),
    }
    assert measure([])["answered"] == {"count": 0, "of": 0, "share": None}


def test_it_breaks_down_by_tag() -> None:
    vague = result(of=case(tags=["first-turn", "vague", "intent:x", "zoo", "agent"]))
    slices = by_tag([result(), vague])
    assert list(slices) == ["first-turn", "first-turn, not vague", "vague", "agent", "zoo"]
    assert [len(members) for members in slices.values()] == [2, 1, 1, 1, 1]


def scored(score: str | None, *, right: bool = True, **turn: Any) -> CaseResult:
    service = ("immigration", VISA) if right else OTHER[0]
    value = Decimal(score) if score else None
    return result(score=value, service=service if score else None, cited=(service,), **turn)


def test_it_draws_risk_against_coverage() -> None:
    curve = risk_coverage(
        [
            scored("0.90"),
            scored("0.80", right=False),
            scored("0.80"),
            scored("0.30", outcome="review"),
            scored("0.20", right=False, outcome="review"),
            scored(None, outcome="review"),
            result(GUIDANCE, of=case(**SMALL_TALK)),
            result(TurnResult("not_run")),
        ]
    )
    assert curve["population"] == 6
    points = curve["points"]
    assert [(p["threshold"], p["covered"], p["wrong"]) for p in points] == [
        (0.9, 1, 0),
        (0.8, 3, 1),
        (0.3, 4, 1),
        (0.2, 5, 2),
    ]
    assert points[1]["coverage"] == pytest.approx(0.5)
    assert points[1]["risk"] == pytest.approx(1 / 3, abs=1e-6)


def test_it_finds_the_widest_coverage_at_a_risk() -> None:
    wrong = scored("0.90", right=False)
    curve = risk_coverage([wrong, *[scored("0.80")] * 9, scored("0.10", right=False)])
    assert (curve["at_limit"]["threshold"], curve["at_limit"]["covered"]) == (0.8, 10)
    assert risk_coverage([wrong])["at_limit"] is None
    assert (risk_coverage([])["at_limit"], risk_coverage([])["coverage_at_limit"]) == (None, 0.0)


def described(*verdicts: TurnResult, ids: str = "abcdefgh") -> dict[str, Any]:
    results = [CaseResult(case(id=i), turn) for i, turn in zip(ids, verdicts, strict=False)]
    file = CaseFile("cases.jsonl", "0" * 64, tuple(value.case for value in results))
    return describe(file, results, release=RELEASE, knowledge="release 1", model="m")


def test_it_sets_two_results_side_by_side() -> None:
    wrong = TurnResult("answered", cited=OTHER)
    before = described(wrong, GOOD, GOOD, REVIEW, GOOD, GOOD)
    after = described(GOOD, wrong, REVIEW, GOOD, GOOD, TurnResult("not_run"), GOOD)
    comparison = compare(before, after)
    assert {kind: [row["id"] for row in comparison[kind]] for kind in ("better", "worse")} == {
        "better": ["a", "d"],
        "worse": ["b"],
    }
    assert comparison["to_review"] == [{"id": "c", "from": "right", "to": "review"}]
    assert [row["id"] for row in comparison["other"]] == ["f"]
    assert (comparison["compared"], comparison["unchanged"], comparison["only_after"]) == (
        6,
        1,
        ["g"],
    )
    assert comparison["measures"]["answered"]["difference"] == pytest.approx(5 / 6 - 5 / 6)
    assert comparison["measures"]["injected_moved"]["difference"] is None


def test_it_reads_a_saved_result_back(tmp_path: Path) -> None:
    path = tmp_path / "before.json"
    value = described(GOOD)
    path.write_text(json.dumps(value), encoding="utf-8")
    assert read_result(path) == value
    assert set(value["measures"]) == {results.name for results in MEASURES}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (None, "not JSON"),
        ({"format": "x"}, "its format is not"),
        ({"cases": [{"id": 1}]}, "another shape"),
        ({"measures": {"answered": 1}}, "another shape"),
    ],
)
def test_it_refuses_what_is_no_result(
    tmp_path: Path, change: dict[str, Any] | None, message: str
) -> None:
    path = tmp_path / "before.json"
    text = "{" if change is None else json.dumps({**described(GOOD), **change})
    path.write_text(text, encoding="utf-8")
    with pytest.raises(NotAResult, match=message):
        read_result(path)
