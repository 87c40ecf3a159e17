# ruff: noqa: S608 - the names put into statements are our own tables'
"""What the database refuses to change or delete of conversations and reviews, column by column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.db import IntegrityError, connection, models, transaction

from conversations.models import Attempt, EvidenceSpan, Reply, Turn
from conversations.record import guards
from conversations.turns import erasing
from ieim.audit.audited import registered
from ieim.audit.triggers import names
from ieim.people.audited import GRANT
from ieim.studio.recall import services as sending
from review import audited as record
from review.models import Action, Decision, SignOff
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import BABY, BAD, taken_and_decided, the_item

pytestmark = pytest.mark.both_databases

GUARDS = {**guards.GUARDS, **record.GUARDS}
MODELS = {
    model._meta.db_table: model for model in apps.get_models() if model._meta.db_table in GUARDS
}
OF_TURNS = {
    *("state", "updated_at", "queued_at", "lease", "leased_until", "retry_at"),
    *("unavailable_since", "runs", "resumed", "hold_waived", "said_safe_at", "situation"),
}
MAY_CHANGE_UNSEEN = {
    # Each vouches for what the other does not.
    "turn_text": OF_TURNS | {"risks", "language"},
    "turn_signs": OF_TURNS | {"session_id", "number", "text", "created_at"},
    # Its own column is vouched for as "more", and so are a reply's citations.
    "stage": {"id", "status", "started_at", "finished_at"},
    "correction_notice": {"sent", "repeated", "gone", "sent_at"},
    "review_item": {
        *("state", "reasons", "reason", "priority", "agency", "urgency", "language"),
        *("needs_second", "parent_id", "claimed_by_id", "claimed_until", "version", "due_at"),
        *("decided_at", "agencies_id", "rank", "likely_agency", "takes_effect_at"),
        *("snoozed_at", "snoozed_until", "alike"),
    },
    # A digest of a number is soon undone; when a talk falls silent is no content.
    "person_request": {"id", "contact"},
    # No more is a digest of an address; when a message is sent next is no content either.
    "mail_request": {
        *("address", "due_at", "lease", "leased_until", "tries"),
        *("confirm_sha256", "answer_sha256"),
    },
    "takeover": {"silent_at"},
    "span": {"stands"},  # by its stage, which says what stands
    "release": {"content"},  # as "more"
    "account": {"last_login", "languages"},
    "factor": {"last_used_at"},
    "token": {"last_used_at"},
}
"""Columns that change without an event that says to what; docs/operating.md names them."""

VOUCHED_AS_MORE = {
    # The first release by the text, the one that is asked anew by the signs.
    "turn_text": {"release_number", "first_release", "renewed_at"},
    "turn_signs": {"release_number", "first_release", "renewed_at"},
    "attempt": {"cached_tokens"},
    "choice": {"several", "also"},
    "line": {"cards"},
}
"""Columns that are hashed where they hold something."""


@pytest.fixture
def answered(published: None) -> Turn:
    """A row in every guarded table; returns a turn of another conversation, which was answered."""
    stage = "multi_agency_service_answer_v1"
    eva = desk.person("eva")
    taken_and_decided(
        the_item(desk.ask(BABY, {stage: BAD}), stage), eva, Action.WRITE, text="Come.", sources=[]
    )
    turn = desk.ask(VISA, {})
    source = turn.reply.body["sources"][0]
    of_service = {"agency": source["agency_id"], "service": source["service_key"]}
    notice = sending.confirm(**of_service, text="The fee is 45 euros.", by=eva)
    sending.deliver(notice_id=notice.pk)
    return turn


def refused(statement: str, *params: Any) -> bool:
    """Whether the database refuses a statement; what it lets through is undone."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, params)
            assert cursor.rowcount != 0
            transaction.set_rollback(True)
    except IntegrityError as error:
        assert "is append-only" in str(error), error  # noqa: PT017 - both ways are answers
        return True
    return False


def other(field: models.Field[Any, Any]) -> str:
    """SQL for another value than any that is there."""
    kind = field.target_field.get_internal_type() if field.remote_field else ""  # type: ignore[attr-defined]
    kind = kind or field.get_internal_type()
    if "Integer" in kind or kind in ("AutoField", "BigAutoField", "DecimalField"):
        return f'COALESCE("{field.column}", 0) + 7'
    empty = "x'00'" if connection.vendor == "sqlite" else r"'\x00'"
    return {
        "BooleanField": f'NOT "{field.column}"',
        "DateTimeField": "'2001-01-01 00:00:00'",
        "JSONField": "'[9]'",
        "BinaryField": empty,
        "UUIDField": "'00000000000040008000000000000009'",
    }.get(kind, "'x'")


def test_it_changes_only_what_may_change(answered: Turn) -> None:
    changed = {}
    for table, model in MODELS.items():
        rows = model._base_manager.order_by("pk").values_list("pk", flat=True)
        key = rows[len(rows) - 1]
        raw = key.hex if connection.vendor == "sqlite" and hasattr(key, "hex") else key
        assert model._meta.pk is not None
        where = f'WHERE "{model._meta.pk.column}" = %s'
        changed[table] = {
            field.column
            for field in model._meta.concrete_fields
            if not refused(f'UPDATE {table} SET "{field.column}" = {other(field)} {where}', raw)
        }
    assert changed == {table: set(guard.may_change) for table, guard in GUARDS.items()}


def test_it_deletes_and_replaces_nothing(answered: Turn) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    for table in GUARDS:
        assert refused(f"DELETE FROM {table}"), table
        replace = f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}"
        truncate = f"TRUNCATE {table} CASCADE"
        assert refused(truncate if connection.vendor == "postgresql" else replace), table


@pytest.mark.django_db
def test_it_has_every_trigger() -> None:
    # SQLite alters a table by building a new one: its triggers are gone then. A migration that does
    # so to one of these ends with conversations.record.guards.guard() or review.audited.guard().
    query = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal",
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(query)
        result = {name for (name,) in cursor.fetchall()}
    for table in GUARDS:
        assert names(table, connection.vendor) <= result, table


def test_every_column_is_vouched_for_or_may_change() -> None:
    for vouched in registered():
        if vouched.kind == GRANT.kind:
            continue  # no rows of it are left
        model = vouched.rows().model
        columns = {field.attname for field in model._meta.concrete_fields}
        unseen = MAY_CHANGE_UNSEEN.get(vouched.kind, set()) | {"id"}
        unseen |= VOUCHED_AS_MORE.get(vouched.kind, set())
        assert columns - set(vouched.columns) - unseen == set(), vouched.kind
        assert set(vouched.columns) & (unseen - {"id"}) == set(), vouched.kind


def test_the_documentation_names_what_may_change() -> None:
    text = (Path(settings.BASE_DIR) / "docs" / "audit.md").read_text(encoding="utf-8")
    table = text.partition("## What the database refuses")[2]
    told_of = (columns for kind, columns in MAY_CHANGE_UNSEEN.items() if "turn_" not in kind)
    for columns in (*told_of, *(g.may_change for g in GUARDS.values())):
        for column in set(columns) - {"id", "content"}:
            assert f"`{column}`" in table, column
    for name in GUARDS:
        assert f"`{name}`" in table, name


def test_it_lets_go_only_what_an_erasure_was_recorded_for(answered: Turn) -> None:
    erase = "UPDATE conversations_turn SET text = '', language = '' WHERE text = %s"
    assert refused(erase, VISA)
    erasing.erase_session(session_id=answered.session_id)
    turn = Turn.objects.get(pk=answered.pk)
    assert (turn.text, turn.language, turn.risks) == ("", "", [])
    assert not Attempt.objects.filter(stage__turn=turn).exists()
    for model in (Reply, Attempt, Decision, SignOff):
        assert refused(f"DELETE FROM {model._meta.db_table}"), "another conversation's"
    assert refused("UPDATE conversations_turn SET text = 'again' WHERE text = ''")


def test_it_keeps_what_no_longer_stands(answered: Turn) -> None:
    span = EvidenceSpan.objects.order_by("pk")[0]
    EvidenceSpan.objects.filter(pk=span.pk).update(stands=False)
    assert not EvidenceSpan.objects.filter(pk=span.pk).exists()
    assert EvidenceSpan.recorded.filter(pk=span.pk).exists()
    table = EvidenceSpan._meta.db_table
    assert refused(f"UPDATE {table} SET stands = NOT stands WHERE id = %s", span.pk)
