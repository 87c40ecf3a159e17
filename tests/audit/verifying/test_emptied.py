"""Events that an erasure has emptied: they say no more than kind and day, and the chain holds."""

from __future__ import annotations

from datetime import UTC, timedelta
from uuid import UUID

import pytest
from django.db import DatabaseError, transaction

from conversations.models import Session, Turn
from conversations.turns import erasing
from ieim.audit import services
from ieim.audit.checkpoints import compare_with_digest, take_checkpoint
from ieim.audit.comparing import second_look
from ieim.audit.models import EMPTIED, AuditEvent
from ieim.audit.verify import Break, verify
from tests.audit.owner import triggers_lifted
from tests.fixtures import VISA, Ask

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
DANGER = "I want to kill myself"


def erased(ask: Ask) -> UUID:
    """Erase a conversation with an answer and a sign of danger; returns its chain."""
    ask(VISA, secret="a")
    chain = ask(DANGER, secret="a").session_id
    before = AuditEvent.objects.filter(chain=chain)
    assert any("self_harm" in event.payload for event in before)
    erasing.erase_session(session_id=chain)
    return chain


def test_they_say_kind_and_day_alone(ask: Ask) -> None:
    chain = erased(ask)
    *events, left, last = AuditEvent.objects.filter(chain=chain).order_by("seq")
    assert (left.kind, last.kind, last.payload) == ("session.left", "session.erased", '{"turns":2}')
    assert {event.kind for event in events} >= {"turn.received", "turn.answered", "review.opened"}
    for event in events:
        at = event.at.astimezone(UTC)
        assert (event.payload, event.salt) == ("{}", "")
        assert at == at.replace(hour=0, minute=0, second=0, microsecond=0)
    assert verify(chain).ok
    assert second_look(chain) == []


def test_what_stays_of_the_conversation_is_still_missed(ask: Ask) -> None:
    chain = erased(ask)
    with triggers_lifted():
        Turn.objects.filter(session=chain, number=2).delete()
        Session.objects.filter(pk=chain).update(secret_sha256="0" * 64)
    kinds = {(entry.kind, str(entry.fault)) for entry in second_look(chain)}
    assert kinds >= {("turn_text", "missing"), ("session", "unvouched")}


def test_a_checkpoint_of_before_still_holds(ask: Ask) -> None:
    ask(VISA, secret="b")
    digest = take_checkpoint().digest
    chain = erased(ask)
    assert AuditEvent.objects.filter(EMPTIED, chain=chain).exists()
    assert compare_with_digest(digest).faults == []


def test_what_was_recorded_before_there_were_salts_stays_and_holds(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = ask(VISA, secret="a").session_id
    with monkeypatch.context() as patch, transaction.atomic():
        patch.setattr(services, "FOR_GOOD", {*services.FOR_GOOD, chain})
        old = services.record(chain=chain, kind="turn.said", payload={"code": 1}, actor="citizen")
    ask(DANGER, secret="a")
    erasing.erase_session(session_id=chain)
    old.refresh_from_db()
    assert (old.digest, old.payload) == ("", '{"code":1}')
    assert verify(chain).ok
    assert second_look(chain) == []


def test_nothing_is_emptied_before_an_erasure_nor_filled_after_it(ask: Ask) -> None:
    living = ask(VISA, secret="b").session_id
    result = erased(ask)
    event = AuditEvent.objects.filter(chain=result).earliest("seq")
    for which, change in (
        (AuditEvent.objects.filter(chain=living), {"payload": "{}", "salt": ""}),
        (AuditEvent.objects.filter(pk=event.pk), {"payload": '{"a":1}'}),
        (AuditEvent.objects.filter(pk=event.pk), {"kind": "turn.answered"}),
        (AuditEvent.objects.filter(pk=event.pk), {"at": event.at + timedelta(days=1)}),
        (AuditEvent.objects.filter(pk=event.pk), {"digest": "0" * 64}),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            which.update(**change)


@pytest.mark.parametrize(
    "change",
    [
        {"payload": "{}", "salt": ""},
        {"payload": '{"a":1}'},
        {"salt": "0" * 64},
        {"digest": "0" * 64},
        {"digest": "", "salt": ""},
    ],
    ids=str,
)
def test_an_owner_who_changes_one_is_found(ask: Ask, change: dict[str, str]) -> None:
    chain = ask(VISA).session_id
    with triggers_lifted():
        AuditEvent.objects.filter(chain=chain, seq=2).update(**change)
    report = verify(chain)
    assert report.problem is not None
    assert (report.problem.code, report.problem.seq) == (Break.CONTENT, 2)


def test_so_is_one_who_empties_what_nobody_erased(ask: Ask) -> None:
    chain = ask(VISA).session_id
    event = AuditEvent.objects.get(chain=chain, seq=2)
    day = event.at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    with triggers_lifted():
        AuditEvent.objects.filter(pk=event.pk).update(payload="{}", salt="", at=day)
    problem = verify(chain).problem
    assert problem is not None
    assert "no event after it says that all was erased" in problem.message


def test_one_that_is_emptied_may_say_nothing_else(ask: Ask) -> None:
    chain = erased(ask)
    for change in ({"payload": '{"a":1}'}, {"at": AuditEvent.objects.latest("pk").at}):
        with triggers_lifted(), transaction.atomic():
            AuditEvent.objects.filter(chain=chain, seq=2).update(**change)
        problem = verify(chain).problem
        assert problem is not None
        assert problem.code == Break.CONTENT
