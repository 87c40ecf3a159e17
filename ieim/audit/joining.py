"""Vouching for what was there before its kind was vouched for: as it is then, and once.

``migrate`` does it at its end, when all tables are as this version has them. Rows of sessions are
vouched for in their own chains; an interrupted run is taken up again. Those of other chains make
the first event of theirs that names rows, which is all that verification takes.
"""

from __future__ import annotations

from itertools import groupby, islice
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Exists, OuterRef

from ieim.audit.audited import VOUCHED_FROM, AuditedModel, registered
from ieim.audit.models import PEOPLE_CHAIN, AuditEvent
from ieim.audit.services import lock_head, record, record_each

_SESSIONS: Final = 100
"""Conversations of one transaction."""


def join(**signal: Any) -> None:
    """Vouch for what is there; for Django's ``post_migrate``. Again is no change."""
    executor = MigrationExecutor(connection)
    # A flush sends the signal too, without a plan; and somebody may migrate one app alone.
    if "plan" not in signal or executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return
    # Accounts come last: where theirs are vouched for, everything is.
    if _names_rows(PEOPLE_CHAIN):
        return
    kinds = [model for model in registered() if model.joined]
    for model in kinds:
        if model.chain:
            _join_sessions(model)
    homes = sorted((model for model in kinds if not model.chain), key=attrgetter("home"))
    by_home = {home: list(found) for home, found in groupby(homes, key=attrgetter("home"))}
    for home in sorted(by_home, key=lambda home: home == PEOPLE_CHAIN):
        _join_home(home, by_home[home])


def _join_sessions(model: AuditedModel) -> None:
    named = AuditEvent.objects.filter(
        chain=OuterRef(model.chain), payload__contains=f'["{model.kind}",'
    )
    waiting = model.rows().filter(~Exists(named)).order_by("pk").iterator(chunk_size=_SESSIONS)
    while batch := list(islice(waiting, _SESSIONS)):
        # One that is erased meanwhile may not be vouched for as it was.
        with transaction.atomic():
            # Keys stay free, as wherever sessions are locked: a running turn shares its session's.
            stored = model.rows().select_for_update(no_key=True)
            stored = stored.filter(pk__in=[row.pk for row in batch])
            rows = {
                getattr(row, model.chain): model.row(row)
                for row in stored.order_by("pk")
                if model.tombstone is None or not model.tombstone(row)
            }
            record_each(kind=VOUCHED_FROM, rows=rows)


@transaction.atomic
def _join_home(home: UUID, kinds: list[AuditedModel]) -> None:
    if not any(model.rows().exists() for model in kinds):
        return
    lock_head(home)
    if not _names_rows(home):
        rows = [
            model.row(row)
            for model in kinds
            for row in model.rows().iterator(chunk_size=model.chunk)
        ]
        record(chain=home, kind=VOUCHED_FROM, payload={}, actor="system", rows=rows)


def _names_rows(chain: UUID) -> bool:
    return AuditEvent.objects.filter(chain=chain, payload__contains='"rows":[').exists()
