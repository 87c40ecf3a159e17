"""Real catalogues, real questions and hostile text, where they are at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.search import ReleaseIndex, matching_spans

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="needs the catalogues and cases in ../shared/data"
)


def index_of(name: str) -> ReleaseIndex:
    return ReleaseIndex(read_bundle(DATA / "catalogues" / name).release())


def cases(name: str) -> list[dict[str, Any]]:
    lines = (DATA / "cases" / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def test_it_ranks_no_worse_than_the_floor() -> None:
    index = index_of("us")
    asked = [c for c in cases("inquiries") if not c["history"] and "vague" not in c["tags"]]
    agency = service = first_five = 0
    for case in asked:
        expected = case["expected"]
        agency += index.agencies(case["text"], limit=1)[0].item.id in expected["agencies"]
        found = [each.item.key for each in index.services(case["text"], agencies=None, limit=5)]
        service += found[0] in expected["acceptable_services"]
        first_five += not set(found).isdisjoint(expected["acceptable_services"])
    assert len(asked) > 150
    assert agency / len(asked) >= 0.95
    assert service / len(asked) >= 0.68
    assert first_five / len(asked) >= 0.86


@pytest.mark.parametrize("name", ["us", "ke"])
def test_it_takes_every_hostile_text(name: str) -> None:
    index = index_of(name)
    for case in cases("adversarial"):
        text = case["text"]
        assert len(index.services(text, agencies=None, limit=20)) == 20
        assert index.agencies(text, limit=5)
        matching_spans(text, text)
