"""What a citizen who waits for a person is told about by when."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from conversations import selectors
from conversations.models import Turn
from conversations.ports import Due
from review.models import ReviewItem
from review.queue.selectors import due_of_turns
from review.services import open_item
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model

BAD = ["no json", "no json"]


@pytest.fixture
def held_turn(ask: Ask) -> Turn:
    """A turn that stopped at its second step."""
    with scripted_model({"agency_detect_v1": BAD}) as (model, _):
        return ask(VISA, model=model)


def due(turn: Turn) -> datetime | None:
    return selectors.turn_view(turn.pk).due_at


def test_it_says_by_when_the_queue_wants_it(held_turn: Turn) -> None:
    assert due(held_turn) == ReviewItem.objects.get().due_at


def test_it_promises_no_day_that_is_over(held_turn: Turn) -> None:
    ReviewItem.objects.update(due_at=timezone.now() - timedelta(minutes=1))
    view = selectors.turn_view(held_turn.pk)
    assert view.due_at is None
    assert view.answer_by.startswith("It takes longer than it should.")


def test_it_leaves_out_what_holds_no_answer_back(held_turn: Turn) -> None:
    item = ReviewItem.objects.get()
    triage = open_item(turn_id=held_turn.pk, stage="classify", codes=["schema"])
    ReviewItem.objects.filter(pk=triage.pk).update(due_at=item.due_at + timedelta(days=9))
    assert due_of_turns(turn_ids=[held_turn.pk]) == {
        held_turn.pk: Due(item.due_at, tuple(item.reasons))
    }
    ReviewItem.objects.filter(pk=item.pk).update(state="decided")
    assert due_of_turns(turn_ids=[held_turn.pk]) == {}


def test_it_asks_for_none_where_nobody_waits(ask: Ask) -> None:
    assert due(ask(VISA)) is None
