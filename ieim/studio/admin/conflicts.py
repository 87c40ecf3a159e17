"""Two people at one entry: what the other one did, beside what was typed. None of it is lost.

A save of an entry that was changed meanwhile is refused; the page then shows both, and a button
saves what was typed over it. Of an entry that was removed meanwhile, the page offers to add it
again with what was typed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext

from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import IDENTITY, Table
from ieim.studio.drafts.editing import permits
from ieim.studio.drafts.history import agency_of, shown, stale_message
from ieim.studio.drafts.selectors import entry_name

OVER = "_over"
"""The button that saves over a newer version: the one in the field ``over``."""
_WAS = "was-"
"""Before the names of the fields that say which entry a form was of."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A newer version, and the fields that differ: ``(name, theirs, typed)``."""

    version: int
    fields: list[tuple[str, str, str]]


def conflict_of(form: Any) -> Conflict | None:
    """Return what somebody else saved beside what a bound form has, None where nobody did."""
    if not form.is_bound or form.instance._state.adding:
        return None
    entry = form.instance  # nothing that was typed is in it: see ``DraftForm._post_clean``
    if form["seen"].value() == str(entry.version):
        return None
    fields = []
    for name in (*COLUMNS[entry.table], "position"):
        if name not in form.fields or form.fields[name].disabled:
            continue
        field, theirs, typed = form.fields[name], getattr(entry, name), form[name].value()
        if field.has_changed(theirs, _lines(typed)):
            label = str(form[name].label)
            fields.append((label, shown(field.prepare_value(theirs)), shown(typed)))
    return Conflict(entry.version, fields)


def identity_fields(identity: dict[str, str]) -> list[tuple[str, str]]:
    """Return the hidden fields by which a form of an entry that is gone knows what it was of."""
    return [(f"{_WAS}{name}", value) for name, value in identity.items()]


def saved_over(posted: QueryDict) -> QueryDict:
    """Return the form as posted, with the version that its author agreed to save over, if any."""
    if OVER not in posted:
        return posted
    data = posted.copy()
    data["seen"] = data.get("over", "")
    return data


def removed_entry(
    posted: QueryDict, table: Table, scope: frozenset[str] | None
) -> tuple[QueryDict, str] | None:
    """Return the form of an entry that is gone as that of a new one, and what happened to it.

    None where the form does not say what it was, or somebody of ``scope`` cannot add it.
    """
    identity = {name: posted.get(f"{_WAS}{name}", "") for name in IDENTITY[table]}
    if not any(identity.values()):
        return None
    if not permits(scope, table, agency_of(table, identity), new=True):
        return None
    data = posted.copy()
    for name, value in identity.items():
        data[name] = value
    message = stale_message(table, entry_name(table, identity))
    hint = gettext(
        "Nothing was saved. What you typed is still here: save it to add the entry again."
    )
    return data, f"{message} {hint}"


def _lines(value: Any) -> Any:
    # Browsers send CR LF for a new line.
    return value.replace("\r\n", "\n") if isinstance(value, str) else value
