"""Changing entries of the draft one by one, for the admin, files and the API.

Every change is one transaction: the rules of a bundle's rows, the references, the scope of the
person, the version that they saw, the history (:class:`Change`) and the audit event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from django.db import transaction
from django.utils.translation import gettext

from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.knowledge.bundles.rows import IDENTITY, Table
from ieim.people.models import User
from ieim.people.scope import agencies_of, works_for
from ieim.pipeline.canonical import digest
from ieim.studio.drafts.entries import (
    Entries,
    Problem,
    Problems,
    Values,
    column_values,
    dependants,
    removal_problem,
)
from ieim.studio.drafts.history import agency_of, change, stale_message
from ieim.studio.drafts.selectors import entry_name
from ieim.studio.drafts.sets import store_changes
from ieim.studio.drafts.translations import current_sources, stale_fields
from ieim.studio.models import Change, DraftEntry, Translation

Identity: TypeAlias = Mapping[str, str]
"""The columns of ``IDENTITY[table]`` and their values."""


class Stale(Exception):
    """The entry is not what the person saw; the message says who changed it and when."""


class OutOfScope(Exception):
    """The person does not work for that agency."""


class Invalid(Exception):
    """The values break a rule; ``problems`` is ``{column: [problem]}``."""

    def __init__(self, problems: Problems) -> None:
        texts = (problem.text for column in problems.values() for problem in column)
        super().__init__("; ".join(texts))
        self.problems = problems


class ManyInvalid(Exception):
    """Some of many edits break a rule; ``rows`` is ``{index of the edit: problems}``."""

    def __init__(self, rows: Mapping[int, Problems]) -> None:
        super().__init__(f"{len(rows)} of the rows break a rule")
        self.rows = rows


@dataclass(frozen=True, slots=True)
class Edit:
    """One entry as it should be; ``expected_version`` is None for a new one.

    ``values`` are a bundle's columns with natural ids (lists as lists, a threshold as Decimal or
    None), and ``position`` if that shall change. Columns left out stay as they are.
    """

    values: Mapping[str, Any]
    expected_version: int | None


def permits(scope: frozenset[str] | None, table: Table, owner: str, *, new: bool) -> bool:
    """Whether ``scope`` (see ``agencies_of``) lets somebody add or change an entry of ``owner``."""
    return scope is None or (owner in scope and not (new and table == "agencies"))


def problems_of(*, table: Table, edits: Sequence[Edit]) -> Mapping[int, Problems]:
    """Return what :func:`save_all` would refuse about the values themselves, by index of the edit.

    Nothing is saved.
    """
    return _checked(Entries(table, [edit.values for edit in edits]), edits)[0]


@transaction.atomic
def save(
    *,
    table: Table,
    values: Mapping[str, Any],
    by: User,
    expected_version: int | None,
    source: Change.Source,
) -> DraftEntry:
    """Add or change one entry (see :class:`Edit`) and return it as it now is.

    Values that change nothing leave no trace. Raises :class:`Invalid`, :class:`Stale` and
    :class:`OutOfScope`; then nothing has changed.
    """
    try:
        (entry,) = save_all(
            table=table, edits=[Edit(values, expected_version)], by=by, source=source
        )
    except ManyInvalid as error:
        raise Invalid(error.rows[0]) from error
    return entry


@transaction.atomic
def save_all(
    *, table: Table, edits: Sequence[Edit], by: User | None, source: Change.Source
) -> list[DraftEntry]:
    """Add and change many entries of one table, all or none; return them in the same order.

    ``by`` is None for the system itself.

    Raises :class:`ManyInvalid` with every problem, :class:`Stale` and :class:`OutOfScope` for the
    first of theirs; then nothing has changed.
    """
    lock_head(SYSTEM_CHAIN)
    entries = Entries(table, [edit.values for edit in edits])
    scope = None if by is None else agencies_of(by)
    for identity, edit in zip(entries.identities, edits, strict=True):
        before = entries.stored.get(identity)
        owner = agency_of(table, dict(zip(IDENTITY[table], identity, strict=True)))
        if not permits(scope, table, owner, new=before is None):
            raise OutOfScope(gettext("You do not work for that agency."))
        if edit.expected_version is not None and (
            before is None or before.version != edit.expected_version
        ):
            name = " ".join(filter(None, identity))
            raise Stale(stale_message(table, name))
    wrong, merged = _checked(entries, edits)
    if wrong:
        raise ManyInvalid(wrong)
    record_changes(table, entries.apply(merged, by=by, source=source), by, source)
    return entries.result()


@transaction.atomic
def remove(
    *,
    table: Table,
    identity: Identity,
    by: User | None,
    expected_version: int,
    source: Change.Source,
) -> None:
    """Remove an entry, with its translations and questions; ``by`` is None for the system.

    Raises :class:`Invalid` while something else refers to it (an agency with services, a category
    of a service), :class:`Stale` and :class:`OutOfScope`; then nothing has changed.
    """
    lock_head(SYSTEM_CHAIN)
    owner = "" if table == "agencies" else agency_of(table, identity)
    if by is not None and not works_for(by, owner):
        raise OutOfScope(gettext("You do not work for that agency."))
    entries = Entries(table, [identity])
    entry = entries.stored.get(entries.identities[0])
    if entry is None or entry.version != expected_version:
        raise Stale(stale_message(table, entry_name(table, identity)))
    if problem := removal_problem(table, identity):
        raise Invalid({IDENTITY[table][-1]: [Problem.of(problem)]})
    for group in (*dependants(table, identity), entries):
        removed: list[Change] = []
        for stored in group.stored.values():
            values = group.values_of(stored)
            removal = change(table=group.table, before=values, after=None, by=by, source=source)
            removed += [removal] if removal else []
            stored.delete()
        record_changes(group.table, removed, by, source)


@transaction.atomic
def confirm_translation(
    *, translation: Translation, by: User, expected_version: int, source: Change.Source
) -> None:
    """Count every text of a translation as made from the original as it is now.

    Raises :class:`Stale` and :class:`OutOfScope`; then nothing has changed.
    """
    lock_head(SYSTEM_CHAIN)
    if not works_for(by, translation.agency_id or ""):
        raise OutOfScope(gettext("You do not work for that agency."))
    values = column_values(translation)
    stored = Translation.objects.filter(pk=translation.pk, version=expected_version).first()
    if stored is None:
        raise Stale(stale_message("translations", entry_name("translations", values)))
    current = current_sources(stored)
    if stale := stale_fields(stored.sources, current):
        stored.sources, stored.version = current, expected_version + 1
        stored.save(update_fields=["sources", "version"])
        confirmed = change(
            table="translations",
            before={**values, "stale": stale},
            after={**values, "stale": ()},
            by=by,
            source=source,
        )
        record_changes("translations", [confirmed] if confirmed else [], by, source)


def _checked(entries: Entries, edits: Sequence[Edit]) -> tuple[dict[int, Problems], list[Values]]:
    return entries.check(new={i for i, edit in enumerate(edits) if edit.expected_version is None})


def record_changes(
    table: Table, changes: Sequence[Change], by: User | None, source: Change.Source
) -> None:
    """Store the changes of one table as history and one audit event."""
    if not changes:
        return
    store_changes(changes)
    kinds = [change.kind for change in changes]
    record_system(
        kind="knowledge.changed",
        payload={
            "table": table,
            "source": source.value,
            "entries": [change.entry for change in changes[:20]],
            **{kind.value: kinds.count(kind) for kind in Change.Kind},
            # The texts are in the history: the digest shows that they are still those.
            "sha256": digest([[c.entry, c.kind, c.fields] for c in changes]),
        },
        actor="system" if by is None else by.actor,
    )
