"""The record of a version before 0.3, after ``migrate``."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import F
from django.utils import timezone

from conversations.models import Turn
from conversations.record.restating import FORMER
from conversations.turns import erasing, flags
from ieim.audit.audited import RESTATED
from ieim.audit.canonical import GENESIS, canonical, event_hash, instant
from ieim.audit.comparing import second_look
from ieim.audit.models import AuditEvent, AuditHead
from ieim.audit.verify import verify
from tests.audit.owner import triggers_lifted
from tests.review.conftest import make_turn

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

CLASSIFIED: dict[str, Any] = {
    "risk_flags": [
        {
            "label": "violence",
            "confidence": 0.9,
            "source": "model",
            "spans": [{"start": 0, "end": 1}],
        }
    ],
    "disagreements": [],
}


def add_old_event(turn: Turn, kind: str) -> None:
    """Add an event as 0.2 recorded it: no salt, and a row of the former kind without a key."""
    payload: dict[str, Any] = {"turn": str(turn.pk), "rows": [FORMER.row(turn)]}
    if kind == "turn.received":
        text = hashlib.sha256(turn.text.encode()).hexdigest()
        payload |= {"text_sha256": text, "number": turn.number, "release": turn.release_number}
    chain, moment, data = turn.session_id, timezone.now(), canonical(payload)
    head, _ = AuditHead.objects.get_or_create(chain=chain, defaults={"seq": 0, "hash": GENESIS})
    fields: dict[str, Any] = {"seq": head.seq + 1, "kind": kind, "actor": "citizen"}
    fields["prev_hash"] = head.hash
    hashed = event_hash(chain=str(chain), at=instant(moment), payload=data, **fields)
    AuditEvent.objects.create(chain=chain, at=moment, payload=data.decode(), hash=hashed, **fields)
    AuditHead.objects.filter(chain=chain).update(seq=F("seq") + 1, hash=hashed)


def old_turn() -> Turn:
    turn = make_turn()
    add_old_event(turn, "turn.received")
    return turn


def tamper(turn: Turn, **values: Any) -> None:
    with triggers_lifted():
        Turn.objects.filter(pk=turn.pk).update(**values)


def migrate() -> None:
    call_command("migrate", verbosity=0)


def faults(turn: Turn) -> list[tuple[str, str]]:
    assert verify(turn.session_id).ok
    return [(fault.kind, fault.fault.value) for fault in second_look(turn.session_id)]


@pytest.mark.parametrize(
    ("values", "kind"),
    [({"text": "I never asked"}, "turn_text"), ({"risks": [], "language": "de"}, "turn_signs")],
)
def test_a_message_of_before_holds_and_a_later_change_is_found(
    values: dict[str, Any], kind: str
) -> None:
    turn = old_turn()
    before = AuditEvent.objects.get(chain=turn.session_id)
    for _ in range(2):
        migrate()
    assert faults(turn) == []
    event = AuditEvent.objects.get(chain=turn.session_id, kind=RESTATED)
    # The new digests have a key, so nobody finds the citizen's words by trying.
    assert f'["turn","{turn.pk}","gone"],["turn_text","{turn.pk}","hmac:' in event.payload
    assert AuditEvent.objects.get(pk=before.pk).hash == before.hash
    tamper(turn, **values)
    assert faults(turn) == [(kind, "changed")]


def test_no_change_of_before_is_vouched_for() -> None:
    turn = old_turn()
    tamper(turn, text="I never asked")
    migrate()
    assert faults(turn) == [("turn_text", "unvouched"), ("turn", "missing")]
    assert not AuditEvent.objects.filter(kind=RESTATED).exists()


@pytest.mark.parametrize("tampered", [False, True])
def test_signs_of_this_version_stay_and_the_words_of_before_are_checked(tampered: bool) -> None:
    """A message that the old web process took and the new worker read."""
    turn = old_turn()
    flags.add(turn=turn, classified=CLASSIFIED)
    if tampered:
        tamper(turn, text="I never asked")
    migrate()
    discrepancies = [("turn_text", "changed"), ("turn", "missing")]
    assert faults(turn) == (discrepancies if tampered else [])


def test_messages_that_old_processes_take_meanwhile_are_restated_by_the_next_migrate() -> None:
    turn = old_turn()
    migrate()
    later = Turn.objects.create(
        session=turn.session,
        number=2,
        text="And?",
        state="answered",
        release_number=1,
        queued_at=timezone.now(),
    )
    add_old_event(later, "turn.received")
    Turn.objects.filter(pk=turn.pk).update(risks=[["violence", 0, 1, "model"]])
    turn.refresh_from_db()
    add_old_event(turn, "turn.flagged")
    assert faults(turn)
    migrate()
    assert faults(turn) == []


@pytest.mark.parametrize("erased_first", [False, True])
def test_an_erased_conversation_of_before_holds(erased_first: bool) -> None:
    turn = old_turn()
    if not erased_first:
        migrate()
    erasing.erase_session(session_id=turn.session_id)
    if erased_first:
        migrate()
        assert not AuditEvent.objects.filter(kind=RESTATED).exists()
    assert faults(turn) == []
    tamper(turn, text="Something")
    assert faults(turn) == [("turn_text", "unvouched")]
