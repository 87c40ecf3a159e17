"""What is kept no longer goes by itself, once a day, and leaves a proof of counts."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session as StaffSession
from django.utils import timezone

from conversations import retention
from conversations.models import Outage, Session, Turn
from conversations.turns.locking import is_erased
from ieim.audit.models import SYSTEM_CHAIN, AuditEvent
from ieim.audit.verify import verify
from ieim.studio.models import DraftingRun
from review.models import Action, Decision
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review import desk

pytestmark = pytest.mark.both_databases

DAYS = 30


@pytest.fixture(autouse=True)
def _kept(monkeypatch: pytest.MonkeyPatch) -> None:
    keep(monkeypatch, conversations=DAYS, decided=DAYS)


def keep(monkeypatch: pytest.MonkeyPatch, **days: int | None) -> None:
    monkeypatch.setattr(settings, "IEIM_KEEP", {**settings.IEIM_KEEP, **days})


def aged(*turns: Turn, days: int = DAYS + 1) -> None:
    """Let conversations be as old as this, with all that happened in them."""
    then = timezone.now() - timedelta(days=days)
    for turn in turns:
        Session.objects.filter(pk=turn.session_id).update(created_at=then)
        Turn.objects.filter(session=turn.session_id).update(updated_at=then)


def proofs() -> list[dict[str, Any]]:
    events = AuditEvent.objects.filter(kind=retention.APPLIED).order_by("id")
    return [json.loads(event.payload) for event in events]


def remaining_texts() -> set[str]:
    return set(Turn.objects.exclude(text="").values_list("text", flat=True))


def test_old_conversations_go_and_one_event_proves_it(ask: Ask) -> None:
    old, young, alive = (ask(f"{VISA}, {name}", secret=name) for name in ("old", "young", "alive"))
    aged(old)
    aged(young, days=DAYS - 1)
    aged(alive)
    ask(f"{VISA}, again", secret="alive")
    assert retention.apply() == {
        "conversations": 1,
        "deliveries": 0,
        "outages": 0,
        "drafts": 0,
        "sign_ins": 0,
        "staff_sessions": 0,
    }
    assert remaining_texts() == {young.text, alive.text, f"{VISA}, again"}
    assert is_erased(Session.objects.get(pk=old.session_id))
    [proof] = proofs()
    assert (proof["erased"]["conversations"], proof["days"]["conversations"]) == (1, DAYS)
    assert VISA not in json.dumps(proof)
    assert verify(old.session_id).ok
    assert verify(SYSTEM_CHAIN).ok


def test_once_a_day_is_enough(ask: Ask) -> None:
    assert retention.apply() is not None
    aged(ask(VISA))
    assert retention.apply() is None
    assert remaining_texts() == {VISA}
    tomorrow = timezone.now() + timedelta(days=1)
    assert retention.apply(now=tomorrow) is not None
    assert remaining_texts() == set()
    assert len(proofs()) == 2


def test_what_is_too_much_for_one_run_is_for_the_next(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 1)
    aged(*(ask(VISA, secret=name) for name in "ab"))
    assert [(retention.apply() or {}).get("conversations") for _ in range(4)] == [1, 1, 0, None]
    assert [proof["more"] for proof in proofs()] == [True, True, False]


def test_nobody_loses_a_question_that_waits(ask: Ask) -> None:
    with scripted_model({"judgement_v1": ["no json", "no json"]}) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == "needs_review"
    aged(turn)
    retention.apply()
    assert remaining_texts() == {VISA}
    assert proofs()[0]["waiting"] == 1


def test_what_a_person_decided_has_a_time_of_its_own(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scripted_model({"judgement_v1": ["no json", "no json"]}) as (model, _):
        turn = ask(f"{VISA}, please", model=model, secret="decided")
    eva = desk.person("eva")
    desk.taken_and_decided(desk.the_item(turn), eva, Action.DISMISS)
    aged(turn, ask(VISA, secret="alone"))
    keep(monkeypatch, decided=2 * DAYS)
    retention.apply()
    assert remaining_texts() == {turn.text}
    aged(turn, days=2 * DAYS + 1)
    retention.apply(now=timezone.now() + timedelta(days=1))
    assert (remaining_texts(), Decision.objects.count()) == (set(), 0)


def test_the_other_kinds_go_too(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    now, editor = timezone.now(), desk.person("eve")
    for days in (DAYS - 1, DAYS + 1):
        then = now - timedelta(days=days)
        Outage.objects.create(cause="timeout", began_at=then, seen_at=then, ended_at=then)
        attempt = AccessAttempt.objects.create(
            username=str(days), ip_address="192.0.2.1", failures_since_start=1
        )
        AccessAttempt.objects.filter(pk=attempt.pk).update(attempt_time=then)
        for state in ("done", "running"):
            run = DraftingRun.objects.create(kind="plain", state=state, created_by=editor)
            DraftingRun.objects.filter(pk=run.pk).update(updated_at=then)
    StaffSession.objects.create(session_key="a", session_data="", expire_date=now)
    for key, hours in (("a", 0), ("b", -1)):
        UserSession.objects.create(
            user=desk.person("eva" + key), session_key=key, ip="192.0.2.1", user_agent="Browser"
        )
        last = now - timedelta(seconds=settings.SESSION_COOKIE_AGE, hours=hours, minutes=1)
        UserSession.objects.filter(user__username="eva" + key).update(last_seen_at=last)
    keep(monkeypatch, outages=DAYS, sign_ins=DAYS, drafts=DAYS)
    erased = retention.apply()
    assert erased is not None
    assert (erased["outages"], erased["sign_ins"], erased["staff_sessions"]) == (1, 1, 1)
    assert (erased["drafts"], DraftingRun.objects.filter(state="running").count()) == (1, 2)
    assert (Outage.objects.count(), AccessAttempt.objects.count()) == (1, 1)
    assert UserSession.objects.get().user.get_username() == "evab"


def test_nothing_goes_where_no_time_is_set(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(monkeypatch, **dict.fromkeys(settings.IEIM_KEEP))
    aged(ask(VISA), days=5000)
    assert retention.apply() == {"conversations": 0, "staff_sessions": 0}
    assert remaining_texts() == {VISA}
