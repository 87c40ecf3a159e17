"""Help lines at once, by whatever sees the danger: phrases, meaning, or later a model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conversations import selectors
from conversations.models import Reply, Turn
from conversations.record.replay import replay
from conversations.turns import flags, services
from ieim.audit.models import AuditEvent
from review.models import ReviewItem
from tests.conversations.api.integrating import Integrator
from tests.conversations.chat.page.test_views import page, send, visitor
from tests.conversations.turns.triage.test_triage import classified, flag, result_of
from tests.embedders import Feelings
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review import desk

INDIRECT = f"{VISA}. Nobody has to look after me"


def test_it_shows_help_at_once_for_an_indirect_message(feelings: Feelings) -> None:
    client = visitor()
    turn = send(client, INDIRECT)
    assert turn.state == "queued"
    html = page(client.get("/"))
    assert html.index("Please get help now") < html.index("Reading your question")


def test_it_holds_the_reply_for_a_person_and_marks_the_sentence(
    feelings: Feelings, ask: Ask
) -> None:
    turn = ask(INDIRECT)
    start = INDIRECT.index("Nobody")
    assert turn.risks == [
        {"code": "self_harm", "start": start, "end": len(INDIRECT), "source": "meaning"}
    ]
    assert (turn.state, Reply.objects.count()) == ("needs_review", 0)
    assert (ReviewItem.objects.get().reasons, ReviewItem.objects.get().priority) == (
        ["policy.risk"],
        1,
    )


def test_help_lines_stay_while_a_person_is_awaited(feelings: Feelings, ask: Ask) -> None:
    result = ask(INDIRECT, secret="s")
    before = ask("How do I register a birth?", secret="other")
    later = ask("are you there?", secret="s")
    lines = selectors.turn_view(result.pk).contact_texts
    assert lines
    assert selectors.turn_view(later.pk).contact_texts == lines
    assert [turn.contact_texts for turn in selectors.chat_view(secret="s").turns] == [lines] * 2
    assert selectors.turn_view(before.pk).contact_texts == []
    Turn.objects.filter(pk=result.pk).update(state="answered")
    assert selectors.turn_view(later.pk).contact_texts == []


def test_nobody_chooses_from_a_list_while_a_danger_waits(feelings: Feelings, ask: Ask) -> None:
    turn = ask(INDIRECT, secret="s")
    Turn.objects.filter(pk=ask(VISA, secret="other").pk).update(state="needs_review")

    def unsure(secret: str) -> str:
        model = desk.Scripted({"service_select_v1": [desk.unsure]})
        return ask("How do I renew my passport?", secret=secret, model=model).state

    assert unsure("other") == "asking"
    assert unsure("s") == "needs_review"
    Turn.objects.filter(pk=turn.pk).update(state="answered")
    assert unsure("s") == "asking"


def test_no_model_takes_it_away_and_replay_says_the_same(feelings: Feelings, ask: Ask) -> None:
    turn = ask(INDIRECT)
    result = turn.stages.get(contract="classify").result
    assert result is not None
    (results,) = result["risk_flags"]
    assert (results["label"], results["source"], results["confidence"]) == (
        "self_harm",
        "meaning",
        None,
    )
    count = len(feelings.asked)
    assert replay(turn).same
    assert len(feelings.asked) == count


def test_a_model_that_reads_no_danger_lets_the_answer_out_below_the_help_lines(
    feelings: Feelings, ask: Ask
) -> None:
    def answered(text: str, *values: Any) -> Turn:
        answer = classified(text, risk_flags=list(values))
        with scripted_model({"classify": [answer]}) as (model, _):
            return ask(text, model=model)

    turn = answered(INDIRECT)
    assert turn.state == "answered"
    assert {risk["source"] for risk in turn.risks} == {"hint"}
    assert selectors.turn_view(turn.pk).contacts
    assert ReviewItem.objects.get(turn=turn).reasons == ["citizen.danger"]
    assert replay(turn).same
    turn.refresh_from_db()
    flags.add(turn=turn, classified=result_of(turn, "classify"))
    assert {risk["source"] for risk in turn.risks} == {"hint"}  # said twice, it is no weaker
    other = answered(INDIRECT, flag("violence", INDIRECT))
    assert other.state == "needs_review"
    assert "meaning" in {risk["source"] for risk in other.risks}


def test_the_record_says_what_looked(feelings: Feelings) -> None:
    def looked(secret: str) -> str:
        turn = services.receive(session=secret, text=VISA, enqueue=False)[0]
        event = AuditEvent.objects.get(chain=turn.session_id, kind="turn.received")
        return str(json.loads(event.payload)["risks_by"])

    assert looked("a") == feelings.id
    feelings.down = True
    assert looked("b") == "words"


def test_a_message_is_taken_although_the_embedder_raises(feelings: Feelings) -> None:
    feelings.down = True
    turn = services.receive(session="a", text="I want to kill myself", enqueue=False)[0]
    assert [risk["source"] for risk in turn.risks] == ["rule"]
    assert selectors.turn_view(turn.pk).contacts


@pytest.mark.usefixtures("published")
def test_what_a_model_flags_later_shows_its_help_at_that_moment() -> None:
    client = Integrator()
    data = client.ask(VISA).json()
    turn = Turn.objects.get()
    assert data["contacts"] == []
    flag = {"label": "violence", "confidence": 0.9, "source": "model"}
    flag["spans"] = [{"start": 0, "end": 6}]
    flags.add(turn=turn, classified={"risk_flags": [flag], "disagreements": []})
    assert Turn.objects.get().state == "queued"  # nothing else has happened
    assert "112" in client.get(f"/api/v1/turns/{turn.pk}/").json()["contacts"][0]
