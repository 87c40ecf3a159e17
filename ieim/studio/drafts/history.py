"""The history of the draft: what a change was, and who made the newest one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.utils import dateformat, timezone
from django.utils.translation import gettext

from ieim.knowledge.bundles.rows import Table
from ieim.people.models import User
from ieim.studio.drafts.selectors import entry_name
from ieim.studio.labels import value_label
from ieim.studio.models import Change


def agency_of(table: Table, values: Mapping[str, Any]) -> str:
    """Return the id of the agency that a row belongs to, "" for what belongs to every agency."""
    return str(values.get("id" if table == "agencies" else "agency") or "")


def difference(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> dict[str, list[Any]]:
    """Return ``{column: [before, after]}`` of the columns that differ, as JSON values.

    None is a row that was not there, or is no more; its columns stand with None on that side.
    """
    columns = dict.fromkeys([*(before or ()), *(after or ())])
    pairs = {
        name: [
            None if before is None else _json(before.get(name)),
            None if after is None else _json(after.get(name)),
        ]
        for name in columns
    }
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def change(
    *,
    table: Table,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    by: User | None,
    source: Change.Source,
) -> Change | None:
    """Return what made ``after`` of ``before``, not yet stored; None where they do not differ.

    None before is a row that was not there, None after one that is no more.
    """
    fields = difference(before, after)
    values = after or before
    if not fields or values is None:
        return None
    kind = Change.Kind.ADDED if before is None else Change.Kind.CHANGED
    return Change(
        table=table,
        entry=entry_name(table, values),
        agency=agency_of(table, values),
        kind=Change.Kind.REMOVED if after is None else kind,
        source=source,
        fields=fields,
        by=by,
    )


def readable(fields: Mapping[str, Sequence[Any]]) -> list[tuple[str, str, str]]:
    """Return ``(column, before, after)`` as people read them: an item of a list a line, languages
    and fields by their names."""
    return [
        (name, value_label(name, shown(before)), value_label(name, shown(after)))
        for name, (before, after) in fields.items()
    ]


def made(change: Change) -> tuple[str, str]:
    """Return who made a change and how, for people to read.

    What nobody made by hand was made by the end of a change set.
    """
    if change.by_id is None and change.source == Change.Source.ADMIN:
        return gettext("A change set at its end, automatically"), ""
    who = change.by.display_name if change.by else gettext("Whoever runs the system")
    return who, change.get_source_display()


def last_change(table: Table, entry: str, columns: Collection[str] = ()) -> str:
    """Return who changed ``entry`` last, and when: "Edith Ek removed it on 3 May 2026 at 9:05".

    With ``columns``, who changed any of them last.
    """
    changes = Change.objects.select_related("by").filter(table=table, entry=entry)
    hits = (change for change in changes if not columns or change.fields.keys() & columns)
    newest = next(hits, None)
    if newest is None:
        return gettext("Somebody else changed it")
    message = {
        Change.Kind.ADDED: gettext("{name} added it on {day} at {time}"),
        Change.Kind.CHANGED: gettext("{name} changed it on {day} at {time}"),
        Change.Kind.REMOVED: gettext("{name} removed it on {day} at {time}"),
    }[Change.Kind(newest.kind)]
    changed_at = timezone.localtime(newest.at)
    return message.format(
        name=made(newest)[0],
        day=dateformat.format(changed_at, "j F Y"),
        time=dateformat.format(changed_at, "G:i"),
    )


def stale_message(table: Table, entry: str) -> str:
    """Return :func:`last_change` as a sentence for somebody who has an older version open."""
    message = gettext("{what}, after you opened it.")
    return message.format(what=last_change(table, entry))


def shown(value: object) -> str:
    """Return a value as people read it: an item of a list a line, "" for nothing."""
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)


def _json(value: object) -> object:
    if isinstance(value, Decimal):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
