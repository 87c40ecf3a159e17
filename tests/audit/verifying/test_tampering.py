"""Whatever an owner of the database changes, deletes or adds is found, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from pytest_django import DjangoDbBlocker

from conversations.models import Attempt, Session, Turn
from conversations.record.audited import REPLY, TEXT
from ieim.audit.audited import AuditedModel, registered
from ieim.audit.checkpoints import take_checkpoint
from ieim.audit.models import SYSTEM_CHAIN, AuditEvent
from ieim.audit.services import record
from ieim.people.audited import GRANT
from ieim.people.models import User
from review.audited import DECISION
from tests.audit import office
from tests.audit.owner import rewind, triggers_lifted
from tests.audit.tampering import (
    ADDITIONS,
    CHANGES,
    DELETIONS,
    FACTOR_AFTER,
    POSITIONS,
    STAFF,
    Tampered,
    at,
    do,
    exchange_codes_of,
    flipped,
    name,
    rows,
)
from tests.selection import sample

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def digest(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """A sound database, built once and rolled back; the digest of its checkpoint."""
    with django_db_blocker.unblock(), transaction.atomic():
        office.build()
        yield take_checkpoint().digest
        transaction.set_rollback(True)


@contextmanager
def tampering() -> Iterator[None]:
    """Let an owner do what no trigger lets others do, and undo it afterwards."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def verified(*options: str) -> dict[str, Any]:
    """What the command says."""
    out = StringIO()
    with suppress(CommandError):
        call_command("verify_audit", "--json", *options, stdout=out)
    data: dict[str, Any] = json.loads(out.getvalue())
    return data


def differing(*options: str) -> set[tuple[str, str, str]]:
    """The rows that differ: kind, id, and what is wrong."""
    result = verified(*options)
    assert result["ok"] is not bool(result["differing"] or result["broken"] or result["faults"])
    return {(entry["kind"], entry["id"], entry["fault"]) for entry in result["differing"]}


@pytest.mark.both_databases
def test_it_reports_nothing_on_a_sound_database(digest: str) -> None:
    result = verified("--expect", digest, "--nothing-since")
    assert (result["ok"], result["broken"], result["differing"], result["faults"]) == (
        True,
        [],
        [],
        [],
    )
    events = AuditEvent.objects.values_list("payload", flat=True)
    results = {row[0] for event in events for row in json.loads(event).get("rows", ())}
    # Every kind is there, or the tests below would show nothing.
    assert results == {vouched.kind for vouched in registered()} - {GRANT.kind}  # of older events


def test_there_are_fourteen_kinds() -> None:
    assert len({*CHANGES, *DELETIONS, *ADDITIONS}) == 14


@pytest.mark.both_databases
@pytest.mark.parametrize("change", CHANGES)
def test_it_finds_what_was_changed(change: Callable[[int], Tampered]) -> None:
    with tampering():
        with triggers_lifted():
            done = {(*change(position), "changed") for position in range(POSITIONS)}
        assert len(done) == POSITIONS
        assert differing() == done


@pytest.mark.parametrize(("delete", "table", "where"), DELETIONS)
def test_it_finds_what_was_deleted(
    delete: Callable[[Any], Tampered], table: str, where: str
) -> None:
    with tampering():
        chains = dict(Turn.objects.values_list("pk", "session_id"))
        keys = [at(position, table, where)[0] for position in range(POSITIONS)]
        with triggers_lifted():
            results = [delete(key) for key in keys]
        result = differing()
        kind = results[0][0]
        assert {entry for entry in result if entry[0] == kind} == {
            (*entry, "missing") for entry in results
        }
        if kind == "turn_text":
            # All that hung on it went along, and only that.
            touched = {str(chains[UUID(key)]) for _, key in results}
            assert {entry["chain"] for entry in verified()["differing"]} == touched
        elif kind == "span":
            assert {entry[0] for entry in result} == {"span", "stage"}
        else:
            assert len(result) == POSITIONS


@pytest.mark.parametrize("add", ADDITIONS)
def test_it_finds_what_was_added(add: Callable[[int], Tampered]) -> None:
    with tampering():
        with triggers_lifted():
            done = {(*add(position), "unvouched") for position in range(POSITIONS)}
        assert len(done) == POSITIONS
        assert differing() == done


@pytest.mark.parametrize("position", sample(range(POSITIONS), keep=4))
def test_it_finds_a_changed_release(position: int) -> None:
    with tampering():
        number, text = rows("SELECT number, CAST(content AS text) FROM knowledge_release")[
            position % 2
        ]
        content = json.loads(text)
        services = content["services"]
        services[position * len(services) // POSITIONS]["fees"] = "1,000 EUR"
        with triggers_lifted():
            do(
                "UPDATE knowledge_release SET content = %s WHERE number = %s",
                json.dumps(content),
                number,
            )
        assert differing("--session", str(SYSTEM_CHAIN)) == {("release", str(number), "changed")}


def test_it_finds_a_deleted_release() -> None:
    with tampering():
        with triggers_lifted():
            do("DELETE FROM knowledge_publication WHERE release_id = 2")
            do("DELETE FROM knowledge_release WHERE number = 2")
        assert {entry[::2] for entry in differing()} == {
            ("publication", "missing"),
            ("release", "missing"),
        }


@pytest.mark.parametrize(
    ("statement", "kind", "fault"),
    sample(
        [
            ("UPDATE review_signoff SET agency = agency || 'x'", "sign_off", "changed"),
            (
                "UPDATE review_signoff SET stands = NOT stands "
                "WHERE id = (SELECT max(id) FROM review_signoff)",
                "sign_off",
                "changed",
            ),
            ("DELETE FROM review_signoff", "sign_off", "missing"),
            ("DELETE FROM conversations_citation", "reply", "changed"),
            ("UPDATE conversations_evidencespan SET stands = NOT stands", "stage", "changed"),
            ("UPDATE conversations_stage SET status = 'approved'", "stage", "changed"),
            (
                "UPDATE conversations_turn SET risks = '[]' WHERE text <> ''",
                "turn_signs",
                "changed",
            ),
            ("UPDATE conversations_rating SET useful = NOT useful", "rating", "changed"),
            ("UPDATE conversations_feedback SET text = 'fine'", "feedback", "changed"),
            (
                "UPDATE conversations_correctionnotice SET text = 'x'",
                "correction_notice",
                "changed",
            ),
            ("DELETE FROM conversations_correction", "correction", "missing"),
            ("UPDATE review_reviewitem SET stage = 'reply'", "review_item", "changed"),
            (
                "UPDATE conversations_turn SET text = 'again' WHERE text = ''",
                "turn_text",
                "unvouched",
            ),
        ],
        keep=6,
    ),
)
def test_it_finds_what_else_is_vouched_for(statement: str, kind: str, fault: str) -> None:
    with tampering():
        with triggers_lifted():
            do(statement)
        assert {(entry[0], entry[2]) for entry in differing()} == {(kind, fault)}


@pytest.mark.both_databases
@pytest.mark.parametrize("done", sample(STAFF, keep=6))
def test_it_finds_what_was_done_to_who_may_what(done: str) -> None:
    statements, kind, fault = STAFF[done]
    with tampering():
        with triggers_lifted():
            for statement in statements:
                do(statement)
        assert {(entry[0], entry[2]) for entry in differing()} == {(kind, fault)}


@pytest.mark.both_databases
@pytest.mark.parametrize("after", FACTOR_AFTER)
def test_it_finds_a_second_factor_that_was_exchanged_and_then_used(after: str) -> None:
    with tampering():
        exchange_codes_of("eva", by="ed")
        FACTOR_AFTER[after](User.objects.get(username="eva"))
        (broken,) = verified()["broken"]
        assert "which was not then as the record had it" in broken["message"]


def test_it_finds_a_turn_that_moved_to_another_conversation() -> None:
    with tampering():
        result = rows("SELECT id, session_id FROM conversations_turn WHERE text <> ''")
        turn, other = result[0][0], result[-1][1]
        move = "UPDATE conversations_turn SET session_id = %s, number = 9 WHERE id = %s"
        with triggers_lifted():
            do(move, other, turn)
        text = ("turn_text", name(turn))
        assert {(*text, "missing"), (*text, "unvouched")} <= differing()


def test_it_finds_a_conversation_that_no_event_tells_of() -> None:
    with tampering():
        # Of one that the assistant answered: a message to a person has no stages.
        chain = Attempt.objects.values_list("stage__turn__session_id", flat=True)[0]
        rewind(chain, to=0)
        result = differing()
        assert {fault for _, _, fault in result} == {"unvouched"}
        assert {kind for kind, _, _ in result} >= {"turn_text", "stage", "attempt"}


@pytest.mark.parametrize("position", sample(range(POSITIONS), keep=2))
def test_it_finds_a_changed_prompt_or_schema(position: int) -> None:
    with tampering():
        artifacts = rows("SELECT sha256, content FROM conversations_artifact ORDER BY sha256")
        key, content = artifacts[position % len(artifacts)]
        with triggers_lifted():
            do(
                "UPDATE conversations_artifact SET content = %s WHERE sha256 = %s",
                flipped(content, position),
                key,
            )
        assert differing() == {("artifact", key, "changed")}


def test_it_finds_a_deleted_prompt() -> None:
    with tampering():
        key = Attempt.objects.values_list("prompt_sha256", flat=True)[0]
        with triggers_lifted():
            do("DELETE FROM conversations_artifact WHERE sha256 = %s", key)
        assert differing() == {("artifact", key, "missing")}


@pytest.mark.sqlite  # any value in any column
@pytest.mark.parametrize(
    "change",
    ["created_at = '2026-13-45 00:00:00'", "temperature = 'x'", "model = CAST(x'ff' AS TEXT)"],
)
def test_it_says_what_cannot_be_read(change: str) -> None:
    with tampering():
        key = Attempt.objects.values_list("pk", flat=True)[7]
        with triggers_lifted():
            do(f"UPDATE conversations_attempt SET {change} WHERE id = %s", key)  # noqa: S608 - ours
        assert differing() == {("attempt", str(key), "unreadable")}


@pytest.mark.parametrize(
    ("table", "change", "kind"),
    [
        ("conversations_reply", "origin = 'caseworker'", REPLY),
        ("conversations_turn", "text = 'I never asked'", TEXT),
        ("review_decision", "reason = 'none'", DECISION),
    ],
)
def test_no_later_event_can_vouch_for_another_past(
    digest: str, table: str, change: str, kind: AuditedModel
) -> None:
    with tampering():
        (key,) = at(0, table, "text <> ''" if kind is TEXT else "1 = 1")
        with triggers_lifted():
            do(f"UPDATE {table} SET {change} WHERE id = %s", key)  # noqa: S608 - our own names
        ((chain, row),) = [
            result
            for result in kind.rows_of_chains([*Session.objects.values_list("pk", flat=True)])
            if str(result[1].pk) == name(key)
        ]
        # As one would who wrote the next event of the record, with its hash and its head.
        record(chain=chain, kind="turn.answered", payload={}, actor="system", rows=[kind.row(row)])
        results = verified("--expect", digest)
        assert "which never changes" in json.dumps(results["broken"])
        assert (kind.kind, name(key), "changed") in {
            (entry["kind"], entry["id"], entry["fault"]) for entry in results["differing"]
        }
