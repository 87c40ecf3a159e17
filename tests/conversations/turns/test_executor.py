"""Turns that wait for the model hold no place and no connection."""

from __future__ import annotations

import threading
import time
import uuid
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings

from conversations import selectors
from conversations.models import Turn
from conversations.turns import executor, running, services
from conversations.turns.leases import leases
from ieim.llm.offline import OfflineModel
from tests.fixtures import VISA

pytestmark = pytest.mark.both_databases

TURNS = 9


def in_use() -> int:
    """Count the connections of the pool that somebody has; a thread of an earlier test may."""
    pool = getattr(connection, "pool", None)
    if pool is None:
        return 0
    result = pool.get_stats()
    return int(result["pool_size"] - result["pool_available"])


class Meeting:
    """A model that answers judgements only when all turns wait for theirs."""

    name = "meeting"
    reads = False

    def __init__(self) -> None:
        self.all_here = threading.Barrier(TURNS, action=self.look)
        self.engine = OfflineModel()
        self.before = in_use()
        self.in_use: int | None = None

    def look(self) -> None:
        """Count the connections that are in use once the last turn waits too."""
        deadline = time.monotonic() + 30
        self.in_use = in_use()
        while self.in_use > self.before and time.monotonic() < deadline:
            self.in_use = in_use()

    def complete(self, request: Any, *, deadline: float) -> Any:
        if request.contract == "judgement_v1":
            self.all_here.wait(60)
        return self.engine.complete(request, deadline=deadline)


@pytest.mark.django_db(transaction=True)
def test_more_turns_wait_than_work_and_none_has_a_connection(
    published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "working", threading.Semaphore(2))
    turns = [
        services.receive(session=f"s{entry}", text=VISA, enqueue=False)[0] for entry in range(TURNS)
    ]
    connection.close()
    model = Meeting()

    def run(turn_id: uuid.UUID) -> None:
        try:
            running.run_turn(turn_id=turn_id, model=model)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(turn.pk,)) for turn in turns]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert list(Turn.objects.values_list("state", flat=True)) == ["answered"] * TURNS
    assert model.in_use is not None
    assert model.in_use <= model.before


@pytest.mark.django_db(transaction=True)
def test_a_run_that_lost_its_turn_meanwhile_asks_no_more(published: None) -> None:
    """Another worker has it by then, as after a pause of the whole machine."""
    records = []
    turn = services.receive(session="s", text=VISA, enqueue=False)[0]

    class Late:
        name = "late"
        reads = False

        def complete(self, request: Any, *, deadline: float) -> Any:
            records.append(request.contract)
            Turn.objects.filter(pk=turn.pk).update(lease=uuid.uuid4())
            leases.renew()
            connection.close()
            return OfflineModel().complete(request, deadline=deadline)

    running.run_turn(turn_id=turn.pk, model=Late())
    turn.refresh_from_db()
    assert records == ["judgement_v1"]
    assert turn.state == "running"
    assert not turn.stages.get().attempts.exists()


@pytest.mark.django_db(transaction=True)
def test_the_citizen_is_told_that_it_takes_longer_while_it_does(
    published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "LONGER", 0.0)
    turn = services.receive(session="s", text=VISA, enqueue=False)[0]
    records: list[bool] = []

    class Slow:
        name = "slow"
        reads = False

        def complete(self, request: Any, *, deadline: float) -> Any:
            if not records:
                while not selectors.turn_view(turn.pk).longer:
                    connection.close()
                records.append(True)
                connection.close()
            return OfflineModel().complete(request, deadline=deadline)

    running.run_turn(turn_id=turn.pk, model=Slow())
    assert records == [True]
    view = selectors.turn_view(turn.pk)
    assert (view.state, view.longer) == ("answered", False)


@pytest.mark.django_db(transaction=True)
def test_the_statements_that_django_notes_are_not_kept(settings: Settings) -> None:
    settings.DEBUG = True
    Turn.objects.count()
    assert connection.queries
    executor.release_connection()
    assert not connection.queries
