"""The leases of a process: renewed together, and lost one by one."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest
from django.utils import timezone

from conversations.models import Attempt, Turn
from conversations.turns import running, services
from conversations.turns.leases import LeaseLost, Leases, take_lease
from ieim.audit.verify import verify
from ieim.knowledge.heartbeat import Heartbeat
from ieim.llm.offline import OfflineModel
from ieim.pipeline.ports import ModelAnswer, ModelRequest
from tests.fixtures import VISA

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]


def claimed(number: int) -> list[Turn]:
    turns = []
    for entry in range(number):
        turn = services.receive(session=f"s{entry}", text=VISA, enqueue=False)[0]
        taken = take_lease(turn_id=turn.pk)
        assert taken is not None
        turns.append(taken)
    Turn.objects.update(leased_until=timezone.now())
    return turns


@pytest.mark.parametrize("number", [1, 7])
def test_it_renews_all_of_them_with_as_many_queries_as_one(
    published: None,
    number: int,
    django_assert_max_num_queries: Callable[[int], AbstractContextManager[Any]],
) -> None:
    leases = Leases(Heartbeat(every=60))
    with ExitStack() as context:
        for turn in claimed(number):
            context.enter_context(leases.holding(turn))
        now = timezone.now()
        with django_assert_max_num_queries(5):  # two of them begin and commit
            leases.renew()
        assert Turn.objects.filter(leased_until__gt=now).count() == number


def test_it_notes_which_lease_is_lost_and_only_that(published: None) -> None:
    leases = Leases(Heartbeat(every=60))
    mine, other = claimed(2)
    with leases.holding(mine) as context, leases.holding(other) as lost:
        Turn.objects.filter(pk=other.pk).update(lease=uuid.uuid4())
        leases.renew()
        context.check()
        with pytest.raises(LeaseLost):
            lost.check()
    until = Turn.objects.get(pk=other.pk).leased_until
    assert until is not None
    assert until < timezone.now()


def test_it_renews_nothing_after_the_run(published: None) -> None:
    heartbeat = Heartbeat(every=60)
    leases = Leases(heartbeat)
    (turn,) = claimed(1)
    with leases.holding(turn):
        pass
    heartbeat.beat()
    until = Turn.objects.get(pk=turn.pk).leased_until
    assert until is not None
    assert until < timezone.now()


class Overtaken(OfflineModel):
    """A model so slow that another worker has the turn when it answers."""

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        answer = super().complete(request, deadline=deadline)
        Turn.objects.update(lease=uuid.uuid4())
        return answer


def test_an_answer_that_came_after_the_lease_was_lost_is_not_stored(published: None) -> None:
    turn = services.receive(session="s", text=VISA, enqueue=False)[0]
    running.run_turn(turn_id=turn.pk, model=Overtaken())
    assert {stage.status for stage in turn.stages.all()} == {"running"}
    assert not Attempt.objects.exists()
    turn.refresh_from_db()
    assert turn.state == "running"
    assert verify(turn.session_id).ok
