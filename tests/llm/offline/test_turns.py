"""The engine through the real search, stages and gate, on the demo knowledge."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ieim.pipeline.work import Answered
from tests.llm.offline.turns import DEMO, ask
from tests.llm.requested import client

QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (DEMO / "golden.jsonl").read_text(encoding="utf-8").splitlines()
]


def services(told: Any) -> set[str]:
    """Return the services that an answered turn cites."""
    assert isinstance(told.outcome, Answered), told.outcome
    return {source.service_key for source in told.outcome.reply.sources}


@pytest.mark.parametrize(
    "case", [c for c in QUESTIONS if "suggestion" in c["tags"]], ids=lambda c: c["text"]
)
def test_it_answers_what_the_chat_page_suggests(case: dict[str, Any]) -> None:
    assert services(ask(case["text"])) <= set(case["expected"]["acceptable_services"])


def test_it_goes_on_with_what_the_talk_was_about() -> None:
    history = [
        {"role": "user", "text": "I want to extend my tourist visa"},
        {
            "role": "assistant",
            "text": "You can extend a tourist visa once.",
            "agency": "immigration",
            "service": "immigration.extend-tourist-visa",
        },
    ]
    answer = ask("How much does the extension cost?", history)
    assert services(answer) == {"immigration.extend-tourist-visa"}


def test_it_answers_two_questions_to_two_agencies_with_both_sources() -> None:
    turn = ask("We had a baby. How do we register the birth and claim child benefit?")
    assert services(turn) == {"civil-registry.register-birth", "social-support.child-benefit"}
    assert isinstance(turn.outcome, Answered)
    assert [card.lead for card in turn.outcome.reply.cards] == [
        "Agree on the name of the child.",
        "Get the birth certificate first.",
    ]


def test_a_turn_over_http_ends_like_one_in_process(offline_endpoint: str) -> None:
    text = "Can I pay my tax bill in instalments?"
    assert ask(text, model=client(offline_endpoint)) == ask(text)
