# ruff: noqa: S608 - the names put into statements are our own tables'
from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection, models, transaction

from ieim.audit.checkpoints import take_checkpoint
from ieim.audit.models import (
    AppendOnlyError,
    AuditCheckpoint,
    AuditEvent,
    AuditHead,
    CheckpointHead,
)
from ieim.audit.services import record_system

pytestmark = pytest.mark.both_databases

TABLES: list[type[models.Model]] = [AuditEvent, AuditHead, AuditCheckpoint, CheckpointHead]


@pytest.fixture(autouse=True)
def _something_in_each(chain: UUID) -> None:
    take_checkpoint()


def refused(statement: str, *params: Any, match: str = "is append-only") -> None:
    with (
        pytest.raises(IntegrityError, match=match),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, params)


def columns_of(model: type[models.Model]) -> list[str]:
    return [str(f.column) for f in model._meta.concrete_fields if f.column != "id"]


@pytest.mark.parametrize("model", TABLES)
def test_it_refuses_an_update_and_a_delete_in_the_database(model: type[models.Model]) -> None:
    table = model._meta.db_table
    column = "digest" if model is AuditCheckpoint else "hash"
    refused(f"UPDATE {table} SET {column} = 'x'", match=f"{table} is append-only: update refused")
    refused(f"DELETE FROM {table}", match=f"{table} is append-only: delete refused")


@pytest.mark.parametrize("model", TABLES)
@pytest.mark.postgres
def test_it_refuses_to_truncate(model: type[models.Model]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    refused(f"TRUNCATE {model._meta.db_table} CASCADE", match="is append-only: truncate refused")


@pytest.mark.parametrize("model", TABLES)
@pytest.mark.sqlite  # INSERT OR REPLACE
def test_it_refuses_to_replace(model: type[models.Model]) -> None:
    table = model._meta.db_table
    columns = ", ".join(columns_of(model))
    same = f"INSERT OR REPLACE INTO {table} ({columns}) SELECT {columns} FROM {table}"
    refused(same, match=f"{table} is append-only: insert refused")


@pytest.mark.parametrize("model", [AuditEvent, AuditHead, CheckpointHead])
@pytest.mark.sqlite  # INSERT OR REPLACE
def test_it_refuses_to_replace_through_the_rowid(model: type[models.Model]) -> None:
    table = model._meta.db_table
    columns = columns_of(model)
    values = ", ".join("'new'" if column == "chain" else column for column in columns)
    refused(
        f"INSERT OR REPLACE INTO {table} (rowid, {', '.join(columns)}) "
        f"SELECT rowid, {values} FROM {table}",
        match=f"{table} is append-only: insert refused",
    )


@pytest.mark.sqlite  # UPDATE OR REPLACE
def test_it_refuses_to_move_one_head_onto_another() -> None:
    refused(
        "UPDATE OR REPLACE audit_audithead SET seq = seq + 1, "
        "rowid = (SELECT max(rowid) FROM audit_audithead) "
        "WHERE rowid = (SELECT min(rowid) FROM audit_audithead)"
    )


@pytest.mark.parametrize("change", ["seq = seq + 2", "seq = seq - 1", "seq = seq"])
def test_it_moves_a_head_forward_by_one_only(change: str) -> None:
    refused(f"UPDATE audit_audithead SET {change}", match="audit_audithead is append-only")


def test_it_keeps_a_head_on_its_chain(chain: UUID) -> None:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        AuditHead.objects.filter(chain=chain).update(chain=uuid4(), seq=6)


@pytest.mark.parametrize("model", [AuditEvent, AuditCheckpoint, CheckpointHead])
def test_it_refuses_to_save_or_delete_a_stored_row(model: type[models.Model]) -> None:
    row = model._default_manager.first()
    assert row is not None

    with pytest.raises(AppendOnlyError, match="is stored for good"):
        row.save()
    with pytest.raises(AppendOnlyError, match="is stored for good"):
        row.delete()
    assert model._default_manager.filter(pk=row.pk).exists()


def test_it_is_guarded_again_after_the_tests_own_flush(
    lifted: Callable[[], AbstractContextManager[None]],
) -> None:
    with lifted():
        AuditEvent.objects.update(actor="staff:eve")
    record_system(kind="a.b", payload={}, actor="system")
    refused("UPDATE audit_auditevent SET actor = 'system'")
