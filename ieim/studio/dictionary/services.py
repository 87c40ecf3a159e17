"""Moving services between the categories of one agency, and merging and splitting categories.

Each is planned first: a plan can be shown before it is carried out, all or nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from django.db import transaction
from django.utils.text import slugify
from django.utils.translation import gettext

from ieim.people.models import User
from ieim.studio.drafts import editing
from ieim.studio.drafts.entries import dependants
from ieim.studio.drafts.history import stale_message
from ieim.studio.models import Category, Change, DraftEntry, Service, Translation

Seen: TypeAlias = Mapping[tuple[str, str], int]
"""The versions that somebody has seen, by table and key within the agency."""


class Refused(Exception):
    """It cannot be done; ``reasons`` are sentences."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__(" ".join(reasons))
        self.reasons = reasons


@dataclass(frozen=True, slots=True)
class Planned:
    """An entry and what becomes of it: its columns that change, None where it is removed."""

    entry: Category | Service
    columns: dict[str, Any] | None

    @property
    def name(self) -> str:
        return f"{self.entry.agency_id} {self.entry.key}"


Plan: TypeAlias = Sequence[Planned]


def plan_move(*, agency: str, leaves: Mapping[str, Collection[str]], into: str) -> Plan:
    """Plan to put services into the category ``into``.

    ``leaves`` are the categories that each service, by its key, leaves; they may be none.
    """
    _category(agency, into)
    return _moves(agency, leaves, into)


def plan_merge(*, agency: str, category: str, into: str) -> Plan:
    """Plan to let ``into`` take over the services, the name and the keywords of ``category``, which
    is removed."""
    lost, target = _category(agency, category), _category(agency, into)
    if lost == target:
        raise Refused([gettext("Choose another category than the one that is merged.")])
    rows = Service.objects.filter(agency=agency)
    leaves = {row.key: (category,) for row in rows if category in row.categories}
    words = {word.casefold(): word for word in (lost.value, *lost.keywords) if word}
    for word in (target.value, *target.keywords):
        words.pop(word.casefold(), None)
    return [
        Planned(target, {"keywords": [*target.keywords, *words.values()]}),
        *(_moves(agency, leaves, into) if leaves else ()),
        Planned(lost, None),
    ]


def plan_split(
    *,
    agency: str,
    category: str,
    value: str,
    key: str,
    services: Collection[str],
    keywords: Collection[str],
) -> Plan:
    """Plan to put ``services`` and ``keywords`` of ``category`` into a new one; its key is made of
    its name (``value``) where none is given."""
    origin = _category(agency, category)
    key = key.strip() or slugify(value, allow_unicode=True)
    if not value.strip() or not key:
        raise Refused([gettext("Name the new category.")])
    unknown = [word for word in keywords if word not in origin.keywords]
    if unknown:
        message = gettext("The category has no keyword “{word}”.")
        raise Refused([message.format(word=unknown[0][:200])])
    remaining = [word for word in origin.keywords if word not in keywords]
    new = {"value": value.strip(), "keywords": [w for w in origin.keywords if w in keywords]}
    return [
        Planned(Category(agency_id=agency, key=key), new),
        Planned(origin, {"keywords": remaining}),
        *_moves(agency, dict.fromkeys(services, (category,)), key),
    ]


def versions_of(entries: Iterable[DraftEntry]) -> Seen:
    """Return the versions of stored entries; those that a plan adds have none."""
    return {
        (entry.table, entry.key): entry.version
        for entry in entries
        if isinstance(entry, Category | Service) and not entry._state.adding
    }


def lost_translations(plan: Plan) -> list[Translation]:
    """Return the translations that go with the categories that are removed."""
    lost = [planned.entry for planned in plan if planned.columns is None]
    groups = (group for entry in lost for group in dependants("dictionary", _identity(entry)))
    rows = (row for group in groups for row in group.stored.values())
    return [row for row in rows if isinstance(row, Translation)]


@transaction.atomic
def carry_out(plan: Plan, *, seen: Seen, by: User, source: Change.Source) -> None:
    """Do what was planned.

    Raises:
        editing.Stale: an entry is not what the person saw; the message names it.
        editing.OutOfScope: the person does not work for the agency.
        Refused: it breaks a rule of the knowledge.
    Nothing has changed then.
    """
    known = versions_of(planned.entry for planned in plan)
    for planned in plan:
        name = (planned.entry.table, planned.entry.key)
        if known.get(name) != seen.get(name) and name in known:
            changed = stale_message(planned.entry.table, planned.name)
            message = gettext("“{entry}”: {what} Nothing was changed.")
            raise editing.Stale(message.format(entry=planned.entry, what=changed))
    for table in ("dictionary", "services"):
        edits = [
            editing.Edit(
                {**_identity(planned.entry), **planned.columns},
                known.get((planned.entry.table, planned.entry.key)),
            )
            for planned in plan
            if planned.entry.table == table and planned.columns is not None
        ]
        try:
            editing.save_all(table=table, edits=edits, by=by, source=source)
        except editing.ManyInvalid as error:
            raise Refused(
                [
                    f"“{edits[index].values['key']}”: {problem.text}."
                    for index, columns in error.rows.items()
                    for problems in columns.values()
                    for problem in problems
                ]
            ) from error
    for planned in plan:
        if planned.columns is None:
            try:
                editing.remove(
                    table=planned.entry.table,
                    identity=_identity(planned.entry),
                    by=by,
                    expected_version=planned.entry.version,
                    source=source,
                )
            except editing.Invalid as error:
                raise Refused([f"“{planned.entry}”: {error}."]) from error


def _moves(agency: str, leaves: Mapping[str, Collection[str]], into: str) -> Plan:
    if not leaves:
        raise Refused([gettext("Choose at least one service.")])
    stored = {row.key: row for row in Service.objects.filter(agency=agency)}
    for key, categories in leaves.items():
        if key not in stored or not set(categories) <= set(stored[key].categories):
            message = gettext("The service “{key}” is no longer there: look at the list again.")
            raise Refused([message.format(key=key[:200])])
    return [
        Planned(row, {"categories": _replaced(row.categories, leaves[key], into)})
        for key, row in stored.items()
        if key in leaves
    ]


def _replaced(categories: Sequence[str], old: Collection[str], new: str) -> list[str]:
    """Return ``categories`` with ``new`` in the place of ``old``, each once."""
    return list(dict.fromkeys([*(new if key in old else key for key in categories), new]))


def _category(agency: str, key: str) -> Category:
    # Compared here: not every database takes any text as a key to look for.
    for category in Category.objects.filter(agency=agency):
        if category.key == key:
            return category
    message = gettext("The category “{key}” is not there: choose one of the list.")
    raise Refused([message.format(key=key[:200])])


def _identity(entry: Category | Service) -> dict[str, str]:
    return {"agency": entry.agency_id, "key": entry.key}
