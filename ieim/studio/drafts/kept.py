"""The draft and proposals as releases, to look at: read once, until something changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import transaction

from ieim.audit.models import SYSTEM_CHAIN, AuditEvent
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.checks import check_row
from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import TABLES, Row
from ieim.pipeline.knowledge import Release
from ieim.studio.checks import Remark, Severity
from ieim.studio.drafts.history import agency_of
from ieim.studio.drafts.selectors import DRAFT_MODELS, entry_name
from ieim.studio.models import Proposal

Value = TypeVar("Value")

_CHANGES = ("knowledge.changed", "knowledge.imported")
"""Every change of the draft ends with one of these events."""
_KEPT = 3


@dataclass(frozen=True, slots=True)
class Draft:
    """The draft with all its faults. ``faults`` are what cannot be told of a bundle: entries that
    break a rule of their table (their good columns are in ``bundle`` all the same)."""

    bundle: Bundle
    release: Release
    faults: tuple[Remark, ...]


class _Kept:
    """The last few values by key, each made once; safe in several threads."""

    def __init__(self) -> None:
        self._values: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, make: Callable[[], Value]) -> Value:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                found: Value = self._values[key]
                return found
        value = make()
        with self._lock:
            self._values[key] = value
            while len(self._values) > _KEPT:
                self._values.popitem(last=False)
        return value


_drafts, _proposals = _Kept(), _Kept()


def draft() -> Draft:
    """Return the draft as it is now."""
    # The event before the rows: so a change in between is seen the next time.
    events = AuditEvent.objects.filter(chain=SYSTEM_CHAIN, kind__in=_CHANGES).order_by("-seq")
    newest = events.values_list("hash", flat=True).first()
    return _read() if newest is None else _drafts.get(str(newest), _read)


def release_of(proposal: Proposal) -> Release:
    """Return what is proposed, as a release without a number."""

    def read() -> Release:
        return Bundle.from_content(proposal.content).release()

    return _proposals.get(proposal.sha256, read)


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
    bundle = Bundle.from_content(content)
    return Draft(bundle, bundle.release(), tuple(broken))
