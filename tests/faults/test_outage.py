"""An outage of the model server in the middle of many turns: none lost, none doubled, no flood."""

from __future__ import annotations

from collections import Counter

import pytest
from django.utils import timezone

from conversations.models import Reply, Turn
from conversations.turns import running, services
from ieim.audit.verify import verify_all
from review.models import ReviewItem
from tests.fixtures import VISA
from tests.model_server import scripted_model
from tests.selection import sample

FLOW = ["judgement_v1", "agency_detect_v1", "category_select_v1", "service_select_v1"]
PER_TURN = [*FLOW, "classify"]


@pytest.mark.timeout(900)  # fourteen hundred calls over a socket, on a busy machine
# Committed as in production: in one long transaction PostgreSQL keeps every version of every row.
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("turns", sample([20, 200]))
def test_it_loses_and_doubles_no_turn_in_an_outage(turns: int) -> None:
    outage = range(turns * 4 // 10, turns * 7 // 10)
    with scripted_model({}) as (model, server):
        for number in range(turns):
            # It begins in the middle of a turn: what had passed until then is not asked again.
            server.down = number in outage and (
                number > outage.start or {"category_select_v1", "service_select_v1"}
            )
            turn = services.receive(session=str(number), text=VISA, enqueue=False)[0]
            running.run_turn(turn_id=turn.pk, model=model)
        states = Counter(Turn.objects.values_list("state", flat=True))
        assert states == {"answered": turns - len(outage), "awaiting_model": len(outage)}
        assert not ReviewItem.objects.exists()

        server.down = False
        Turn.objects.filter(state="awaiting_model").update(retry_at=timezone.now())
        for turn_id in Turn.objects.filter(state="awaiting_model").values_list("pk", flat=True):
            running.run_turn(turn_id=turn_id, model=model)
            running.run_turn(turn_id=turn_id, model=model)
    assert set(Turn.objects.values_list("state", flat=True)) == {"answered"}
    assert Reply.objects.count() == turns
    assert Counter(server.answered) == {(stage, 1): turns for stage in PER_TURN}
    assert all(report.ok for report in verify_all())
