"""A message that is no question, from the model's words to what the citizen reads."""

from __future__ import annotations

from typing import Any

import pytest

from conversations import selectors
from conversations.api.serializers import TurnSerializer
from conversations.chat.wording import ORIGINS
from conversations.models import Stage, Turn
from conversations.record.replay import replay
from ieim.audit.verify import verify
from ieim.pipeline.reply import guidance
from review.models import ReviewItem
from tests.administration.setting import put
from tests.fixtures import Ask
from tests.review import desk

SHIPPED = {(prepared.case, prepared.language): prepared.text for prepared in guidance.shipped()}
CLOSED = "The office is closed for good. Send us your PIN."


def turn_with_reply(text: str, reply: str) -> Turn:
    """The turn of a message to which a model says ``reply``."""

    def says(answer: dict[str, Any]) -> None:
        answer.update(judgements={"inquiry": False}, assistantReply=reply, nextStep="session_end")

    return desk.ask(text, {"judgement_v1": [says]})


def test_the_models_words_are_replaced_and_need_no_person(published: None) -> None:
    turn = turn_with_reply("thank you", CLOSED)
    assert (turn.state, turn.reply.body["paragraphs"]) == ("answered", [SHIPPED["thanks", "en"]])
    stage = turn.stages.get(contract="judgement_v1")
    (attempt,) = stage.attempts.all()
    assert stage.status == "passed"
    assert attempt.findings == []
    assert CLOSED in bytes(attempt.raw).decode()
    assert (stage.output or {})["assistantReply"] == CLOSED
    assert not ReviewItem.objects.filter(turn=turn, stage="judgement_v1").exists()


def test_a_replay_decides_the_same_and_the_record_holds(published: None) -> None:
    turn = turn_with_reply("thank you", CLOSED)
    again = replay(turn)
    assert again.same, again.changes
    assert verify(turn.session_id).ok


def test_a_replay_reads_what_an_earlier_version_stored(published: None) -> None:
    turn = turn_with_reply("thank you", CLOSED)
    stage = turn.stages.get(contract="judgement_v1")
    output = {**(stage.output or {}), "assistantReply": SHIPPED["thanks", "en"]}
    Stage.objects.filter(pk=stage.pk).update(output=output, result=None)
    assert replay(Turn.objects.get(pk=turn.pk)).same


@pytest.mark.parametrize(
    ("text", "language", "case"),
    [("gracias", "es", "thanks"), ("谢谢", "zh", "thanks"), ("شكرا", "ar", "thanks")],
)
def test_a_word_is_answered_in_its_language(
    published: None, text: str, language: str, case: str
) -> None:
    turn = turn_with_reply(text, CLOSED)
    assert turn.language == language
    assert turn.reply.body["language"] == language
    assert turn.reply.body["paragraphs"] == [SHIPPED[case, language]]


def test_it_says_whose_words_these_are(published: None) -> None:
    for reply in (CLOSED, "You are welcome. If you have another question, ask it."):
        result = selectors.turn_view(turn_with_reply("thank you", reply).pk).reply
        assert result is not None
        assert result.origin_sentence == str(ORIGINS["prepared"])
        assert result.prepared


def test_under_guidance_nothing_is_put_together_from_a_list(ask: Ask) -> None:
    turn = ask("hello")
    reply = selectors.turn_view(turn.pk).reply
    assert reply is not None
    assert (reply.kind, reply.offline) == ("guidance", True)
    assert reply.origin_sentence == "This is a prepared text."
    answered = selectors.turn_view(ask("How do I extend my tourist visa?").pk).reply
    assert answered is not None
    assert answered.origin_sentence == str(ORIGINS["offline"])


def test_the_api_says_the_same(published: None) -> None:
    turn = turn_with_reply("thank you", CLOSED)
    view = TurnSerializer(selectors.turn_view(turn.pk)).data
    assert view["reply"]["paragraphs"] == [SHIPPED["thanks", "en"]]
    assert (view["reply"]["kind"], view["reply"]["prepared"]) == ("guidance", True)


def test_the_administration_may_show_a_models_own_words(published: None) -> None:
    put("answers", own_words="on")
    text = "You are very welcome, and good luck!"
    turn = turn_with_reply("thank you", text)
    assert (turn.reply.body["paragraphs"], turn.reply.origin) == ([text], "model")
    reply = selectors.turn_view(turn.pk).reply
    assert reply is not None
    assert reply.origin_sentence == str(ORIGINS["guidance"])
    assert replay(turn).same
    # What no text of the administration's gives is not shown.
    turn = turn_with_reply("thank you", "Call +999 20 555 0999, it costs MRK 5.00.")
    assert turn.reply.body["paragraphs"] == [SHIPPED["thanks", "en"]]
