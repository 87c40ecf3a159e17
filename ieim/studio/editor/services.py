"""Saving one entry with its example questions."""

from __future__ import annotations

from django.db import transaction

from ieim.people.models import User
from ieim.studio.drafts import editing
from ieim.studio.editor.forms import AskedForm, DraftForm
from ieim.studio.editor.questions import save_lines
from ieim.studio.models import Change, DraftEntry, Service, Situation


@transaction.atomic
def save(*, form: DraftForm, by: User) -> DraftEntry:
    """Save what a valid form holds and return the entry.

    Raises:
        editing.Invalid: with what is wrong; nothing is saved.
        editing.Stale: the entry is not what the person saw; nothing is saved.
        editing.OutOfScope: the person does not work for that agency.
    """
    seen = form.seen_version()
    entry = editing.save(
        table=form.instance.table,
        values=form.values(),
        by=by,
        expected_version=seen,
        source=Change.Source.ADMIN,
    )
    if isinstance(form, AskedForm) and isinstance(entry, Service | Situation):
        before, after = form.question_lines(seen is not None)
        save_lines(entry, before, after, by)
    return entry
