"""An outage of the model server in the middle of 200 turns: none lost, none doubled, no flood."""

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

TURNS = 200
OUTAGE = range(80, 140)
FLOW = ["judgement_v1", "agency_detect_v1", "category_select_v1", "service_select_v1"]
PER_TURN = [*FLOW, "classify", "extract", "identity_assist"]


@pytest.mark.timeout(900)  # fourteen hundred calls over a socket, on a busy machine
# Committed as in production: in one long transaction PostgreSQL keeps every version of every row.
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("published")
def test_it_loses_and_doubles_no_turn_in_an_outage() -> None:
    with scripted_model({}) as (model, server):
        for number in range(TURNS):
            # It begins in the middle of a turn: what had passed until then is not asked again.
            server.down = number in OUTAGE and (
                number > OUTAGE.start or {"category_select_v1", "service_select_v1"}
            )
            turn = services.receive(session=str(number), text=VISA, enqueue=False)[0]
            running.run_turn(turn_id=turn.pk, model=model)
        states = Counter(Turn.objects.values_list("state", flat=True))
        assert states == {"answered": TURNS - len(OUTAGE), "awaiting_model": len(OUTAGE)}
        assert not ReviewItem.objects.exists()

        server.down = False
        Turn.objects.filter(state="awaiting_model").update(retry_at=timezone.now())
        for turn_id in Turn.objects.filter(state="awaiting_model").values_list("pk", flat=True):
            running.run_turn(turn_id=turn_id, model=model)
            running.run_turn(turn_id=turn_id, model=model)
    assert set(Turn.objects.values_list("state", flat=True)) == {"answered"}
    assert Reply.objects.count() == TURNS
    assert Counter(server.answered) == {(stage, 1): TURNS for stage in PER_TURN}
    assert all(report.ok for report in verify_all())
