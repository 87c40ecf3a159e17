"""Comparing the stored rows with what the events vouch for, some chains at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from uuid import UUID

from django.db import DatabaseError, transaction
from django.db.models import Exists, Max, Model, OuterRef

from ieim.audit import verify
from ieim.audit.audited import (
    AuditedModel,
    Discrepancy,
    Expected,
    Fault,
    Key,
    checks,
    registered,
)
from ieim.audit.canonical import is_recorded
from ieim.audit.models import AuditEvent, AuditHead
from ieim.audit.services import FOR_GOOD
from ieim.audit.verify import ChainReport

CHAINS, ROWS = 200, 4000
"""Chains, and rows that they vouch for, that are compared at once."""
_MESSAGES = {
    Fault.CHANGED: "{} {} was changed: its content is not what was recorded",
    Fault.MISSING: "{} {} is not there, though it was recorded",
    Fault.UNVOUCHED: "{} {} is not vouched for: no event says that it should be there",
    Fault.UNREADABLE: "{} {} cannot be read",
}
_UNKNOWN_ID = "?"
"""The id of a row that cannot be read, where nobody can say which one it is."""
# Raised by a driver, a column's converter or the digest for a value of another form.
_READ_ERRORS = (ValueError, TypeError, ArithmeticError, DatabaseError)

ChainKeys = Mapping[UUID, bytes]
"""The keys of chains, see :class:`ieim.audit.models.AuditHead`."""


class Comparison:
    """Collects the reports of all chains and returns the discrepancies at the end.

    On a running system a row may be written after its chain's events were read. So a discrepancy
    counts only if a second look confirms it (:func:`second_look`).

    ``chains``, ``events`` and ``rows`` count what was compared; rows are those that events name.
    """

    def __init__(self) -> None:
        self.chains = self.events = self.rows = 0
        self._suspects: set[UUID] = set()
        self._waiting: list[ChainReport] = []

    def add(self, report: ChainReport) -> None:
        """Take the next report."""
        self.chains += 1
        self.events += report.events
        self.rows += len(report.rows)
        self._waiting.append(report)
        if len(self._waiting) >= CHAINS or sum(len(r.rows) for r in self._waiting) >= ROWS:
            self._compare()

    def finish(self) -> Iterator[Discrepancy]:
        """Yield the discrepancies by chain; call it outside :func:`verify.reading`."""
        self._compare()
        self._suspects.update(_chains_without_events())
        for chain in sorted(self._suspects):
            yield from second_look(chain)
        for check in checks():
            yield from check()

    def _compare(self) -> None:
        self._suspects.update(UUID(fault.chain) for fault in compare(self._waiting))
        self._waiting = []


def second_look(chain: UUID) -> list[Discrepancy]:
    """Return the discrepancies of one chain.

    Suspected rows are compared again with the chain's head locked: a writer of such a row records
    an event in the same transaction, and waits. It waits for no more than the events since and
    those rows; a chain of staff can be years long.
    """
    last = AuditEvent.objects.filter(chain=chain).aggregate(last=Max("pk"))["last"] or 0
    with verify.reading():
        report = verify.verify(chain)
        suspects = {(fault.kind, fault.id) for fault in compare([report])}
    if not suspects:
        return []
    with transaction.atomic():
        list(AuditHead.objects.select_for_update().filter(pk=chain))
        verify.go_on(report, after=last)
        return list(compare([report], suspects))


def compare(
    reports: Sequence[ChainReport], suspects: Collection[Key] | None = None
) -> Iterator[Discrepancy]:
    """Yield how the rows of some chains differ from what their events vouch for.

    ``suspects`` are the rows to compare, None for all.
    """
    remaining: dict[UUID, Expected] = {}
    for report in reports:
        try:
            remaining[UUID(report.chain)] = dict(report.rows)
        except ValueError:
            continue  # The report says that the chain's id is none.
    heads = AuditHead.objects.filter(chain__in=remaining).values_list("chain", "key")
    keys = {chain: bytes(key) for chain, key in heads}
    for model in registered():
        ids = None if suspects is None else {id_ for kind, id_ in suspects if kind == model.kind}
        if ids == set():
            continue
        try:
            ids = None if ids and _UNKNOWN_ID in ids else ids
            yield from _compare_model(model, remaining, keys, ids)
        except _READ_ERRORS:
            for chain in remaining:
                yield from _compare_in_chain(model, chain, remaining[chain], keys)
    disposable = {model.kind for model in registered() if model.is_removable}
    for chain, expected in remaining.items():
        for (kind, id_), vouched in expected.items():
            if kind not in disposable and (suspects is None or (kind, id_) in suspects):
                yield _discrepancy(chain, kind, id_, Fault.MISSING, vouched.seq)


def _compare_model(
    model: AuditedModel,
    remaining: dict[UUID, Expected],
    keys: ChainKeys,
    ids: Collection[str] | None = None,
) -> list[Discrepancy]:
    """Compare the rows of a kind, and remove those that are stored from ``remaining``."""
    discrepancies = []
    seen: set[tuple[UUID, Key]] = set()
    for chain, row in model.rows_of_chains(list(remaining), ids):
        key = (model.kind, str(row.pk))
        vouched = remaining[chain].get(key)
        # SQLite can hold one UUID in two spellings: the second row is not the one recorded.
        if vouched is None or (chain, key) in seen:
            fault = None if model.is_blank(row) else Fault.UNVOUCHED
        else:
            fault = _fault(model, row, vouched.digest, keys.get(chain, b""))
        seen.add((chain, key))
        if fault:
            event = vouched.seq if vouched else 0
            discrepancies.append(_discrepancy(chain, *key, fault, event))
    for chain, key in seen:
        remaining[chain].pop(key, None)
    return discrepancies


def _fault(model: AuditedModel, row: Model, recorded: str | None, key: bytes) -> Fault | None:
    if recorded is None:
        assert model.is_tombstone is not None  # noqa: S101 - no other kind has tombstones
        return None if model.is_tombstone(row) else Fault.UNVOUCHED
    return None if is_recorded(model.row(row), recorded, key) else Fault.CHANGED


def _compare_in_chain(
    model: AuditedModel, chain: UUID, expected: Expected, keys: ChainKeys
) -> list[Discrepancy]:
    """Compare the rows of a kind, some of which cannot be read: one by one in their chain."""
    try:
        return _compare_model(model, {chain: expected}, keys)
    except _READ_ERRORS:
        discrepancies = []
        for kind, id_ in [key for key in expected if key[0] == model.kind]:
            fault: Fault | None = Fault.UNREADABLE
            with suppress(*_READ_ERRORS):
                row = model.rows().filter(pk=id_).first()
                if row is None:
                    continue
                fault = _fault(model, row, expected[kind, id_].digest, keys.get(chain, b""))
            event = expected.pop((kind, id_)).seq
            if fault:
                discrepancies.append(_discrepancy(chain, kind, id_, fault, event))
        if not any(discrepancy.fault is Fault.UNREADABLE for discrepancy in discrepancies):
            discrepancies.append(_discrepancy(chain, model.kind, _UNKNOWN_ID, Fault.UNREADABLE))
        return discrepancies


def _chains_without_events() -> Iterator[UUID]:
    """Yield the ids of chains that have no event, though rows of theirs are stored."""
    begun = set(AuditHead.objects.filter(chain__in=FOR_GOOD).values_list("chain", flat=True))
    for model in registered():
        if not model.chain_lookup:
            if model.default_chain not in begun and model.rows().exists():
                yield model.default_chain
        # Rows that hang on a row of another kind are found with its session. A session in which
        # nobody has said anything has no event.
        elif model.chain_lookup != "id" and "__" not in model.chain_lookup:
            events = AuditEvent.objects.filter(chain=OuterRef(model.chain_lookup))
            rows = model.rows().order_by().filter(~Exists(events))
            yield from rows.values_list(model.chain_lookup, flat=True).distinct()


def _discrepancy(chain: UUID, kind: str, id_: str, fault: Fault, event: int = 0) -> Discrepancy:
    source = f" (event {event} of {chain})" if event else ""
    message = _MESSAGES[fault].format(kind, id_) + source
    return Discrepancy(str(chain), kind, id_, fault, message, event)


def of_store(kind: str, ids: Iterable[str], fault: Fault) -> Iterator[Discrepancy]:
    """Yield discrepancies of a store that belongs to no chain."""
    for id_ in ids:
        yield Discrepancy("", kind, id_, fault, _MESSAGES[fault].format(kind, id_))
