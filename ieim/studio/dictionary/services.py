"""Moving services between the categories of one agency, and merging and splitting categories.

Each is planned first, so that it can be shown before it is carried out, all or nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from django.db import transaction
from django.utils.text import slugify
from django.utils.translation import gettext

from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head
from ieim.knowledge.bundles.rows import Table
from ieim.people.models import User
from ieim.studio.drafts import editing
from ieim.studio.drafts.entries import dependants
from ieim.studio.drafts.history import stale_message
from ieim.studio.models import Category, Change, DraftEntry, Service


class Refused(Exception):
    """It cannot be done; ``reasons`` are sentences."""

    def __init__(self, *reasons: str) -> None:
        super().__init__(" ".join(reasons))
        self.reasons = reasons


@dataclass(frozen=True, slots=True)
class Planned:
    """An entry and what becomes of it: its columns that change, None where it is removed."""

    entry: Category | Service
    columns: dict[str, Any] | None

    @property
    def identity(self) -> dict[str, str]:
        return {"agency": self.entry.agency_id, "key": self.entry.key}

    @property
    def name(self) -> tuple[Table, str]:
        """The table and the entry as the history has them."""
        return self.entry.table, " ".join(self.identity.values())


Plan: TypeAlias = Sequence[Planned]


def plan_move(*, agency: str, leaves: Mapping[str, Collection[str]], into: str) -> Plan:
    """Plan to put services into the category ``into``.

    ``leaves`` are the categories that each service, by its key, leaves; they may be none.
    """
    _category(agency, into)
    return _moves(agency, leaves, into)


def plan_merge(*, agency: str, category: str, into: str) -> Plan:
    """Plan to let ``into``, the first of the plan, take over the services, the name and the
    keywords of ``category``, which is removed with its translations."""
    lost, target = _category(agency, category), _category(agency, into)
    if lost == target:
        raise Refused(gettext("Choose another category than the one that is merged."))
    words = {word.casefold(): word for word in (lost.value, *lost.keywords) if word}
    for word in (target.value, *target.keywords):
        words.pop(word.casefold(), None)
    rows = Service.objects.filter(agency=agency)
    leaves = {row.key: (category,) for row in rows if category in row.categories}
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
        raise Refused(gettext("Name the new category."))
    for word in set(keywords) - set(origin.keywords):
        raise Refused(gettext("The category has no keyword “{word}”.").format(word=word[:200]))
    remaining = [word for word in origin.keywords if word not in keywords]
    new = {"value": value.strip(), "keywords": [w for w in origin.keywords if w in keywords]}
    return [
        Planned(Category(agency_id=agency, key=key), new),
        Planned(origin, {"keywords": remaining}),
        *_moves(agency, dict.fromkeys(services, (category,)), key),
    ]


def lost_translations(plan: Plan) -> list[DraftEntry]:
    """Return the translations that go with the categories that are removed."""
    lost = [planned.identity for planned in plan if planned.columns is None]
    groups = (group for identity in lost for group in dependants("dictionary", identity))
    return [row for group in groups for row in group.stored.values()]


def newest_change() -> int:
    """Return the number of the newest change of the draft: who reads it before a plan is made can
    carry out that plan and nothing else."""
    return Change.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


@transaction.atomic
def carry_out(plan: Plan, *, seen: int, by: User, source: Change.Source) -> None:
    """Do what was planned, where no entry of it was changed after ``seen`` (``newest_change``).

    Raises:
        editing.Stale: somebody changed an entry; the message names it. Nothing has changed.
        editing.OutOfScope: the person does not work for the agency. Nothing has changed.
        Refused: it breaks a rule of the knowledge. Nothing has changed.
    """
    lock_head(SYSTEM_CHAIN)
    names = {planned.name: str(planned.entry) for planned in plan}
    names |= {("translations", str(row)): str(row) for row in lost_translations(plan)}
    newer = Change.objects.filter(pk__gt=seen, agency=plan[0].entry.agency_id)
    changed = set(newer.values_list("table", "entry"))
    for (table, entry), text in names.items():
        if (table, entry) in changed:
            message = gettext("“{entry}”: {what} Nothing was changed.")
            raise editing.Stale(message.format(entry=text, what=stale_message(table, entry)))
    tables: tuple[Table, ...] = ("dictionary", "services")
    for table in tables:
        edits = [
            editing.Edit(
                {**planned.identity, **planned.columns},
                None if planned.entry._state.adding else planned.entry.version,
            )
            for planned in plan
            if planned.entry.table == table and planned.columns is not None
        ]
        try:
            editing.save_all(table=table, edits=edits, by=by, source=source)
        except editing.ManyInvalid as error:
            texts = [
                f"“{edits[index].values['key']}”: {problem.text}."
                for index, columns in error.rows.items()
                for problems in columns.values()
                for problem in problems
            ]
            raise Refused(*texts) from error
    for planned in plan:
        if planned.columns is None:
            editing.remove(
                table=planned.entry.table,
                identity=planned.identity,
                by=by,
                expected_version=planned.entry.version,
                source=source,
            )


def _moves(agency: str, leaves: Mapping[str, Collection[str]], into: str) -> Plan:
    if not leaves:
        raise Refused(gettext("Choose at least one service."))
    stored = {row.key: row for row in Service.objects.filter(agency=agency)}
    for key, categories in leaves.items():
        if key not in stored or not set(categories) <= set(stored[key].categories):
            message = gettext("The service “{key}” is no longer there: look at the list again.")
            raise Refused(message.format(key=key[:200]))
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
    raise Refused(message.format(key=key[:200]))
