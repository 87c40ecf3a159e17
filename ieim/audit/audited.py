"""Audited rows: the stored rows that events cover, each by the digest of its content.

An event's ``rows`` give the state of the database after it; the last event that names a row counts.
The apps that own the rows register what is hashed (:func:`register`); writing and verification use
the same registration.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import zip_longest
from typing import Any, NamedTuple
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import F, Model, QuerySet, UUIDField

from ieim.audit.canonical import GONE, Row, instant
from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import ERASED
from ieim.pipeline.canonical import digest

Key = tuple[str, str]
"""A row's kind and id."""


class Vouched(NamedTuple):
    """What the record says of a row: the ``digest`` of its content, by the event number ``seq``.

    None for the digest of what an erasure left as a tombstone, and :data:`ANY`.
    """

    digest: str | None
    seq: int


Expected = dict[Key, Vouched]
ANY = "any"
"""In the place of a digest: a version that did not vouch for the row has recorded its change."""


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
    """One row that is not as the record says; ``chain`` is the UUID as text, ``event`` the number
    of the event in it that says so, 0 for none."""

    chain: str
    kind: str
    id: str
    fault: Fault
    message: str
    event: int = 0


@dataclass(frozen=True, slots=True)
class AuditedModel:
    """A kind of row that events vouch for.

    ``rows`` gives all stored ones. ``columns`` are what never changes without an event, ``more``
    what else belongs to the content (parts that other tables hold). ``chain`` is the lookup from a
    row to its session's id, empty for rows of the chain ``home``. ``blank`` says of a row that it
    holds nothing yet, so that no event has to vouch for it; ``tombstone`` says that a row is as an
    erasure leaves it (None: an erasure removes such rows). ``once``: the content never changes, so
    that no second event may vouch for another. ``formerly`` is the kind by which events of earlier
    versions vouch for the same row: whichever of the two came last counts, but a later one of that
    kind takes nothing back that never changes. ``told`` are the kinds of events of earlier versions
    that say something of a row without naming it, with what finds its id and digest (or
    :data:`ANY`) in their payload, None where it does not. ``joined``: what was there before the
    kind was vouched for is vouched for as it was then (:mod:`ieim.audit.joining`). ``may_go``: such
    rows may be removed without an event. ``chunk`` rows are in memory at once.
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
    told: Mapping[str, Callable[[Mapping[str, Any]], tuple[str, str] | None]] = field(
        default_factory=dict
    )
    joined: bool = False
    may_go: bool = False
    home: UUID = SYSTEM_CHAIN
    chunk: int = 100

    def row(self, stored: Model, **more: Any) -> Row:
        """Return a row as events name it; ``more`` replaces what the attribute ``more`` adds."""
        values = {name: _plain(getattr(stored, name)) for name in self.columns}
        return (self.kind, str(stored.pk), digest(values | (more or dict(self.more(stored)))))

    def of_chains(
        self, chains: Sequence[UUID], ids: Collection[str] | None = None
    ) -> Iterator[tuple[UUID, Any]]:
        """Yield ``(chain, row)`` of what is stored under some chains, of ``home`` at least ``ids``
        (None: all)."""
        found = self.rows()
        if not self.chain:
            pk = found.model._meta.pk
            # SQLite can hold one UUID in two spellings, and finds only one of them.
            if ids is not None and not isinstance(pk, UUIDField):
                found = found.filter(pk__in=[key for each in ids for key in _keys(pk, each)])
            if self.home in chains:
                yield from ((self.home, row) for row in found.iterator(chunk_size=self.chunk))
            return
        found = found.filter(**{f"{self.chain}__in": chains}).annotate(of_chain=F(self.chain))
        yield from ((row.of_chain, row) for row in found.iterator(chunk_size=self.chunk))


_registered: dict[str, AuditedModel] = {}
_instead: dict[str, set[str]] = defaultdict(set)
"""By kind, those of the same row that no longer count once it is vouched for by that kind."""
_telling: dict[str, list[AuditedModel]] = defaultdict(list)
"""By kind of event, the models of whose rows it tells without naming them."""
Check = Callable[[], Iterable[Discrepancy]]
_checks: list[Check] = []


def register(*kinds: AuditedModel) -> None:
    """Let the record vouch for kinds of rows; called by each app when it is ready."""
    _registered.update((model.kind, model) for model in kinds)
    for model in kinds:
        for kind in model.told:
            _telling[kind].append(model)
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


VOUCHED_FROM = "audit.vouched_from"
"""The kind of the event that vouches for what was there before. In a chain that is no session's it
has to be the first that names rows."""


class SecondDigest(Exception):
    """An event vouches for another content of what never changes, or once more for what was there
    before."""


class ChangedBefore(Exception):
    """An event changes what was not as the record had it until then."""


def moved(before: Mapping[Key, str], after: Mapping[Key, str]) -> dict[str, Any]:
    """Return ``rows`` and ``were`` of an event for how rows have changed, with their digests."""
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    rows = [(*key, after.get(key, GONE)) for key in keys]
    return {"rows": rows, "were": [before.get(key) for key in keys]}


def note(expected: Expected, kind: str, payload: bytes, seq: int) -> None:
    """Add to ``expected`` what one event says.

    Raises ValueError for rows of another form, and once all is added :class:`SecondDigest`, with
    what was vouched for first left as it is, and :class:`ChangedBefore`.
    """
    wrong: list[Exception] = []
    if kind == ERASED:
        for key in list(expected):
            if key[0] in _registered and _registered[key[0]].tombstone is not None:
                expected[key] = Vouched(None, seq)
            else:
                del expected[key]
    if b'"rows":[' in payload or kind in _telling:
        # Only the payload's own: deeper down the name is anybody's.
        said = json.loads(payload)
        rows, were = said.get("rows", ()), said.get("were", ())
        if kind == VOUCHED_FROM and any(map(_is_named_at_home, expected.items())):
            wrong.append(SecondDigest("what was there before"))
        for row, was in zip_longest(rows, were[: len(rows)]):
            if len(row) != 3 or not all(isinstance(part, str) for part in row):
                raise ValueError("its rows are not kind, id and digest")
            wrong += _take(expected, (row[0], row[1]), row[2], was, seq)
        for model in _telling.get(kind, ()):
            found = model.told[kind](said)
            if found is not None:
                wrong += _take(expected, (model.kind, found[0]), found[1], None, seq)
    if wrong:
        raise wrong[0]


def _take(
    expected: Expected, key: Key, digest: str, was: str | None, seq: int
) -> Iterator[Exception]:
    """Add what an event says of one row, and yield what is wrong with that."""
    name, before = " ".join(key), expected.get(key)
    if was is not None and (before is None or before.digest not in (was, ANY)):
        yield ChangedBefore(name)
    model = _registered.get(key[0])
    if model is not None and model.once and before is not None and before.digest != digest:
        yield SecondDigest(name)
        return
    if digest == GONE:
        expected.pop(key, None)
        return
    expected[key] = Vouched(digest, seq)
    for other in _instead.get(key[0], ()):
        expected.pop((other, key[1]), None)


def _is_named_at_home(each: tuple[Key, Vouched]) -> bool:
    """Whether a row of a chain that is no session's was named with a digest."""
    (kind, _), vouched = each
    return kind in _registered and not _registered[kind].chain and vouched.digest != ANY


def _keys(pk: Any, id_: str) -> Iterator[Any]:
    """Yield the key of a row with this id; nothing for an id that no row can have."""
    with suppress(ValidationError):
        yield pk.clean(id_, None)


def _plain(value: Any) -> Any:
    """Return a column's value as JSON can hold it."""
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return instant(value)
    if isinstance(value, bytes | memoryview):
        return hashlib.sha256(value).hexdigest()
    return value
