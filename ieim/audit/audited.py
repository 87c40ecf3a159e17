"""Audited rows: the stored rows that events vouch for, each by the digest of its content.

An event's ``rows`` give the state of the database after it; the last event that names a row counts.
The apps that own the rows register what is hashed (:func:`register`); writing and verification use
the same registration.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
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

VOUCHED_FROM = "audit.vouched_from"
"""The kind of the event that vouches for rows which were stored before their kind was audited. In
a chain of no session it has to be the first event that names rows."""
RESTATED = "audit.restated"
"""The kind of the event that names the rows of an older event in today's form."""

Key = tuple[str, str]
"""A row's kind and id."""


class Vouched(NamedTuple):
    """The recorded ``digest`` of a row's content and the number of the event that names it.

    The digest is None for a tombstone, the row that an erasure leaves.
    """

    digest: str | None
    seq: int


Expected = dict[Key, Vouched]


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
    """A row that is not as the record says.

    ``chain`` is the UUID as text, ``event`` the number of its event that names the row, 0 for none.
    """

    chain: str
    kind: str
    id: str
    fault: Fault
    message: str
    event: int = 0


@dataclass(frozen=True, slots=True)
class AuditedModel:
    """A kind of row that events vouch for.

    - ``rows``: all stored rows.
    - ``columns``: columns that never change without an event; ``related`` adds the parts of the
      content that other tables hold.
    - ``chain_lookup``: the lookup from a row to its session's id, empty for rows of
      ``default_chain``.
    - ``is_blank``: whether a row holds nothing yet, so that no event has to vouch for it.
    - ``is_tombstone``: whether a row is as an erasure leaves it; None where an erasure removes it.
    - ``is_immutable``: the content never changes, so no second event may vouch for another one.
    - ``former_kind``: the kind by which events of before 0.3 name the same row.
    - ``is_backfilled``: rows of before the kind was audited are vouched for as they are at the
      upgrade (:mod:`ieim.audit.upgrading`).
    - ``is_removable``: rows may be removed without an event.
    - ``chunk_size``: rows in memory at once.
    """

    kind: str
    rows: Callable[[], QuerySet[Any]]
    columns: Sequence[str]
    chain_lookup: str = ""
    related: Callable[[Any], Mapping[str, Any]] = lambda row: {}
    is_blank: Callable[[Any], bool] = lambda row: False
    is_tombstone: Callable[[Any], bool] | None = None
    is_immutable: bool = False
    former_kind: str = ""
    is_backfilled: bool = False
    is_removable: bool = False
    default_chain: UUID = SYSTEM_CHAIN
    chunk_size: int = 100

    def row(self, stored: Model, **related: Any) -> Row:
        """Return the row that events name; ``related`` replaces what that attribute adds."""
        values = {name: _plain(getattr(stored, name)) for name in self.columns}
        return (self.kind, str(stored.pk), digest(values | (related or dict(self.related(stored)))))

    def rows_of_chains(
        self, chains: Sequence[UUID], ids: Collection[str] | None = None
    ) -> Iterator[tuple[UUID, Any]]:
        """Yield ``(chain, row)`` of the rows of some chains.

        Of ``default_chain`` at least the rows with these ``ids``, None for all.
        """
        rows = self.rows()
        if self.chain_lookup:
            rows = rows.filter(**{f"{self.chain_lookup}__in": chains}).annotate(
                of_chain=F(self.chain_lookup)
            )
            yield from ((row.of_chain, row) for row in rows.iterator(chunk_size=self.chunk_size))
        elif self.default_chain in chains:
            primary_key = rows.model._meta.pk
            # SQLite can hold one UUID in two spellings, and finds only one of them.
            if ids is not None and not isinstance(primary_key, UUIDField):
                rows = rows.filter(pk__in=list(_clean(primary_key, ids)))
            yield from (
                (self.default_chain, row) for row in rows.iterator(chunk_size=self.chunk_size)
            )


_models: dict[str, AuditedModel] = {}
_former_kinds: dict[str, AuditedModel] = {}
Check = Callable[[], Iterable[Discrepancy]]
_checks: list[Check] = []


def register(*models: AuditedModel) -> None:
    """Let the record vouch for kinds of rows; called by each app when it is ready."""
    _models.update((model.kind, model) for model in models)
    _former_kinds.update((model.former_kind, model) for model in models if model.former_kind)


def register_check(check: Check) -> None:
    """Add a check of rows that belong to no chain, such as stores by digest."""
    if check not in _checks:
        _checks.append(check)


def registered() -> Sequence[AuditedModel]:
    """Return every kind that the record vouches for."""
    return tuple(_models.values())


def checks() -> Sequence[Check]:
    """Return every registered check."""
    return tuple(_checks)


class SecondDigest(Exception):
    """An event vouches for another content of a row that never changes, or a second time for rows
    of before their kind was audited."""


class ChangedBefore(Exception):
    """An event changes a row that was not as the record had it until then."""


def moved(before: Mapping[Key, str], after: Mapping[Key, str]) -> dict[str, Any]:
    """Return the ``rows`` and ``were`` of an event, from the digests before and after a change."""
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    rows = [(*key, after.get(key, GONE)) for key in keys]
    return {"rows": rows, "were": [before.get(key) for key in keys]}


def add_event(expected: Expected, kind: str, payload: bytes, seq: int) -> None:
    """Add the rows that an event names to ``expected``.

    Raises:
        ValueError: ``rows`` is of another form.
        SecondDigest, ChangedBefore: all the same everything is added, but for a second digest.
    """
    problems: list[Exception] = []
    if kind == ERASED:
        for key in list(expected):
            model = _models.get(key[0]) or _former_kinds.get(key[0])
            del expected[key]
            if model and model.is_tombstone:
                expected[model.kind, key[1]] = Vouched(None, seq)
    if b'"rows":[' in payload:
        # The payload's own member alone: deeper down the name has no meaning.
        fields = json.loads(payload)
        rows, previous_digests = fields.get("rows", ()), fields.get("were", ())
        if kind == VOUCHED_FROM and any(map(_is_of_no_session, expected)):
            problems.append(SecondDigest("what was there before"))
        for row, previous in zip_longest(rows, previous_digests[: len(rows)]):
            if len(row) != 3 or not all(isinstance(part, str) for part in row):
                raise ValueError("its rows are not kind, id and digest")
            problems += _add_row(expected, (row[0], row[1]), row[2], previous, seq)
    if problems:
        raise problems[0]


def _add_row(
    expected: Expected, key: Key, digest: str, previous: str | None, seq: int
) -> Iterator[Exception]:
    """Add a row of an event, and yield what is wrong with it."""
    name, current = " ".join(key), expected.get(key)
    if previous is not None and (current is None or current.digest != previous):
        yield ChangedBefore(name)
    model = _models.get(key[0])
    if model and model.is_immutable and current and current.digest != digest:
        yield SecondDigest(name)
    elif digest == GONE:
        expected.pop(key, None)
    else:
        expected[key] = Vouched(digest, seq)


def _is_of_no_session(key: Key) -> bool:
    return key[0] in _models and not _models[key[0]].chain_lookup


def _clean(primary_key: Any, ids: Iterable[str]) -> Iterator[Any]:
    """Yield ids as values of the primary key, without those that no row can have."""
    for id_ in ids:
        with suppress(ValidationError):
            yield primary_key.clean(id_, None)


def _plain(value: Any) -> Any:
    """Return a column's value as JSON can hold it."""
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return instant(value)
    if isinstance(value, bytes | memoryview):
        return hashlib.sha256(value).hexdigest()
    return value
