"""extract and identity_assist: asked only where a person will look, and then soon."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from conversations import selectors, sweeper
from conversations.models import MissingTriage, Stage, Turn
from conversations.person import services as person_services
from conversations.turns import erasing, running, services, triage
from conversations.turns.choosing import choose
from conversations.turns.leases import LeaseLost
from ieim.audit.verify import verify
from ieim.pipeline.ports import ModelAnswer, ModelRequest
from review.models import CRISIS, ReviewItem
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review import desk

ALL = {"classify", "extract", "identity_assist"}
SICK = f"{VISA}, I was born on 1 May 1980"


class Refusing(desk.Scripted):
    """Will not classify."""

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        if request.contract == "classify":
            return ModelAnswer("", refusal="I cannot help with that.")
        return super().complete(request, deadline=deadline)


def triaged(turn: Turn) -> set[str]:
    return set(
        turn.stages.filter(contract__in=ALL, status="passed").values_list("contract", flat=True)
    )


def asks_for_a_person() -> Turn:
    details = person_services.RequestDetails(way="page", text=SICK)
    return person_services.ask(digest=services.secret_digest("s"), details=details).turn


def run(turn: Turn, script: dict[str, list[Any]] | None = None) -> list[tuple[str, int]]:
    """Run the task; returns what the model was asked."""
    with scripted_model(script or {}) as (model, server):
        running.run_triage(turn_id=turn.pk, model=model)
    result: list[tuple[str, int]] = server.asked
    return result


def test_a_usual_turn_is_five_calls(ask: Ask) -> None:
    with scripted_model({}) as (model, server):
        assert ask(VISA, model=model).state == "answered"
    assert len(server.asked) == 5
    assert {"extract", "identity_assist"}.isdisjoint(contract for contract, _ in server.asked)
    assert not MissingTriage.objects.exists()


def test_what_stops_has_its_facts_when_the_run_ends(ask: Ask) -> None:
    with scripted_model({"service_select_v1": ["no json"] * 2}) as (model, _):
        turn = ask(VISA, model=model)
    assert (turn.state, triaged(turn)) == ("needs_review", ALL)
    assert not MissingTriage.objects.exists()


@pytest.mark.usefixtures("published")
def test_who_asks_for_a_person_is_triaged_by_a_task_of_its_own() -> None:
    turn = asks_for_a_person()
    item = ReviewItem.objects.get(turn=turn)
    assert {contract for contract, _ in run(turn)} == triaged(turn) == ALL
    updated = ReviewItem.objects.get()
    assert (updated.version, bool(updated.urgency)) == (item.version, True)
    assert run(turn) == []
    assert verify(turn.session_id).ok


@pytest.mark.usefixtures("published")
def test_danger_that_only_it_finds_is_on_the_item() -> None:
    turn = asks_for_a_person()
    flag = {"label": "violence", "confidence": 0.9, "evidence_snippets": ["tourist visa"]}

    def sees_it(answer: dict[str, Any]) -> None:
        answer["risk_flags"] = [flag]

    running.run_triage(turn_id=turn.pk, model=desk.Scripted({"classify": [sees_it]}))
    item = ReviewItem.objects.get()
    assert (item.rank, item.reasons) == (CRISIS, ["policy.risk", "policy.person"])


def test_none_of_these_has_its_facts(ask: Ask) -> None:
    turn = ask(VISA, model=desk.Scripted({"service_select_v1": [desk.unsure]}))
    assert (turn.state, triaged(turn)) == ("asking", {"classify"})
    choose(session_id=turn.session_id, turn_id=turn.pk, numbers=[])
    assert {contract for contract, _ in run(turn)} == {"extract", "identity_assist"}


@pytest.mark.usefixtures("published")
def test_an_outage_leaves_the_item_alone_and_is_tried_again() -> None:
    turn = asks_for_a_person()
    run(turn, {"extract": [503] * 3})
    assert ReviewItem.objects.get().stage == "person"
    missing_triage = MissingTriage.objects.get()
    assert missing_triage.lease is None
    assert missing_triage.due_at > timezone.now()
    assert run(turn) == [("extract", 1)]
    assert triaged(turn) == ALL


@pytest.mark.usefixtures("published")
def test_of_two_workers_one_does_it() -> None:
    turn = asks_for_a_person()
    first = triage.claim(turn_id=turn.pk)
    assert first is not None
    assert run(turn) == []
    MissingTriage.objects.update(due_at=timezone.now())  # the first one was killed, it seems
    assert len(run(turn)) == 3
    with pytest.raises(LeaseLost):
        first.begin("extract")


def test_it_writes_nothing_while_a_run_has_the_turn(ask: Ask) -> None:
    turn = ask(VISA, model=desk.Scripted({"service_select_v1": [desk.unsure]}))
    choose(session_id=turn.session_id, turn_id=turn.pk, numbers=[])
    store = triage.claim(turn_id=turn.pk)
    assert store is not None
    Turn.objects.update(state="running")
    with pytest.raises(LeaseLost):
        store.begin("extract")
    MissingTriage.objects.update(lease=None)
    assert run(turn) == []
    assert MissingTriage.objects.exists()


@pytest.mark.usefixtures("published")
def test_the_sweeper_queues_what_a_broker_forgot(monkeypatch: pytest.MonkeyPatch) -> None:
    queued: list[Any] = []
    monkeypatch.setattr("conversations.turns.triage._queue", queued.append)
    turn = asks_for_a_person()
    assert queued == [turn.pk]
    sweeper.sweep()
    assert queued == [turn.pk]
    sweeper.sweep(now=timezone.now() + triage.SOON)
    assert queued == [turn.pk] * 2


@pytest.mark.usefixtures("published")
def test_what_is_erased_is_not_triaged() -> None:
    turn = asks_for_a_person()
    erasing.erase_session(session_id=turn.session_id)
    assert run(turn) == []
    assert not Stage.objects.exists()


def test_a_refusal_to_classify_is_a_weak_sign_at_that_message_alone(ask: Ask) -> None:
    turn = ask(VISA, model=Refusing(), secret="s")
    assert turn.state == "answered"
    assert {risk["source"] for risk in turn.risks} == {"refusal"}
    assert selectors.turn_view(turn.pk).contacts
    item = ReviewItem.objects.get()
    assert (item.stage, item.reasons) == ("classify", ["model.refusal"])
    later = ask("How do I renew my passport?", secret="s")
    assert (later.state, selectors.turn_view(later.pk).contacts) == ("answered", ())
