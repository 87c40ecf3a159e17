"""Evidence on the shared corpus of quotes, which is not part of this repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ieim.pipeline.evidence import locate, snippet_sha256

CORPUS = Path(__file__).parents[4] / "shared" / "data" / "cases" / "evidence_offsets.jsonl"

pytestmark = pytest.mark.skipif(
    not CORPUS.exists(), reason="the evidence corpus (../shared/data) is not on this machine"
)


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]


def test_it_finds_every_exact_case_and_space_quote(cases: list[dict[str, Any]]) -> None:
    missed = []
    wanted = [case for case in cases if case["kind"] in {"exact", "case", "space"}]
    for case in wanted:
        span = locate(case["text"], case["snippet"])
        if span is None or [span.start, span.end] not in case["spans"]:
            missed.append((case["id"], span))
    assert len(wanted) >= 100
    assert missed == []


def test_it_accepts_no_absent_cut_or_changed_quote(cases: list[dict[str, Any]]) -> None:
    wanted = [case for case in cases if case["kind"] in {"absent", "cut", "changed"}]
    assert len(wanted) >= 100
    assert [case["id"] for case in wanted if locate(case["text"], case["snippet"])] == []


def test_it_hashes_the_slice_that_it_points_at(cases: list[dict[str, Any]]) -> None:
    for case in cases:
        if case["kind"] == "exact":
            span = locate(case["text"], case["snippet"])
            assert span is not None
            assert case["text"][span.start : span.end] == case["snippet"]
            assert len(snippet_sha256(case["text"], span)) == 64
