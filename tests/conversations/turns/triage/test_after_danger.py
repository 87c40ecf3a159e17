"""What somebody in danger writes while they wait for a person."""

from __future__ import annotations

from datetime import timedelta

import pytest

from conversations import selectors
from ieim.audit.verify import verify
from review.models import ReviewItem
from tests.fixtures import VISA, Ask

DANGER = "I want to die"


@pytest.mark.parametrize("text", ["ok", "yes", "help", "Thank you", "nobody helps me anyway"])
def test_no_machine_answers_it_and_a_person_does_soon(ask: Ask, text: str) -> None:
    first = ask(DANGER, secret="s")
    assert first.state == "needs_review"
    later = ask(text, secret="s")
    assert later.state == "needs_review"
    assert selectors.turn_view(later.pk).contacts
    item = ReviewItem.objects.filter(turn=later).latest("opened_at")
    assert "policy.risk" in item.reasons
    assert item.due_at - item.opened_at <= timedelta(minutes=30)
    assert verify(later.session_id).ok


def test_a_question_with_an_answer_is_answered(ask: Ask) -> None:
    ask(DANGER, secret="s")
    later = ask(VISA, secret="s")
    assert later.state == "answered"
    assert later.reply.body["title"] == "Extend a tourist visa"


def test_it_leads_no_search(ask: Ask) -> None:
    ask(VISA, secret="s")
    ask(DANGER, secret="s")
    later = ask("And how much does it cost?", secret="s")
    assert DANGER not in {entry["text"] for entry in selectors.history(later)}
    assert [entry["role"] for entry in selectors.history(later)] == ["user", "assistant"]
