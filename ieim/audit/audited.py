"""Audited rows: the stored rows that events cover, each by the digest of its content.

An event's ``rows`` give the state of the database after it; the last event that names a row counts.
The apps that own the rows register what is hashed (:func:`register`); writing and verification use
the same registration.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import F, Model, QuerySet

from ieim.audit.canonical import Row, instant
from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import ERASED
from ieim.pipeline.canonical import digest

Key = tuple[str, str]
"""A row's kind and id."""
Expected = dict[Key, str | None]
"""The digests of rows; None for what an erasure left as a tombstone."""


class Fault(StrEnum):
    """What can be wrong with a stored row."""

    CHANGED = "changed"
    """Its content is not what was recorded."""
    MISSING = "missing"
    """It was recorded and is not there."""
    UNVOUCHED = "unvouched"
    """It is there, and no event vouches for it."""
    UNREADABLE = "unreadable"
    """A stored value is not of the form that its column holds."""


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """One row that is not as the record says; ``chain`` is the UUID as text."""

    chain: str
    kind: str
    id: str
    fault: Fault
    message: str


@dataclass(frozen=True, slots=True)
class AuditedModel:
    """A kind of row that events vouch for.

    ``rows`` gives all stored ones. ``columns`` are what never changes without an event, ``more``
    what else belongs to the content (parts that other tables hold). ``chain`` is the lookup from a
    row to its session's id, empty for rows of the system chain. ``blank`` says of a row that it
    holds nothing yet, so that no event has to vouch for it; ``tombstone`` says that a row is as an
    erasure leaves it (None: an erasure removes such rows). ``once``: the content never changes, so
    that no second event may vouch for another. ``formerly`` is the kind by which events of earlier
    versions vouch for the same row: whichever of the two came last counts, but a later one of that
    kind takes nothing back that never changes. ``chunk`` rows are in memory at once.
    """

    kind: str
    rows: Callable[[], QuerySet[Any]]
    columns: Sequence[str]
    chain: str = ""
    more: Callable[[Any], Mapping[str, Any]] = lambda row: {}
    blank: Callable[[Any], bool] = lambda row: False
    tombstone: Callable[[Any], bool] | None = None
    once: bool = False
    formerly: str = ""
    chunk: int = 100

    def row(self, stored: Model, **more: Any) -> Row:
        """Return a row as events name it; ``more`` replaces what the attribute ``more`` adds."""
        values = {name: _plain(getattr(stored, name)) for name in self.columns}
        return (self.kind, str(stored.pk), digest(values | (more or dict(self.more(stored)))))

    def of_chains(self, chains: Sequence[UUID]) -> Iterator[tuple[UUID, Any]]:
        """Yield ``(chain, row)`` of what is stored under some chains."""
        found = self.rows()
        if not self.chain:
            if SYSTEM_CHAIN in chains:
                yield from ((SYSTEM_CHAIN, row) for row in found.iterator(chunk_size=self.chunk))
            return
        found = found.filter(**{f"{self.chain}__in": chains}).annotate(of_chain=F(self.chain))
        yield from ((row.of_chain, row) for row in found.iterator(chunk_size=self.chunk))


_registered: dict[str, AuditedModel] = {}
_instead: dict[str, set[str]] = defaultdict(set)
"""By kind, those of the same row that no longer count once it is vouched for by that kind."""
Check = Callable[[], Iterable[Discrepancy]]
_checks: list[Check] = []


def register(*kinds: AuditedModel) -> None:
    """Let the record vouch for kinds of rows; called by each app when it is ready."""
    _registered.update((model.kind, model) for model in kinds)
    for model in kinds:
        if model.formerly:
            _instead[model.kind].add(model.formerly)
            if not model.once:
                _instead[model.formerly].add(model.kind)


def register_check(check: Check) -> None:
    """Add a check of what belongs to no chain, such as stores by digest."""
    if check not in _checks:
        _checks.append(check)


def registered() -> Sequence[AuditedModel]:
    """Return every kind that the record vouches for."""
    return tuple(_registered.values())


def checks() -> Sequence[Check]:
    """Return every registered check."""
    return tuple(_checks)


class SecondDigest(Exception):
    """An event vouches for another content of what never changes."""


def note(expected: Expected, kind: str, payload: bytes) -> None:
    """Add to ``expected`` what one event says; raises ValueError for rows of another form, and
    :class:`SecondDigest`, with what was vouched for first left as it is."""
    second = ""
    if kind == ERASED:
        for key in list(expected):
            if key[0] in _registered and _registered[key[0]].tombstone is not None:
                expected[key] = None
            else:
                del expected[key]
    if b'"rows":[' in payload:
        # Only the payload's own: deeper down the name is anybody's.
        for row in json.loads(payload).get("rows", ()):
            if len(row) != 3 or not all(isinstance(part, str) for part in row):
                raise ValueError("its rows are not kind, id and digest")
            key, digest = (row[0], row[1]), row[2]
            model = _registered.get(row[0])
            if model is not None and model.once and expected.get(key, digest) != digest:
                second = second or f"{row[0]} {row[1]}"
                continue
            expected[key] = digest
            for other in _instead.get(row[0], ()):
                expected.pop((other, row[1]), None)
    if second:
        raise SecondDigest(second)


def _plain(value: Any) -> Any:
    """Return a column's value as JSON can hold it."""
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return instant(value)
    if isinstance(value, bytes | memoryview):
        return hashlib.sha256(value).hexdigest()
    return value
