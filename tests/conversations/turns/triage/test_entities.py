"""What the message says itself, in a reply whose template names it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conversations.record.replay import replay
from tests.review import desk

pytestmark = pytest.mark.django_db

FOUND = {
    "entity_type": "date",
    "value_redacted": "3 May",
    "confidence": 0.9,
    "evidence_snippets": ["on 3 May"],
}


def naming(answer: dict[str, Any]) -> None:
    answer["template"]["placeholders"]["entity_date"] = "{entity_date}"
    answer["template"]["rules"] = "Open with {entity_date}."


def test_it_is_told_and_a_replay_tells_the_same(published: None) -> None:
    script: dict[str, list[desk.Says]] = {
        "extract": [json.dumps({"entities": [FOUND]})],
        "service_select_v1": [naming],
    }
    turn = desk.ask("My passport was lost on 3 May. How do I replace a lost passport?", script)
    assert turn.state == "answered"
    assert turn.reply.body["sections"][0] == {"field": "entity_date", "items": ["3 May"]}
    again = replay(turn)
    assert again.same, again.changes
