"""Vouching for rows that were stored before their kind was audited: as they are at the upgrade.

``migrate`` does it at its end, when all tables are as this version has them. Rows of sessions are
vouched for in their own chains, and an interrupted run can be repeated. Rows of other chains make
the first event there that names rows; verification accepts no later one.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Exists, OuterRef

from ieim.audit.audited import VOUCHED_FROM, AuditedModel, registered
from ieim.audit.models import PEOPLE_CHAIN, AuditEvent
from ieim.audit.services import lock_head, record, record_each

BATCH: Final = 100
"""Conversations of one transaction."""


def is_complete(signal: dict[str, Any]) -> bool:
    """Whether a ``post_migrate`` signal came after a migration of everything.

    A flush sends it too, without a plan, and one app can be migrated alone.
    """
    executor = MigrationExecutor(connection)
    return "plan" in signal and not executor.migration_plan(executor.loader.graph.leaf_nodes())


def vouch_for_older_rows(**signal: Any) -> None:
    """Vouch for rows of before their kind was audited; a receiver of ``post_migrate``."""
    # Accounts come last: where theirs are vouched for, everything is.
    if not is_complete(signal) or _names_rows(PEOPLE_CHAIN):
        return
    models = [model for model in registered() if model.is_backfilled]
    for model in models:
        if model.chain_lookup:
            _vouch_in_sessions(model)
    chains = {model.default_chain for model in models if not model.chain_lookup}
    for chain in sorted(chains, key=lambda chain: chain == PEOPLE_CHAIN):
        _vouch_in_chain(chain, [model for model in models if model.default_chain == chain])


def _vouch_in_sessions(model: AuditedModel) -> None:
    events = AuditEvent.objects.filter(
        chain=OuterRef(model.chain_lookup), payload__contains=f'["{model.kind}",'
    )
    unvouched = model.rows().filter(~Exists(events)).order_by("pk").iterator(chunk_size=BATCH)
    while batch := list(islice(unvouched, BATCH)):
        # Locked, because one that is erased meanwhile may not be vouched for as it was.
        with transaction.atomic():
            # Keys stay free, as wherever sessions are locked: a running turn shares its session's.
            stored = model.rows().select_for_update(no_key=True)
            stored = stored.filter(pk__in=[row.pk for row in batch])
            rows = {
                getattr(row, model.chain_lookup): [model.row(row)]
                for row in stored.order_by("pk")
                if model.is_tombstone is None or not model.is_tombstone(row)
            }
            record_each(kind=VOUCHED_FROM, rows=rows)


@transaction.atomic
def _vouch_in_chain(chain: UUID, models: list[AuditedModel]) -> None:
    models = [model for model in models if not model.chain_lookup]
    if not any(model.rows().exists() for model in models):
        return
    lock_head(chain)
    if not _names_rows(chain):
        rows = [
            model.row(row)
            for model in models
            for row in model.rows().iterator(chunk_size=model.chunk_size)
        ]
        record(chain=chain, kind=VOUCHED_FROM, payload={}, actor="system", rows=rows)


def _names_rows(chain: UUID) -> bool:
    return AuditEvent.objects.filter(chain=chain, payload__contains='"rows":[').exists()
