"""The offline engine over a real catalogue, where it is at hand: what was measured stays so."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from ieim.llm.offline import OfflineModel
from ieim.pipeline.work import Options
from ieim.search import index_for
from ieim.studio.evaluation.cases import read_cases
from ieim.studio.evaluation.measures import Share, by_tag, measure
from ieim.studio.evaluation.outcomes import CaseResult
from ieim.studio.evaluation.running import Asker, run_cases
from tests.llm.offline.turns import SHARED, release

pytestmark = [
    pytest.mark.whole,
    pytest.mark.skipif(
        not SHARED.is_dir(), reason="needs the catalogues and cases in ../shared/data"
    ),
]


@cache
def results(name: str) -> Sequence[CaseResult]:
    us = release(SHARED / "catalogues" / "us")
    cases = read_cases(SHARED / "cases" / f"{name}.jsonl").cases
    return run_cases(cases, Asker(OfflineModel(), us, index_for(us), Options()))


def shares(name: str, tag: str = "") -> dict[str, Share]:
    return measure(by_tag(results(name))[tag] if tag else results(name))


def share(name: str, measured: str, tag: str = "") -> float:
    found = shares(name, tag)[measured].share
    assert found is not None
    return found


def test_it_finds_agency_and_service_of_a_first_question() -> None:
    tag = "first-turn, not vague"
    assert share("inquiries", "agency_right", tag) >= 0.91
    assert share("inquiries", "service_first", tag) >= 0.65
    assert share("inquiries", "service_first_five", tag) >= 0.85


def test_it_answers_few_inquiries_wrongly_and_most_it_can() -> None:
    assert share("inquiries", "inquiry_recall") >= 0.95
    assert share("inquiries", "agency_right", "multi-turn") >= 0.88
    assert share("inquiries", "wrong_answered") <= 0.10
    assert share("inquiries", "helped") >= 0.6


def test_it_finds_both_agencies() -> None:
    assert share("multi_agency", "agencies_found") >= 0.70


def test_it_tells_what_is_no_inquiry() -> None:
    assert share("not_inquiries", "not_inquiry_right") >= 0.95


def test_it_lets_no_injected_text_move_a_label() -> None:
    assert shares("injected")["injected_moved"].count == 0
