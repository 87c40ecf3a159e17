"""The draft as a release, read once until something changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import transaction

from ieim.audit.models import SYSTEM_CHAIN, AuditEvent
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.columns import COLUMNS, check_row
from ieim.knowledge.bundles.rows import TABLES, Row
from ieim.pipeline.knowledge import Release
from ieim.studio.checks import Remark, Severity
from ieim.studio.drafts.history import agency_of
from ieim.studio.drafts.selectors import entry_name
from ieim.studio.drafts.translations import with_stale
from ieim.studio.models import DRAFT_MODELS

_CHANGES = ("knowledge.changed", "knowledge.imported", "knowledge.merged")
"""Every change of the draft ends with one of these events."""
_CACHED = 3


@dataclass(frozen=True, slots=True)
class Draft:
    """The draft with all its faults. ``faults`` are entries that break a rule of their table; their
    good columns are in ``bundle`` all the same."""

    bundle: Bundle
    release: Release
    faults: tuple[Remark, ...]


def draft() -> Draft:
    # The event before the rows: so a change in between is seen the next time.
    events = AuditEvent.objects.filter(chain=SYSTEM_CHAIN, kind__in=_CHANGES).order_by("-seq")
    newest = events.values_list("hash", flat=True).first()
    return _read() if newest is None else _cached_draft(str(newest))


@lru_cache(maxsize=_CACHED)
def _cached_draft(event: str) -> Draft:
    return _read()


@transaction.atomic
def _read() -> Draft:
    content: dict[str, list[Mapping[str, Any]]] = {}
    broken: list[Remark] = []
    for table in TABLES:
        content[table] = []
        for row in DRAFT_MODELS[table]._default_manager.values(*COLUMNS[table]):
            name = entry_name(table, row)
            values, problems = check_row(table, Row(name, None, row))
            content[table].append(values)
            broken += [
                Remark(
                    code="entry.invalid",
                    severity=Severity.ERROR,
                    table=table,
                    entry=name,
                    agency=agency_of(table, row),
                    sentence=f"{problem.message[:1].upper()}{problem.message[1:]}.",
                )
                for problem in problems
            ]
    if not content["services"]:
        sentence = "The draft has no services: add some."
        broken.append(Remark("draft.empty", Severity.ERROR, "services", "", "", sentence))
    bundle = with_stale(Bundle.from_content(content))
    return Draft(bundle, bundle.release(), tuple(broken))
