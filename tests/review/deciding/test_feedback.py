"""What people decided, as evaluation cases that can be run."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from ieim.knowledge import selectors as knowledge
from ieim.studio.evaluation.cases import read_cases
from review import evaluation_cases
from review.deciding import Action
from review.models import ReviewItem
from tests.fixtures import VISA
from tests.review import desk
from tests.review.deciding.test_deciding import AGENCY, RISKY, SERVICE, selection
from tests.review.desk import BAD, GREETING, taken_and_decided

pytestmark = pytest.mark.usefixtures("published")
INQUIRY: dict[str, Any] = {
    "inquiry": True,
    "agencies": None,
    "service": None,
    "acceptable_services": [],
}
VISA_CASE = {
    "inquiry": True,
    "agencies": [AGENCY],
    "service": SERVICE,
    "acceptable_services": [SERVICE],
}
GUIDANCE = {"inquiry": False, "agencies": [], "service": None, "acceptable_services": []}
WORDS = "Please write to us."
DETECTED = {
    "agencyDetected": [AGENCY],
    "agencyInfo": [],
    "agencyCount": 1,
    "complexity": "low",
}


def detected() -> dict[str, Any]:
    agency = knowledge.release(1).agencies[AGENCY]
    info = {"agencyId": agency.id, "name": agency.name, "path": agency.path}
    return {**DETECTED, "agencyInfo": [{**info, "description": agency.description}]}


def decided(stage: str, action: Action, ask: str = VISA, **payload: Any) -> ReviewItem:
    turn = desk.ask(ask, {stage: BAD}, secret="s")
    item = desk.the_item(turn)
    taken_and_decided(item, desk.person(f"eva-{item.pk}"), action, **payload)
    desk.run(turn)
    return ReviewItem.objects.get(pk=item.pk)


def test_it_expects_what_the_person_vouched_for() -> None:
    judged = {"judgements": {"inquiry": False}, "assistantReply": GREETING}
    sources = [{"agency": AGENCY, "service": SERVICE}]
    cases = [
        (decided("service_select_v1", Action.OVERRIDE, output=selection()), VISA_CASE),
        (decided("x", Action.APPROVE, RISKY), VISA_CASE),
        (
            decided("agency_detect_v1", Action.OVERRIDE, output={"judgements": detected()}),
            {**INQUIRY, "agencies": [AGENCY]},
        ),
        (decided("judgement_v1", Action.OVERRIDE, output=judged), GUIDANCE),
        (decided("judgement_v1", Action.WRITE, text=WORDS, sources=sources), VISA_CASE),
        (decided("judgement_v1", Action.WRITE, text=WORDS, sources=[]), INQUIRY),
    ]
    for item, expected in cases:
        case = evaluation_cases.case_of(item)
        assert case["expected"] == expected
        assert case["text"] == item.turn.text
        assert "correction" in case["tags"]


def test_it_makes_no_case_of_what_says_nothing() -> None:
    for action in (Action.RETRY, Action.DISMISS):
        with pytest.raises(evaluation_cases.NoCase, match="does not say"):
            evaluation_cases.case_of(decided("category_select_v1", action))
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    with pytest.raises(evaluation_cases.NoCase, match="not been decided"):
        evaluation_cases.case_of(desk.the_item(turn))


def test_it_exports_cases_that_the_evaluation_reads(tmp_path: Path) -> None:
    decided("service_select_v1", Action.OVERRIDE, output=selection())
    old = decided("service_select_v1", Action.OVERRIDE, output=selection())
    decided("category_select_v1", Action.DISMISS)
    ReviewItem.objects.filter(pk=old.pk).update(decided_at=timezone.now() - timedelta(days=9))
    out, err = tmp_path / "cases.jsonl", io.StringIO()
    call_command("export_corrections", "--out", str(out), stderr=err)
    assert "2 case(s) written, 1 item(s) make none" in err.getvalue()
    cases = read_cases(out).cases
    assert [case.expected.services for case in cases] == [frozenset({SERVICE})] * 2
    # The second question of a session carries the talk before it.
    assert {len(case.history) for case in cases} == {0, 2}

    today, result = timezone.localdate() - timedelta(days=1), io.StringIO()
    call_command("export_corrections", "--since", str(today), stdout=result, stderr=err)
    assert len([json.loads(line) for line in result.getvalue().splitlines()]) == 1


def test_it_says_what_is_wrong_with_its_arguments(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no date such as"):
        call_command("export_corrections", "--since", "yesterday")
    with pytest.raises(CommandError, match="Cannot write"):
        call_command("export_corrections", "--out", str(tmp_path / "no" / "such.jsonl"))
