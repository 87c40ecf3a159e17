from __future__ import annotations

from datetime import timedelta

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations.models import Turn
from review import presenters, selectors
from review.models import ReviewItem
from review.services import open_item
from review.states import ReviewState
from tests.review.conftest import make_turn


def test_the_queue_has_what_comes_first_first(turn: Turn) -> None:
    low = open_item(turn_id=turn.pk, stage="classify", codes=["schema"])
    newer = open_item(turn_id=turn.pk, stage="judgement_v1", codes=["schema"])
    older = open_item(turn_id=make_turn().pk, stage="judgement_v1", codes=["schema"])
    high = open_item(turn_id=make_turn().pk, stage="reply", codes=["policy.risk"])
    an_hour_ago = timezone.now() - timedelta(hours=1)
    ReviewItem.objects.filter(pk__in=[older.pk, low.pk]).update(opened_at=an_hour_ago)

    assert list(selectors.queue()) == [high, older, newer, low]


def test_the_queue_has_one_state(turn: Turn) -> None:
    mine = open_item(turn_id=turn.pk, stage="reply", codes=[])
    other = open_item(turn_id=turn.pk, stage="classify", codes=[])
    ReviewItem.objects.filter(pk=mine.pk).update(state=ReviewState.CLAIMED.value)

    assert list(selectors.queue()) == [other]
    assert list(selectors.queue(state=ReviewState.CLAIMED)) == [mine]


def test_the_queue_asks_as_often_for_many_as_for_one(stopped: Turn) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            rows = [presenters.queue_row(item) for item in selectors.queue()]
        assert all(row.reference and row.reason for row in rows)
        return len(captured)

    one = queries()
    for _ in range(6):
        open_item(turn_id=make_turn().pk, stage="reply", codes=["schema"])
    assert queries() == one == 2


def test_an_item_has_the_agency_and_each_attempts_findings(stopped: Turn) -> None:
    (item,) = stopped.review_items.all()

    with CaptureQueriesContext(connection) as captured:
        view = presenters.item_view(selectors.item(item.pk))

    assert len(captured) == 3
    assert view.row.reference == stopped.session.reference
    assert "Immigration" in view.row.agencies
    assert [(stage.contract, stage.status) for stage in view.stages] == [
        ("judgement_v1", "Passed"),
        ("agency_detect_v1", "Passed"),
        ("category_select_v1", "Needs review"),
        ("classify", "Passed"),
        ("extract", "Passed"),
        ("identity_assist", "Passed"),
    ]
    assert [stage.stopped for stage in view.stages] == [False, False, True, False, False, False]
    assert [attempt.findings for attempt in view.stages[0].attempts] == [()]
    for number, attempt in enumerate(view.stages[2].attempts, start=1):
        assert (attempt.number, attempt.round) == (number, 1)
        assert [finding["code"] for finding in attempt.findings] == ["json.syntax"]


def test_an_item_has_no_agency_before_one_was_found(turn: Turn) -> None:
    item = open_item(turn_id=turn.pk, stage="agency_detect_v1", codes=["agency.count"])
    assert presenters.item_view(selectors.item(item.pk)).row.agencies == ""
