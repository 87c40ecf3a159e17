"""Items that no answer waits for: what may be decided there, and that nothing else moves."""

from __future__ import annotations

import pytest

from conversations.models import Reply, Turn
from conversations.turns import moves
from ieim.pipeline.findings import Code
from review import deciding
from review.deciding import Action, Refused
from review.models import ReviewItem
from tests.audit.owner import triggers_lifted
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import BAD, REASON, Scripted, taken_and_decided, the_item

pytestmark = pytest.mark.usefixtures("published")


def test_it_leaves_the_answered_turn_alone() -> None:
    turn = desk.ask(VISA, {"extract": BAD})
    body = Reply.objects.get(turn=turn).body
    taken_and_decided(the_item(turn), desk.person("eva"), Action.OVERRIDE, output={"entities": []})
    turn.refresh_from_db()
    assert (turn.state, turn.resumed) == ("answered", False)
    stage = turn.stages.get(contract="extract")
    assert (stage.status, stage.result) == ("overridden", {"entities": []})
    assert Reply.objects.get(turn=turn).body == body


def test_it_says_what_cannot_be_done_there() -> None:
    turn = desk.ask(VISA, {"extract": BAD})
    eva = desk.person("eva")
    item = desk.take(the_item(turn), eva)
    may = deciding.may(item, eva)
    allowed = {action for action, why in may.items() if not why}
    assert allowed == {Action.OVERRIDE, Action.HAND_OVER, Action.DISMISS}
    assert "no answer waits" in may[Action.RETRY]
    assert may[Action.APPROVE].endswith("Correct it.")
    assert set(may) == set(Action)
    with pytest.raises(Refused, match="Leave the text out"):
        desk.decide(item, eva, Action.DISMISS, text="Bye now.")
    desk.decide(item, eva, Action.DISMISS)
    assert Turn.objects.get(pk=turn.pk).state == "answered"


def test_it_opens_a_dismissed_one_again() -> None:
    turn = desk.ask(VISA, {"extract": BAD})
    eva = desk.person("eva")
    decision = taken_and_decided(the_item(turn), eva, Action.DISMISS)
    deciding.undo(decision_id=decision.pk, actor=eva, reason=REASON)
    assert (the_item(turn).stage, Turn.objects.get(pk=turn.pk).state) == ("extract", "answered")


def test_it_offers_nothing_while_the_turn_runs() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD, "extract": BAD})
    eva = desk.person("eva")
    taken_and_decided(the_item(turn, "category_select_v1"), eva, Action.RETRY)
    item = desk.take(the_item(turn, "extract"), eva)
    assert "being worked on" in deciding.may(item, eva)[Action.OVERRIDE]
    with pytest.raises(Refused, match="being worked on"):
        desk.decide(item, eva, Action.DISMISS)
    assert desk.run(turn, Scripted()).state == "answered"
    desk.decide(item, eva, Action.DISMISS)


def test_it_only_dismisses_what_nothing_waits_for_any_more() -> None:
    """A turn can have an item for its stage and one for an outage; one decision ends both."""
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    moves.open_review(turn=turn, stage="reply", codes=[Code.MODEL_UNAVAILABLE.value])
    eva = desk.person("eva")
    text = "Please write to us."
    taken_and_decided(
        the_item(turn, "category_select_v1"), eva, Action.WRITE, text=text, sources=[]
    )
    item = desk.take(the_item(turn, "reply"), eva)
    allowed = {action for action, why in deciding.may(item, eva).items() if not why}
    assert allowed == {Action.HAND_OVER, Action.DISMISS}
    desk.decide(item, eva, Action.DISMISS)
    assert Turn.objects.get(pk=turn.pk).state == "answered"


def test_it_asks_again_after_an_outage() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    item = the_item(turn)
    ReviewItem.objects.filter(pk=item.pk).update(stage="reply", reasons=["model.unavailable"])
    with triggers_lifted():
        turn.stages.filter(contract="category_select_v1").delete()
    eva = desk.person("eva")
    item = desk.take(item, eva)
    assert "no reply yet" in deciding.may(item, eva)[Action.APPROVE]
    desk.decide(item, eva, Action.RETRY)
    assert desk.run(turn, Scripted()).state == "answered"
