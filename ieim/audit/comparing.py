"""Comparing what is stored with what the events vouch for, some chains at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from django.db import DatabaseError, transaction
from django.db.models import Exists, Max, Model, OuterRef

from ieim.audit import verify
from ieim.audit.audited import (
    ANY,
    AuditedModel,
    Discrepancy,
    Expected,
    Fault,
    Key,
    Vouched,
    checks,
    registered,
)
from ieim.audit.canonical import stands
from ieim.audit.models import AuditEvent, AuditHead
from ieim.audit.services import FOR_GOOD
from ieim.audit.verify import ChainReport

CHAINS, ROWS = 200, 4000
"""Chains, and rows that they vouch for, that are compared at once."""
_SAYS = {
    Fault.CHANGED: "{} {} was changed: its content is not what was recorded",
    Fault.MISSING: "{} {} is not there, though it was recorded",
    Fault.UNVOUCHED: "{} {} is not vouched for: no event says that it should be there",
    Fault.UNREADABLE: "{} {} cannot be read",
}
_WHICH = "?"
"""In the place of an id, where it cannot be said of which row something cannot be read."""
# What a driver, a column's converter or the digest raises over a value that is none.
_UNREADABLE = (ValueError, TypeError, ArithmeticError, DatabaseError)


Keys = Mapping[UUID, bytes]
"""The keys of chains, see :class:`ieim.audit.models.AuditHead`."""


class Comparison:
    """Collects the reports of all chains and returns the faults at the end.

    On a running system a row may be written after its chain's events were read. A suspected fault
    is therefore noted only, and looked at once more (:func:`second_look`).
    """

    def __init__(self) -> None:
        self.chains = self.events = self.rows = 0
        """How many there were; rows are those that the events vouch for."""
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
        """Yield what does not hold, by chain; call it outside :func:`verify.reading`."""
        self._compare()
        self._suspects.update(_without_events())
        for chain in sorted(self._suspects):
            yield from second_look(chain)
        for check in checks():
            yield from check()

    def _compare(self) -> None:
        self._suspects.update(UUID(found.chain) for found in compare(self._waiting))
        self._waiting = []


def second_look(chain: UUID) -> list[Discrepancy]:
    """Return the faults of one chain.

    Those that are suspected are checked with the chain's head locked: a writer of such a row
    records an event in the same transaction, and waits. It waits for no more than the events since
    and those rows; a chain of staff can be years long.
    """
    last = AuditEvent.objects.filter(chain=chain).aggregate(last=Max("pk"))["last"] or 0
    with verify.reading():
        report = verify.verify(chain)
        suspects = {(found.kind, found.id) for found in compare([report])}
    if not suspects:
        return []
    with transaction.atomic():
        list(AuditHead.objects.select_for_update().filter(pk=chain))
        verify.go_on(report, after=last)
        return list(compare([report], suspects))


def compare(
    reports: Sequence[ChainReport], suspects: Collection[Key] | None = None
) -> Iterator[Discrepancy]:
    """Yield how the rows of some chains differ from what their events vouch for; None: all rows."""
    left: dict[UUID, Expected] = {}
    for report in reports:
        try:
            left[UUID(report.chain)] = dict(report.rows)
        except ValueError:
            continue  # A chain's id that is none: its report says so.
    heads = AuditHead.objects.filter(chain__in=left).values_list("chain", "key")
    keys = {chain: bytes(key) for chain, key in heads}
    for model in registered():
        ids = None if suspects is None else {id_ for kind, id_ in suspects if kind == model.kind}
        if ids == set():
            continue
        try:
            yield from _of_kind(model, left, keys, None if ids and _WHICH in ids else ids)
        except _UNREADABLE:
            for chain in left:
                yield from _of_one_chain(model, chain, left[chain], keys)
    may_go = {model.kind for model in registered() if model.may_go}
    for chain, expected in left.items():
        for (kind, id_), vouched in expected.items():
            if suspects is not None and (kind, id_) not in suspects:
                continue
            # Of what a version before recorded nobody knows whether it stayed.
            if kind not in may_go and vouched.digest != ANY:
                yield _found(chain, kind, id_, Fault.MISSING, vouched.seq)


def _of_kind(
    model: AuditedModel,
    left: dict[UUID, Expected],
    keys: Keys,
    ids: Collection[str] | None = None,
) -> list[Discrepancy]:
    """Compare the rows of a kind, and strike out of ``left`` what was there."""
    found = []
    seen: set[tuple[UUID, Key]] = set()
    vouched: Vouched | None
    for chain, row in model.of_chains(list(left), ids):
        key = (model.kind, str(row.pk))
        # SQLite can hold one UUID in two spellings: the second row is not the one recorded.
        vouched = left[chain].get(key)
        if vouched is None or (chain, key) in seen:
            before = (model.formerly, key[1]) in left[chain]
            fault = None if before or model.blank(row) else Fault.UNVOUCHED
        else:
            fault = _fault(model, row, vouched.digest, keys.get(chain, b""))
        seen.add((chain, key))
        if fault is not None:
            found.append(_found(chain, *key, fault, vouched.seq if vouched else 0))
    for chain, key in seen:
        left[chain].pop(key, None)
    return found


def _fault(model: AuditedModel, row: Model, recorded: str | None, key: bytes) -> Fault | None:
    if recorded is None:
        assert model.tombstone is not None  # noqa: S101 - only such rows are left
        return None if model.tombstone(row) else Fault.UNVOUCHED
    as_recorded = recorded == ANY or stands(model.row(row), recorded, key)
    return None if as_recorded else Fault.CHANGED


def _of_one_chain(
    model: AuditedModel, chain: UUID, left: Expected, keys: Keys
) -> list[Discrepancy]:
    """Compare a kind of which something cannot be read: row by row in the chain that has it."""
    try:
        return _of_kind(model, {chain: left}, keys)
    except _UNREADABLE:
        found = [*_one_by_one(model, chain, left, keys.get(chain, b""))]
        unreadable = any(each.fault is Fault.UNREADABLE for each in found)
        return (
            found if unreadable else [*found, _found(chain, model.kind, _WHICH, Fault.UNREADABLE)]
        )


def _one_by_one(
    model: AuditedModel, chain: UUID, left: Expected, key: bytes
) -> Iterator[Discrepancy]:
    for kind, id_ in [key for key in left if key[0] == model.kind]:
        try:
            row = model.rows().filter(pk=id_).first()
            if row is None:
                continue
            fault = _fault(model, row, left[(kind, id_)].digest, key)
        except _UNREADABLE:
            fault = Fault.UNREADABLE
        event = left.pop((kind, id_)).seq
        if fault is not None:
            yield _found(chain, kind, id_, fault, event)


def _without_events() -> Iterator[UUID]:
    """Yield the ids of chains that have no event, of whose rows there may be some."""
    told = set(AuditHead.objects.filter(chain__in=FOR_GOOD).values_list("chain", flat=True))
    for model in registered():
        if not model.chain:
            if model.home not in told and model.rows().exists():
                yield model.home
        # What hangs on a row of another kind is found with that one's session, and a session in
        # which nobody has said anything has no event.
        elif model.chain != "id" and "__" not in model.chain:
            events = AuditEvent.objects.filter(chain=OuterRef(model.chain))
            bare = model.rows().order_by().filter(~Exists(events))
            yield from bare.values_list(model.chain, flat=True).distinct()


def _found(chain: UUID, kind: str, id_: str, fault: Fault, event: int = 0) -> Discrepancy:
    says = _SAYS[fault].format(kind, id_) + (f" (event {event} of {chain})" if event else "")
    return Discrepancy(str(chain), kind, id_, fault, says, event)


def of_store(kind: str, ids: Iterable[str], fault: Fault) -> Iterator[Discrepancy]:
    """Yield faults of a store that belongs to no chain."""
    for id_ in ids:
        yield Discrepancy("", kind, id_, fault, _SAYS[fault].format(kind, id_))
