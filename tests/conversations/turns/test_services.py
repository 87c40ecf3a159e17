"""Taking a citizen's message: stored and audited in one step, or refused with nothing changed."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from conversations import sweeper
from conversations.models import Session, Turn
from conversations.states import TurnState
from conversations.turns import moves, services
from conversations.turns.leases import LEASE, LeaseLost, renew_lease, take_lease
from conversations.turns.refusing import Refused
from ieim.audit.models import AuditEvent
from ieim.pipeline.ports import ModelUnavailable
from tests.fixtures import VISA, Ask

pytestmark = pytest.mark.both_databases


def receive(text: str = VISA, secret: str = "a") -> Turn:
    return services.receive(session=secret, text=text, enqueue=False)[0]


def test_it_stores_the_turn_and_its_audit_event_together(published: None) -> None:
    turn = receive()
    assert (turn.state, turn.number, turn.release_number) == ("queued", 1, 1)
    event = AuditEvent.objects.get(chain=turn.session_id)
    assert event.kind == "turn.received"
    assert VISA not in event.payload


def test_it_keeps_the_secret_as_a_digest_only(published: None) -> None:
    secret = services.new_secret()
    session = receive(secret=secret).session
    assert session.secret_sha256 == services.secret_digest(secret)
    assert secret not in str(vars(session))


def test_it_gives_a_reference_that_can_be_said_on_the_telephone() -> None:
    for _ in range(200):
        assert re.fullmatch(
            r"[2-9A-HJKMNP-TV-Z]{3}-[2-9A-HJKMNP-TV-Z]{4}", services.new_reference()
        )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no text"),
        (" \n\u200b", "no text"),
        ("x" * 2001, "2,001 characters"),
        ("a\x00b", "cannot store"),
        ("a\ud800b", "cannot store"),
    ],
)
def test_it_refuses_what_it_cannot_take_and_changes_nothing(
    published: None, text: str, says: str
) -> None:
    events = AuditEvent.objects.count()
    with pytest.raises(Refused) as refused:
        receive(text)
    assert says in refused.value.message
    assert not Session.objects.exists()
    assert AuditEvent.objects.count() == events


def test_it_takes_exactly_two_thousand_code_points(published: None) -> None:
    assert receive("😀" * 2000).text == "😀" * 2000


def test_it_refuses_before_anything_is_published(db: None) -> None:
    with pytest.raises(Refused, match="not ready"):
        receive()
    assert not Session.objects.exists()


def test_it_lets_one_question_wait_at_a_time(published: None) -> None:
    first = receive()
    with pytest.raises(Refused, match="still working"):
        receive("another one")
    assert list(first.session.turns.all()) == [first]


def test_it_has_the_database_refuse_a_second_pending_turn(published: None) -> None:
    first = receive()
    with pytest.raises(IntegrityError), transaction.atomic():
        Turn.objects.create(
            session=first.session,
            number=2,
            text="x",
            release_number=1,
            queued_at=timezone.now(),
        )


def test_it_takes_the_next_question_after_the_answer(ask: Ask) -> None:
    first = ask(secret="a")
    second = ask("and how much does it cost?", secret="a")
    assert first.state == second.state == "answered"
    assert (second.session_id, second.number) == (first.session_id, 2)


def test_it_lets_one_worker_claim_a_turn(published: None) -> None:
    turn = receive()
    claimed = take_lease(turn_id=turn.pk)
    assert claimed is not None
    assert claimed.state == "running"
    assert take_lease(turn_id=turn.pk) is None


def test_it_refuses_writes_of_a_run_whose_lease_was_lost(published: None) -> None:
    turn = receive()
    claimed = take_lease(turn_id=turn.pk)
    assert claimed is not None
    sweeper.sweep(at_start=True)
    assert take_lease(turn_id=turn.pk) is not None
    with pytest.raises(LeaseLost):
        renew_lease(turn_id=turn.pk, lease=claimed.lease)
    with pytest.raises(LeaseLost), transaction.atomic():
        moves.move_turn(claimed, TurnState.ANSWERED)


def test_it_sweeps_a_turn_that_the_broker_forgot(published: None) -> None:
    turn = receive()
    later = timezone.now() + sweeper.QUEUED_TOO_LONG + timedelta(seconds=1)
    soon = timedelta(seconds=1)
    for now, queued_at in ((None, turn.queued_at), (later, later), (later + soon, later)):
        sweeper.sweep(now=now)
        turn.refresh_from_db()
        assert turn.queued_at == queued_at


def test_it_sweeps_a_turn_whose_worker_is_gone(published: None) -> None:
    turn = receive()
    take_lease(turn_id=turn.pk)
    sweeper.sweep()
    turn.refresh_from_db()
    assert turn.state == "running"
    sweeper.sweep(now=timezone.now() + LEASE + timedelta(seconds=1))
    turn.refresh_from_db()
    assert (turn.state, turn.lease) == ("queued", None)


def test_it_parks_a_turn_while_the_model_is_away_and_then_asks_a_person(published: None) -> None:
    turn = receive()
    claimed = take_lease(turn_id=turn.pk)
    assert claimed is not None
    moves.await_model(turn=claimed, error=ModelUnavailable("reset"))
    turn.refresh_from_db()
    assert turn.state == "awaiting_model"
    assert take_lease(turn_id=turn.pk) is None
    long_ago = timezone.now() - moves.GIVE_UP_ON_MODEL
    Turn.objects.filter(pk=turn.pk).update(retry_at=long_ago, unavailable_since=long_ago)
    again = take_lease(turn_id=turn.pk)
    assert again is not None
    moves.await_model(turn=again, error=ModelUnavailable("reset"))
    turn.refresh_from_db()
    assert turn.state == "needs_review"
    assert [item.reasons for item in turn.review_items.all()] == [["model.unavailable"]]
