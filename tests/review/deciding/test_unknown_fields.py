"""An answer whose only fault is a field that its contract does not know can be taken without it."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from conversations.record.replay import replay
from ieim.audit.verify import verify
from review import deciding
from review.deciding import Action, Refused
from review.item import page
from review.item.selectors import load
from review.models import Decision
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import BABY, Says, Scripted, taken_and_decided, the_item
from tests.review.people import browser
from tests.review.reviewing import Reviewer

pytestmark = pytest.mark.usefixtures("published")


def adds(answer: dict[str, Any]) -> None:
    answer["mood"] = {"of": "the citizen"}
    answer["template"]["tone"] = "warm"


def test_it_is_taken_without_them() -> None:
    turn = desk.ask(VISA, {"service_select_v1": [adds, adds]})
    item, eva = the_item(turn), desk.person("eva")
    assert item.reasons == ["schema"]
    desk.take(item, eva)
    choices = page.decision_form(load(item.pk, eva), eva, None).choices
    (choice,) = [result for result in choices if result.action == "approve"]
    assert choice.checked
    html = browser(eva).get(reverse("review:item", args=[item.pk])).content.decode()
    best = html.split('class="best"')[1].split("</div>")[0]
    assert "Extend a tourist visa" in best
    assert "/mood" in choice.hint
    assert "/template/tone" in choice.hint
    taken_and_decided(item, eva, Action.APPROVE)
    turn = desk.run(turn, Scripted())
    stage = turn.stages.get(contract="service_select_v1")
    assert (stage.status, turn.state) == ("approved", "answered")
    assert "mood" not in (stage.output or {})
    patch = Decision.objects.get(item=item).patch
    assert [op["op"] for op in patch or []] == ["remove", "remove"]
    assert replay(turn).same
    assert verify(turn.session_id).ok


def test_no_word_of_the_models_reaches_a_citizen_by_it() -> None:
    def chats(answer: dict[str, Any]) -> None:
        answer["assistantReply"] += " Good luck!"
        answer["mood"] = "warm"

    turn = desk.ask(BABY, {"multi_agency_service_answer_v1": [chats, chats]})
    eva = desk.person("eva", *desk.ALL)
    seen = deciding.preview(item_id=the_item(turn).pk, actor=eva, action=Action.APPROVE, payload={})
    assert seen.reply is not None
    assert seen.reply.cards
    assert "Good luck" not in seen.reply.as_text()
    taken_and_decided(the_item(turn), eva, Action.APPROVE)
    turn = desk.run(turn, Scripted())
    assert "Good luck" not in str(turn.reply.body)
    assert turn.reply.body["cards"]


def breaks(answer: dict[str, Any]) -> None:
    adds(answer)
    del answer["serviceSelection"]["serviceKey"]


def doubts(answer: dict[str, Any]) -> None:
    adds(answer)
    answer["serviceSelection"]["score"] = 0.3


@pytest.mark.parametrize("says", [breaks, doubts])
def test_any_other_fault_is_not_waved_through(says: Says) -> None:
    turn = desk.ask(VISA, {"service_select_v1": [says, says]})
    with pytest.raises(Refused):
        taken_and_decided(the_item(turn), desk.person("eva"), Action.APPROVE)


def test_evidence_of_what_failed_closed_is_stored_and_in_rest() -> None:
    text = "I want to extend my tourist visa before 3 March. I paid MRK 45.00 on 2 May 2026."

    def misquotes(answer: dict[str, Any]) -> None:
        answer["entities"][0]["evidence_snippets"] = ["words of nobody"]

    def mislabels(answer: dict[str, Any]) -> None:
        answer["intents"][0]["label"] = "nothing"

    turn = desk.ask(text, {"extract": [misquotes] * 2, "classify": [mislabels] * 2})
    for contract in ("extract", "classify"):
        stage = turn.stages.get(contract=contract)
        assert stage.status == "needs_review"
        assert stage.spans.exists()
        for span in stage.spans.all():
            assert text[span.start : span.end] == span.quote
    spans = Reviewer(desk.person("eva")).read(the_item(turn, "extract")).json()["spans"]
    assert {"extract", "classify"} <= {span["stage"] for span in spans}
    assert verify(turn.session_id).ok
