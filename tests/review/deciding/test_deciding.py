"""What each decision does: to the stage, to the turn, and to what the citizen reads."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations import selectors
from conversations.models import Reply, Turn
from conversations.record.replay import replay
from ieim.knowledge import selectors as knowledge
from review import deciding
from review.deciding import Action, Refused
from review.models import ReviewItem
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import BAD, REASON, Scripted, taken_and_decided, the_item

pytestmark = pytest.mark.usefixtures("published")
AGENCY = "immigration"
SERVICE = "immigration.extend-tourist-visa"
RISKY = "I want to extend my tourist visa, my lawyer will sue you"


def selection(service: str = SERVICE, score: float = 0.9) -> dict[str, Any]:
    """Return the human part of a service selection."""
    services = knowledge.release(1).services[(AGENCY, service)]
    return {
        "serviceSelection": {
            "serviceKey": services.key,
            "name": services.name,
            "path": services.path,
            "matchedField": "name",
            "score": score,
        },
        "template": {"placeholders": {"service_fees": "{service_fees}"}, "rules": ""},
    }


def reply_of(turn: Turn) -> Reply:
    return Reply.objects.get(turn=turn)


def test_it_approves_an_answer_that_only_lacked_certainty() -> None:
    turn = desk.ask(VISA, {"service_select_v1": [desk.unsure, desk.unsure]})
    item = the_item(turn)
    assert item.reasons == ["score.minimum"]
    taken_and_decided(item, desk.person("eva"), Action.APPROVE)
    model = Scripted()
    turn = desk.run(turn, model)
    assert model.requested == []
    assert (turn.state, turn.resumed, reply_of(turn).origin) == ("answered", True, "model_approved")
    stage = turn.stages.get(contract="service_select_v1")
    assert (stage.status, stage.findings) == ("approved", [])
    assert stage.output is not None
    assert str(stage.output["serviceSelection"]["score"]) == "0.41"


def test_it_lets_nobody_wave_through_what_stands_behind_a_waivable_finding() -> None:
    def worse(answer: dict[str, Any]) -> None:
        desk.unsure(answer)
        answer["template"]["placeholders"]["service_bribe"] = "{service_bribe}"

    turn = desk.ask(VISA, {"service_select_v1": [worse, worse]})
    item, eva = the_item(turn), desk.person("eva")
    assert item.reasons == ["score.minimum"]
    item = desk.take(item, eva)
    assert "other faults" in deciding.may(item, eva)[Action.APPROVE]
    with pytest.raises(Refused, match="other faults"):
        desk.decide(item, eva, Action.APPROVE)


def test_it_lets_a_held_reply_go_out() -> None:
    turn = desk.ask(RISKY, {})
    assert (the_item(turn).stage, turn.state) == ("reply", "needs_review")
    eva = desk.person("eva")
    seen = deciding.preview(item_id=the_item(turn).pk, actor=eva, action=Action.APPROVE, payload={})
    taken_and_decided(the_item(turn), eva, Action.APPROVE)
    turn = desk.run(turn)
    assert (turn.state, reply_of(turn).origin) == ("answered", "model_approved")
    assert seen.reply is not None
    assert reply_of(turn).body == seen.reply.as_dict()


def test_it_goes_on_after_an_override_with_just_what_the_preview_showed() -> None:
    turn = desk.ask(VISA, {"service_select_v1": BAD})
    eva, item = desk.person("eva"), the_item(turn)
    payload = {"output": selection()}
    seen = deciding.preview(item_id=item.pk, actor=eva, action=Action.OVERRIDE, payload=payload)
    assert seen.reply is not None
    taken_and_decided(item, eva, Action.OVERRIDE, **payload)
    turn = desk.run(turn)
    assert (turn.state, reply_of(turn).origin) == ("answered", "staff_override")
    assert reply_of(turn).body == seen.reply.as_dict()
    assert selectors.turn_view(turn.pk).reply is not None


def test_it_takes_no_override_that_does_not_pass_the_gate() -> None:
    turn = desk.ask(VISA, {"service_select_v1": BAD})
    eva = desk.person("eva")
    item = desk.take(the_item(turn), eva)
    wrong = selection(score=0.333)
    with pytest.raises(Refused) as refused:
        desk.decide(item, eva, Action.OVERRIDE, output=wrong)
    assert [finding.code.value for finding in refused.value.findings] == [
        "score.precision",
        "score.minimum",
    ]
    with pytest.raises(Refused) as seen:
        deciding.preview(
            item_id=item.pk, actor=eva, action=Action.OVERRIDE, payload={"output": wrong}
        )
    assert seen.value.findings == refused.value.findings
    unchanged = ReviewItem.objects.get(pk=item.pk)
    assert (unchanged.version, unchanged.decisions.count()) == (item.version, 0)
    assert Turn.objects.get(pk=turn.pk).state == "needs_review"


def test_it_asks_later_stages_again_when_an_earlier_one_is_corrected() -> None:
    turn = desk.ask(VISA, {"service_select_v1": BAD})
    eva = desk.person("eva")
    detected = turn.stages.get(contract="agency_detect_v1").output
    assert detected is not None
    taken_and_decided(
        the_item(turn),
        eva,
        Action.OVERRIDE,
        stage="agency_detect_v1",
        output={"judgements": detected["judgements"]},
    )
    later = turn.stages.get(contract="category_select_v1")
    assert (later.status, later.round, later.output) == ("pending", 2, None)
    assert later.attempts.count() == 1
    model = Scripted()
    turn = desk.run(turn, model)
    assert model.requested == ["category_select_v1", "service_select_v1"]
    assert (turn.state, reply_of(turn).origin) == ("answered", "staff_override")
    assert replay(turn).same


def test_it_takes_another_way_when_the_agency_was_wrong() -> None:
    """The model finds one agency, fails there, and a person knows that there are two."""
    turn = desk.ask(VISA, {"service_select_v1": BAD})
    output = desk.agency_output(AGENCY, "revenue")
    eva = desk.person("eva")
    taken_and_decided(the_item(turn), eva, Action.OVERRIDE, stage="agency_detect_v1", output=output)
    model = Scripted()
    turn = desk.run(turn, model)
    assert model.requested[0] == "semantic_analysis_v1"
    assert turn.stages.get(contract="category_select_v1").status == "pending"
    assert replay(turn).same


def test_it_asks_the_model_again_in_a_new_round() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    taken_and_decided(the_item(turn), desk.person("eva"), Action.RETRY)
    turn = desk.run(turn)
    assert (turn.state, reply_of(turn).origin) == ("answered", "index")
    rounds = turn.stages.get(contract="category_select_v1").attempts.values_list("round", "number")
    assert list(rounds) == [(1, 1), (1, 2), (2, 1)]


def test_it_links_the_item_of_a_turn_that_stops_again() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    first, eva = the_item(turn), desk.person("eva")
    taken_and_decided(first, eva, Action.RETRY)
    turn = desk.run(turn, Scripted({"category_select_v1": BAD}))
    assert turn.state == "needs_review"
    again = the_item(turn)
    assert (again.pk != first.pk, again.parent_id) == (True, first.pk)


def test_it_asks_the_citizen_and_takes_the_answer_as_a_new_turn() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD}, secret="s")
    taken_and_decided(
        the_item(turn), desk.person("eva"), Action.ASK, text="Which visa do you have?"
    )
    assert reply_of(turn).body["kind"] == "question"
    following = desk.ask("A tourist visa that I want to extend", {}, secret="s")
    assert following.state == "answered"
    assert [entry["role"] for entry in selectors.history(following)] == ["user", "assistant"]


def test_it_hands_an_item_to_another_agency() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    eva = desk.person("eva", agencies=[AGENCY])
    item = the_item(turn)
    for agency, result in ((item.agency, "already"), ("nowhere", "no such"), ([], "no such")):
        with pytest.raises(Refused, match=result):
            taken_and_decided(item, eva, Action.HAND_OVER, agency=agency)
    taken_and_decided(item, eva, Action.HAND_OVER, agency="revenue")
    item.refresh_from_db()
    assert (item.agency, item.state, item.claimed_by_id) == ("revenue", "open", None)
    with pytest.raises(ReviewItem.DoesNotExist):
        deciding.preview(item_id=item.pk, actor=eva, action=Action.RETRY, payload={})


@pytest.mark.parametrize("text", ["", "This is not for us."])
def test_it_closes_a_dismissed_question(text: str) -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    taken_and_decided(the_item(turn), desk.person("eva"), Action.DISMISS, text=text)
    assert Turn.objects.get(pk=turn.pk).state == "closed"
    assert [reply.origin for reply in Reply.objects.filter(turn=turn)] == ["staff"] * bool(text)
    assert desk.run(turn).state == "closed"


def test_it_wants_a_reason_in_words() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    eva = desk.person("eva")
    item = desk.take(the_item(turn), eva)
    reasons: list[Any] = ["", "  ", "ok", "123 !!", "x" * 2001, "why \0 not", None]
    for reason in reasons:
        with pytest.raises(Refused, match="reason"):
            desk.decide(item, eva, Action.RETRY, reason)


def test_it_wants_the_claim_to_hold() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    eva, item = desk.person("eva"), the_item(turn)
    with pytest.raises(Refused, match="Take it first"):
        desk.decide(item, eva, Action.RETRY)
    item = desk.take(item, eva)
    ReviewItem.objects.filter(pk=item.pk).update(claimed_until=timezone.now())
    with pytest.raises(Refused, match="Take it first"):
        desk.decide(item, eva, Action.RETRY)


def test_it_wants_the_right_to_decide() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    ann = desk.person("ann", "view")
    item = desk.take(the_item(turn), ann)
    assert set(deciding.may(item, ann).values()) - {""} != set()
    with pytest.raises(Refused, match="right"):
        desk.decide(item, ann, Action.WRITE, REASON, text="Hello there.", sources=[])


def test_it_asks_once_what_many_actions_depend_on() -> None:
    eva = desk.person("eva")
    item = desk.take(the_item(desk.ask(VISA, {"category_select_v1": BAD})), eva)
    with CaptureQueriesContext(connection) as made:
        deciding.may(item, eva)
    # Two conditions look for the decision that waits for a second person.
    assert max(Counter(query["sql"] for query in made).values()) == 2
