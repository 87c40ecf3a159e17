"""Two people at one entry: their changes are merged field by field.

What only one of them changed is taken over. Of what both changed, the person who saves last sees
both versions and chooses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.http import QueryDict

from ieim.knowledge.bundles.rows import IDENTITY
from ieim.studio.drafts.entries import attribute
from ieim.studio.drafts.selectors import entry_name
from ieim.studio.models import Change, DraftEntry

MINE, THEIRS = "mine", "theirs"
_CHOICE = "choice-"
"""Before the name of a column: which version its author chose."""
_AGAINST = "against"
"""The version of the entry that the choices are about."""
_UNKNOWN = object()


@dataclass(frozen=True, slots=True)
class Merge:
    """``taken`` are columns that were taken over from somebody else, ``open`` what they wrote in
    those of which one has to choose, by column, as the form shows it."""

    taken: list[str] = field(default_factory=list)
    open: dict[str, Any] = field(default_factory=dict)


def merge(posted: QueryDict, form: forms.BaseForm, entry: DraftEntry) -> tuple[QueryDict, Merge]:
    """Return what was typed, merged with what others saved after ``form`` was opened."""
    result, seen = Merge(), posted.get("seen", "")
    if entry._state.adding or seen == str(entry.version):
        return posted, result
    data = posted.copy()
    is_chosen = posted.get(_AGAINST) == str(entry.version)
    for name, before in _before(entry, seen, form).items():
        column = form.fields[name]
        typed = column.widget.value_from_datadict(data, {}, name)
        if isinstance(typed, str):
            typed = typed.replace("\r\n", "\n")
        theirs = getattr(entry, attribute(name))
        if column.disabled or not column.has_changed(theirs, typed):
            continue
        shown = column.prepare_value(theirs)
        choice = posted.get(f"{_CHOICE}{name}") if is_chosen else None
        is_mine = before is _UNKNOWN or column.has_changed(before, typed)
        if is_mine and choice not in (MINE, THEIRS):
            result.open[name] = shown
        elif not is_mine or choice == THEIRS:
            data.setlist(name, shown if isinstance(shown, list) else [str(shown)])
            result.taken.append(name)
    if not result.open:
        data["seen"] = str(entry.version)
    return data, result


def _before(entry: DraftEntry, seen: str, form: forms.BaseForm) -> dict[str, Any]:
    """Return the columns of ``form`` that were changed after version ``seen``, as they were then.

    Where the history does not say, that is each column, unknown.
    """
    version = int(seen) if seen.isdecimal() and len(seen) < 10 else 0
    columns = [name for name in form.fields if hasattr(entry, attribute(name))]
    missed = entry.version - version
    identity = {name: getattr(entry, attribute(name)) for name in IDENTITY[entry.table]}
    name = entry_name(entry.table, identity)
    changes = list(Change.objects.filter(table=entry.table, entry=name)[: max(missed, 0)])
    if not version or missed < 1 or len(changes) < missed:
        return dict.fromkeys(columns, _UNKNOWN)
    before = {name: old for change in changes for name, (old, _) in change.fields.items()}
    return {name: value for name, value in before.items() if name in columns}
