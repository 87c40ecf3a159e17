"""A text that fails its checks twice is no pass: prepared words answer, and that is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conversations.decisions import decisions
from conversations.models import Stage, Turn
from conversations.record.replay import replay
from conversations.turns import languages
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from review.auditing import wording
from review.item import selectors
from review.item.stages import rail
from review.models import ReviewItem
from tests.review import desk
from tests.review.desk import BABY, GREETING, Says
from tests.review.reviewing import Reviewer

pytestmark = pytest.mark.usefixtures("published")

JUDGEMENT, ANSWER = "judgement_v1", "multi_agency_service_answer_v1"
FEE = " It costs MRK 987.00."
BLANK = "—"


def greets(answer: dict[str, Any]) -> None:
    answer.update(judgements={"inquiry": False}, assistantReply=BLANK, nextStep="session_end")


def invents(answer: dict[str, Any]) -> None:
    answer["assistantReply"] += FEE


def names_another(answer: dict[str, Any]) -> None:
    answer["assistantReply"] += " Then call the Immigration and Visa Service."


def says_nothing(answer: dict[str, Any]) -> None:
    answer["assistantReply"] = "Congratulations!"


def cites_nothing(answer: dict[str, Any]) -> None:
    answer["sourcesUsed"] = []


def stopped_twice(text: str, contract: str, says: Says) -> tuple[Turn, Stage]:
    turn = desk.ask(text, {contract: [says, says]})
    return turn, turn.stages.get(contract=contract)


CASES: list[Any] = [
    ("hello", JUDGEMENT, greets, "reply.empty"),
    (BABY, ANSWER, invents, "reply.ungrounded"),
    (BABY, ANSWER, names_another, "sources.missing"),
    (BABY, ANSWER, says_nothing, "reply.empty"),
]


@pytest.mark.parametrize(("text", "contract", "says", "code"), CASES)
def test_prepared_words_answer_and_the_models_own_are_kept(
    text: str, contract: str, says: Says, code: str
) -> None:
    turn, stage = stopped_twice(text, contract, says)
    assert (stage.status, turn.state) == ("fallback", "answered")
    assert {finding["code"] for finding in stage.findings} == {code}
    attempts = list(stage.attempts.all())
    assert [[f["code"] for f in attempt.findings] for attempt in attempts] == [[code]] * 2
    assistant_reply = json.loads(attempts[-1].raw_text)["assistantReply"]
    assert stage.output is not None
    assert stage.output["assistantReply"] == assistant_reply
    body = turn.reply.body
    assert assistant_reply not in body["paragraphs"]
    assert FEE.strip() not in str(body)
    assert body["paragraphs"] == [GREETING] if contract == JUDGEMENT else body["cards"]
    audit_events = AuditEvent.objects.filter(chain=turn.session_id, kind="stage.fallback")
    assert [json.loads(event.payload)["codes"] for event in audit_events] == [[code]]
    assert verify(turn.session_id).ok
    assert replay(turn).same


def test_where_nothing_can_answer_in_its_place_a_person_does() -> None:
    turn, stage = stopped_twice(BABY, ANSWER, cites_nothing)
    assert (stage.status, turn.state) == ("needs_review", "needs_review")


def test_a_text_that_is_mended_is_a_pass() -> None:
    turn = desk.ask(BABY, {ANSWER: [invents]})
    assert turn.stages.get(contract=ANSWER).status == "passed"
    assert not AuditEvent.objects.filter(chain=turn.session_id, kind="stage.fallback").exists()


def test_the_models_guidance_is_stored_as_it_came() -> None:
    def says_hi(answer: dict[str, Any]) -> None:
        greets(answer)
        answer["assistantReply"] = "Hi."

    turn = desk.ask("hello", {JUDGEMENT: [says_hi]})
    stage = turn.stages.get(contract=JUDGEMENT)
    assert stage.output is not None
    assert (stage.status, stage.output["assistantReply"]) == ("passed", "Hi.")
    assert turn.reply.body["paragraphs"] == [GREETING]


def test_console_rest_export_and_audit_say_so() -> None:
    turn, _ = stopped_twice(f"{BABY} I want to talk to a person", ANSWER, says_nothing)
    item = ReviewItem.objects.get(turn=turn, stage="reply")
    eva = desk.person("eva", *desk.ALL)
    steps = rail(selectors.load(item.pk, eva).stages, "", languages.release_of(turn))
    (step,) = [result for result in steps if result["contract"] == ANSWER]
    assert (step["mark"], step["status"]) == ("stopped", "Failed, answered in prepared words")
    assert "The citizen reads" in [results.heading for results in step["statements"]]
    stages = Reviewer(eva).read(item).json()["stages"]
    assert [stage["status"] for stage in stages if stage["contract"] == ANSWER] == ["fallback"]
    decided = decisions(turn.session_id)[turn.pk]
    assert [result.what for result in decided if result.step == ANSWER] == ["fallback"]
    assert wording.sentence("stage.fallback") != "stage.fallback"
