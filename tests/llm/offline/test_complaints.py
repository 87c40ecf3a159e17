"""A complaint about an answer: a person looks, and nobody gets the same answer again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.llm.engine.question import only_complains
from ieim.pipeline.work import Abstained, Answered, NeedsReview
from tests.llm.offline.turns import ask

ASKED = "I want to extend my tourist visa"
TALK = (
    {"role": "user", "text": ASKED},
    {
        "role": "assistant",
        "text": "Extend a tourist visa. Fill in the form and send it with your passport.",
        "agency": "immigration",
        "service": "immigration.extend-tourist-visa",
    },
)
COMPLAINTS = [
    "this does not help me",
    "that is wrong",
    "You are wrong, it costs 60",
    "You’re wrong, it costs 60 euros.",
    "The fee you gave me is wrong, it is 60",
    "No, that's not what I asked for!",
    "Wrong.",
    "You gave me the same answer again",
    "Are you sure? That is not correct.",
]


@pytest.mark.parametrize("text", COMPLAINTS)
def test_a_complaint_does_not_get_the_same_answer_again(text: str) -> None:
    told = ask(text, TALK)
    assert told.answers["judgement_v1"]["judgements"] == {"inquiry": True}
    assert isinstance(told.outcome, Abstained | NeedsReview)
    assert told.answers["service_select_v1"]["serviceSelection"]["score"] < 0.5


@pytest.mark.parametrize(
    "text",
    [
        "and how much does it cost?",
        "That is wrong. How much does it cost?",
        "what if the date on my tourist visa is wrong?",
        "How long does it take to extend my tourist visa? The other page did not help me.",
    ],
)
def test_a_question_beside_a_complaint_is_answered(text: str) -> None:
    assert not only_complains(text)
    assert isinstance(ask(text, TALK).outcome, Answered)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It is wrong that my landlord evicted me",
        "that is wrong, I need a refund of my tax",
        "The date on my passport is wrong",
        "What is wrong with my application?",
        "thank you, goodbye",
    ],
)
def test_a_matter_of_one_s_own_is_no_complaint(text: str) -> None:
    assert not only_complains(text)


@given(st.text())
def test_it_reads_whatever_is_written(text: str) -> None:
    assert only_complains(f"{text}\n\nhow do I get a passport?") is False
