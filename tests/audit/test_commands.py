from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from hashlib import sha256
from io import StringIO
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from ieim.audit.checkpoints import take_checkpoint
from ieim.audit.models import AuditCheckpoint, AuditEvent

pytestmark = pytest.mark.both_databases

Lifted = Callable[[], AbstractContextManager[None]]


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def fail(*arguments: str) -> str:
    out = StringIO()
    with pytest.raises(CommandError, match="the audit record does not hold"):
        call_command(*arguments, stdout=out)
    return out.getvalue()


def test_verify_audit_says_that_all_holds(chain: UUID, other_chain: UUID) -> None:
    assert run("verify_audit").splitlines() == [
        "10 events in 2 chains, 0 of them broken",
        "0 rows vouched for, 0 differ",
        "no checkpoint yet: manage.py checkpoint_audit takes one",
    ]


def test_verify_audit_prints_a_line_a_broken_chain(
    chain: UUID, other_chain: UUID, lifted: Lifted
) -> None:
    taken = take_checkpoint()
    with lifted():
        AuditEvent.objects.filter(chain=chain, seq=2).update(actor="staff:eve")
        AuditEvent.objects.filter(chain=other_chain, seq=5).delete()
        AuditCheckpoint.objects.update(chains=3)

    lines = fail("verify_audit").splitlines()

    broken = {
        str(chain): "event 2 was changed: its hash is not that of its content",
        str(other_chain): "the head names event 5, and the last one is 4",
    }
    assert lines[:2] == [f"{c}: {broken[c]}" for c in sorted(broken)]
    assert lines[2:6] == [
        "checkpoint 1 is not what was recorded",
        "checkpoint 1 does not follow from the heads that are stored with it",
        "10 events in 3 chains, 2 of them broken",
        "0 rows vouched for, 0 differ",
    ]
    assert lines[6].endswith(f"over 3 chains: {taken.digest}")


def test_verify_audit_prints_json(chain: UUID, other_chain: UUID, lifted: Lifted) -> None:
    taken = take_checkpoint()
    assert json.loads(run("verify_audit", "--json")) == {
        "ok": True,
        "chains": 3,
        "events": 11,
        "broken": [],
        "rows": 0,
        "differing": [],
        "faults": [],
        "since": None,
        "checkpoint": {
            "number": 1,
            "at": taken.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "chains": 2,
            "digest": taken.digest,
        },
    }
    with lifted():
        AuditEvent.objects.filter(chain=chain, seq=2).update(actor="staff:eve")

    result: dict[str, Any] = json.loads(fail("verify_audit", "--json"))
    assert result["ok"] is False
    assert result["broken"] == [
        {
            "chain": str(chain),
            "seq": 2,
            "break": "content",
            "message": "event 2 was changed: its hash is not that of its content",
        }
    ]


def test_verify_audit_can_look_at_one_session(
    chain: UUID, other_chain: UUID, lifted: Lifted
) -> None:
    with lifted():
        AuditEvent.objects.filter(chain=other_chain, seq=2).update(actor="staff:eve")

    assert run("verify_audit", "--session", str(chain)).splitlines() == [
        "5 events in 1 chains, 0 of them broken",
        "0 rows vouched for, 0 differ",
    ]
    assert "event 2 was changed" in fail("verify_audit", "--session", str(other_chain))
    assert "nothing is recorded under this id" in fail("verify_audit", "--session", str(uuid4()))


def test_verify_audit_refuses_what_is_no_session(db: None) -> None:
    with pytest.raises(CommandError, match="invalid UUID value: 'x'"):
        run("verify_audit", "--session=x")


@pytest.mark.sqlite  # any value in any column
def test_verify_audit_says_what_it_cannot_read(chain: UUID, lifted: Lifted) -> None:
    take_checkpoint()
    with lifted(), connection.cursor() as cursor:
        cursor.execute("UPDATE audit_auditcheckpoint SET at = '2026-13-45 00:00:00'")

    with pytest.raises(CommandError, match="the audit record cannot be read: "):
        run("verify_audit")


def test_checkpoint_audit_prints_what_to_keep(chain: UUID) -> None:
    line = run("checkpoint_audit")
    taken = AuditCheckpoint.objects.get()
    at = taken.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert line == f"checkpoint 1 at {at} over 1 chains: {taken.digest}\n"

    printed = json.loads(run("checkpoint_audit", "--json"))
    taken = AuditCheckpoint.objects.get(number=2)
    assert (printed["number"], printed["chains"], printed["digest"]) == (2, 2, taken.digest)


def test_export_audit_gives_what_everybody_can_hash_anew(chain: UUID, other_chain: UUID) -> None:
    lines = [json.loads(line) for line in run("export_audit").splitlines()]
    assert [(result["chain"], result["seq"]) for result in lines] == [
        (str(of), seq) for of in sorted([chain, other_chain]) for seq in range(1, 6)
    ]
    previous = ""
    for results in lines:
        seen, salt, digest = (results.pop(name) for name in ("hash", "salt", "digest"))
        compact: Any = {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False}
        payload = json.dumps(results["payload"], **compact)
        assert sha256(f"{salt}{results['at']}{payload}".encode()).hexdigest() == digest
        results |= {"at": results["at"][:10], "payload": digest}
        assert results["seq"] == 1 or results["prev_hash"] == previous
        # Plain ASCII keys and integers: sorted compact JSON is RFC 8785.
        assert sha256(json.dumps(results, **compact).encode()).hexdigest() == seen
        previous = seen
    assert run("export_audit", "--session", str(chain)).count("\n") == 5
    assert run("export_audit", "--until", "2020-01-01") == ""
    assert run("export_audit", "--since", "2020-01-01").count("\n") == 10


@pytest.mark.django_db
@pytest.mark.parametrize("time", ["soon", "2026-13-01", "2026-02-30T00:00:00Z"])
def test_export_audit_says_what_a_time_is(time: str) -> None:
    with pytest.raises(CommandError, match="is no time"):
        run("export_audit", "--since", time)
