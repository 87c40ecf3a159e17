"""Days that are over are counted once, and their figures stay those of a count of today."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from conversations.models import (
    Attempt,
    Choice,
    Feedback,
    Rating,
    Replacement,
    Reply,
    Stage,
    Turn,
    Unused,
)
from conversations.turns.erasing import erase_session
from review.facets import AGENCY_STAGE
from review.metrics import selectors, services, triggers
from review.metrics.selectors import Period
from review.models import Action, DailyFigures, Decision, LateChange, ReviewItem
from tests.audit.owner import triggers_lifted
from tests.review.metrics.test_metrics import AGENCY, decide, make_item, make_question
from tests.review.people import person

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

DAYS = 4
NOON = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0)
DIGESTS = dict.fromkeys(("request_sha256", "contract_sha256", "prompt_sha256"), "0" * 64)
CALL = {**DIGESTS, "model": "m", "temperature": 0, "request_bytes": 1, "raw": b"", "duration_ms": 1}


@pytest.fixture
def past_midnight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let yesterday be over, whatever the time is."""
    monkeypatch.setattr(services, "AFTER_MIDNIGHT", timedelta())


def period() -> Period:
    today = timezone.localdate()
    return Period(today - timedelta(days=DAYS), today)


def move(at: datetime, *rows: Any, column: str = "created_at") -> None:
    """Let rows have been stored at another time."""
    with triggers_lifted():
        for row in rows:
            type(row)._default_manager.filter(pk=row.pk).update(**{column: at})


@pytest.fixture
def turn() -> Turn:
    """A question of three days ago with all that can come of one; all of it counts."""
    then, later = NOON - timedelta(days=3), NOON - timedelta(days=2)
    turn = make_question(AGENCY, origin="staff", still_about="visa")
    item = make_item(turn, "schema")
    decision = decide(item, person("eva"), Action.WRITE, 4)
    stage = turn.stages.get()
    attempt = Attempt.objects.create(stage=stage, number=1, tokens=100, cached_tokens=4, **CALL)
    unused = Unused.objects.create(turn=turn, contract="reply", tokens=7, duration_ms=1)
    choice: dict[str, Any] = {"stage": "service_select_v1", "offered": [[AGENCY, "visa"]]}
    Choice.objects.create(turn=turn, asked_at=then, until=then, **choice)
    Rating.objects.create(reply=turn.reply, useful=True, at=later)
    Feedback.objects.create(reply=turn.reply, reason="wrong", at=later)
    move(then, turn, attempt, unused)
    move(then, item, column="opened_at")
    move(then, item, column="due_at")
    # To a hundredth of a microsecond no float is exact.
    move(later + timedelta(microseconds=123_457), turn.reply, decision)
    for number in range(2):
        other = make_question(origin="index")
        move(NOON - timedelta(days=number), other, other.reply)
    return turn


def as_sets(figures: Any) -> dict[str, list[Any]]:
    return {
        name: sorted(repr(sorted(row.items())) for row in rows) for name, rows in figures.items()
    }


def loaded() -> dict[str, list[Any]]:
    figures = selectors.load(period(), None)
    return as_sets({name: getattr(figures, name) for name in selectors.QUERIES})


def counted() -> dict[str, list[Any]]:
    return as_sets(selectors.count(period()))


def roll_up(now: datetime | None = None) -> int:
    """Count all that is to be counted; return how many days there were."""
    count = 0
    while services.roll_up(now=now or timezone.now() + timedelta(days=1)):
        count += 1
    return count


def change_agency(turn: Turn) -> None:
    ReviewItem.objects.filter(turn=turn).update(agency="passports")


def detect_another(turn: Turn) -> None:
    ReviewItem.objects.filter(turn=turn).update(agency="")
    detected = {AGENCY_STAGE: {"agencyInfo": [{"agencyId": "passports"}]}}
    Stage.objects.filter(turn=turn).update(state_merge=detected)


def rate_today(turn: Turn) -> None:
    Rating.objects.filter(reply__turn=turn).update(useful=False, at=timezone.now())


def take_words_back(turn: Turn) -> None:
    Feedback.objects.filter(reply__turn=turn).update(reason="", at=timezone.now())


def decide_late(turn: Turn) -> None:
    item = ReviewItem.objects.get(turn=turn)
    ReviewItem.objects.filter(pk=item.pk).update(state="decided", decided_at=timezone.now())
    decide(item, person("ann"), Action.APPROVE, 9)


def open_late(turn: Turn) -> None:
    make_item(turn, "json.syntax", agency="passports")
    ReviewItem.objects.filter(turn=turn).exclude(reason="json.syntax").delete()


def end_choice(turn: Turn) -> None:
    Choice.objects.filter(turn=turn).update(outcome="chosen", chosen=[AGENCY, "visa"])


def replace(turn: Turn) -> None:
    Replacement.objects.create(turn=turn, by=make_question())


def answer_late(turn: Turn) -> None:
    Reply.objects.filter(turn=turn).delete()
    Reply.objects.create(turn=turn, origin="staff_override", body={})


def close(turn: Turn) -> None:
    Reply.objects.filter(turn=turn).delete()
    Turn.objects.filter(pk=turn.pk).update(state="closed")


def count_another_call(turn: Turn) -> None:
    unused = Unused.objects.create(turn=turn, contract="classify", tokens=3, duration_ms=1)
    move(NOON - timedelta(days=3), unused)


def lose_a_call(turn: Turn) -> None:
    Attempt.objects.filter(stage__turn=turn).delete()


def undo(turn: Turn) -> None:
    Decision.objects.filter(item__turn=turn).delete()


def erase(turn: Turn) -> None:
    assert erase_session(session_id=turn.session_id) is not None


@pytest.mark.usefixtures("past_midnight")
@pytest.mark.parametrize(
    "change",
    [
        change_agency,
        detect_another,
        rate_today,
        take_words_back,
        decide_late,
        open_late,
        end_choice,
        replace,
        answer_late,
        close,
        count_another_call,
        lose_a_call,
        undo,
        erase,
    ],
)
def test_a_late_change_counts_at_once_and_after_the_next_count(
    turn: Turn, change: Callable[[Turn], None]
) -> None:
    roll_up(timezone.now())
    assert DailyFigures.objects.filter(is_stale=False).count() == 3
    before = loaded()
    assert before == counted()
    with triggers_lifted():
        change(turn)
    after = loaded()
    assert after == counted() != before
    assert roll_up() > 0
    assert not LateChange.objects.exists()
    assert loaded() == after == counted()


@pytest.mark.usefixtures("past_midnight")
def test_what_is_counted_is_not_counted_again(turn: Turn) -> None:
    def tables() -> str:
        with CaptureQueriesContext(connection) as queries:
            selectors.load(Period(day, day), None)
        return " ".join(query["sql"] for query in queries.captured_queries)

    day = timezone.localdate() - timedelta(days=3)
    assert "conversations_attempt" in tables()
    roll_up(timezone.now())
    assert "conversations_attempt" not in tables()
    assert roll_up(timezone.now() + timedelta(minutes=20)) == 0


@pytest.mark.usefixtures("past_midnight")
def test_a_day_is_counted_again_only_after_a_while(turn: Turn) -> None:
    roll_up(timezone.now())
    change_agency(turn)
    assert roll_up(timezone.now()) == 0
    assert roll_up(timezone.now() + services.RECOUNT_EVERY) == 2
    assert loaded() == counted()


def test_a_day_is_over_an_hour_after_midnight(turn: Turn, settings: Settings) -> None:
    settings.TIME_ZONE = "Asia/Kolkata"
    zone = timezone.get_default_timezone()
    midnight = timezone.localtime(timezone.now(), zone).replace(hour=0, minute=0, second=0)
    yesterday = timezone.localdate(midnight, zone) - timedelta(days=1)
    begin, _ = Period(yesterday, yesterday).midnights
    roll_up(midnight + timedelta(minutes=59))
    assert not DailyFigures.objects.filter(begin=begin).exists()
    roll_up(midnight + timedelta(minutes=61))
    assert DailyFigures.objects.get(begin=begin).is_stale is False


def test_days_of_another_time_zone_are_neither_read_nor_kept(
    turn: Turn, settings: Settings
) -> None:
    roll_up(timezone.now())
    settings.TIME_ZONE = "Asia/Kolkata"
    assert loaded() == counted()
    roll_up(timezone.now())
    assert loaded() == counted()
    zone = timezone.get_default_timezone()
    starts = DailyFigures.objects.values_list("begin", flat=True)
    assert {timezone.localtime(start, zone).hour for start in starts} == {0}


def test_every_trigger_is_there_after_all_migrations() -> None:
    # SQLite alters a table by building a new one: its triggers are gone then. A migration that does
    # so to one of these ends with review.metrics.triggers.create().
    query = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal",
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(query)
        assert {name for (name,) in cursor.fetchall()} >= triggers.NAMES
