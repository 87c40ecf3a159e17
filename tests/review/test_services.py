from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from conversations.models import Turn
from ieim.audit.canonical import vouch
from ieim.audit.models import AuditEvent, AuditHead
from ieim.audit.verify import verify
from review.audited import ITEM
from review.models import Priority, ReviewItem
from review.services import open_item
from review.states import ReviewState
from tests.review.conftest import make_turn

pytestmark = pytest.mark.both_databases


def test_it_opens_an_item_with_its_audit_event(turn: Turn) -> None:
    item = open_item(
        turn_id=turn.pk, stage="agency_detect_v1", codes=["schema", "agency.count", "schema"]
    )

    item.refresh_from_db()
    assert (item.turn_id, item.stage, item.state) == (turn.pk, "agency_detect_v1", "open")
    assert item.reasons == ["schema", "agency.count"]
    event = AuditEvent.objects.get(chain=turn.session_id)
    assert (event.kind, event.actor) == ("review.opened", "system")
    assert json.loads(event.payload) == {
        "item": str(item.pk),
        "turn": str(turn.pk),
        "stage": "agency_detect_v1",
        "codes": ["schema", "agency.count"],
        "priority": 2,
        "rows": [list(vouch(ITEM.row(item), bytes(AuditHead.objects.get().key)))],
    }
    assert verify(turn.session_id).ok


@pytest.mark.parametrize("state", ["open", "claimed", "second_opinion"])
def test_it_adds_to_the_undecided_item(turn: Turn, state: str) -> None:
    first = open_item(turn_id=turn.pk, stage="reply", codes=["policy.language"])
    ReviewItem.objects.filter(pk=first.pk).update(state=state)

    again = open_item(turn_id=turn.pk, stage="reply", codes=["policy.risk"])

    assert again.pk == first.pk
    again.refresh_from_db()
    # What is a risk is said first, however late it is known.
    assert (again.reasons, again.state) == (["policy.risk", "policy.language"], state)
    assert (again.reason, again.priority, again.version) == ("policy.risk", Priority.HIGH, 1)
    assert AuditEvent.objects.filter(kind="review.opened").count() == 1


def test_it_opens_another_once_the_first_is_decided(turn: Turn) -> None:
    first = open_item(turn_id=turn.pk, stage="reply", codes=[])
    ReviewItem.objects.filter(pk=first.pk).update(state=ReviewState.DECIDED.value)

    assert open_item(turn_id=turn.pk, stage="reply", codes=[]).pk != first.pk


def test_the_database_refuses_a_second_undecided_item(turn: Turn) -> None:
    open_item(turn_id=turn.pk, stage="reply", codes=[])
    another = {"turn": turn, "stage": "reply", "due_at": timezone.now()}
    with pytest.raises(IntegrityError, match=r"one_undecided|UNIQUE"), transaction.atomic():
        ReviewItem.objects.create(**another, state=ReviewState.CLAIMED.value)
    ReviewItem.objects.create(**another, state=ReviewState.DECIDED.value)


@pytest.mark.parametrize(
    ("stage", "codes", "priority"),
    [
        ("reply", ["policy.confidence", "policy.risk"], Priority.HIGH),
        ("classify", ["policy.risk"], Priority.HIGH),
        ("reply", ["policy.confidence"], Priority.NORMAL),
        ("judgement_v1", ["schema"], Priority.NORMAL),
        ("multi_agency_service_answer_v1", ["schema"], Priority.NORMAL),
        ("classify", ["schema"], Priority.LOW),
        ("extract", ["schema"], Priority.LOW),
        ("identity_assist", ["schema"], Priority.LOW),
    ],
)
def test_it_sets_the_priority(turn: Turn, stage: str, codes: list[str], priority: Priority) -> None:
    assert open_item(turn_id=turn.pk, stage=stage, codes=codes).priority == priority


@pytest.mark.django_db
def test_it_knows_no_item_without_a_turn() -> None:
    with pytest.raises(Turn.DoesNotExist):
        open_item(turn_id=uuid4(), stage="reply", codes=[])
    assert not ReviewItem.objects.exists()


def test_it_opens_one_item_when_two_ask_at_once(
    in_threads: Callable[[list[Callable[[], Any]]], list[Any]],
) -> None:
    turn = make_turn()

    def ask() -> object:
        return open_item(turn_id=turn.pk, stage="reply", codes=["schema"]).pk

    assert len(set(in_threads([ask] * 6))) == 1
    assert ReviewItem.objects.count() == 1
    assert AuditEvent.objects.filter(kind="review.opened").count() == 1
