"""Making columns of the draft's entries what they are in a release."""

from __future__ import annotations

from collections.abc import Mapping

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.rows import IDENTITY, TABLES
from ieim.people.models import User
from ieim.studio.drafts.editing import Edit, remove, save_all
from ieim.studio.drafts.entries import Entries
from ieim.studio.drafts.merging import WHOLE, Name, named, values_of
from ieim.studio.drafts.sets import Part
from ieim.studio.models import Change


def write(release: Bundle, parts: Mapping[Name, Part], *, by: User | None) -> None:
    """Make columns of the draft's entries what they are in ``release``, in the caller's
    transaction; ``by`` is None for the system.

    An entry that the release has not is removed where it is meant as a whole. Raises what
    :func:`ieim.studio.drafts.editing.save_all` and ``remove`` do.
    """
    rows = named(release)
    for table in TABLES:
        wanted = {e: parts[table, e].columns for e in rows[table] if (table, e) in parts}
        contents = [
            {
                name: value
                for name, value in values_of(table, rows[table][entry]).items()
                if WHOLE in columns or name in columns or name in IDENTITY[table]
            }
            for entry, columns in wanted.items()
        ]
        entries = Entries(table, contents)
        stored_rows = map(entries.stored.get, entries.identities)
        edits = [
            Edit(values, stored.version if stored else None)
            for values, stored, columns in zip(contents, stored_rows, wanted.values(), strict=True)
            # Single fields of what somebody has removed since are nowhere to be written.
            if stored or WHOLE in columns
        ]
        if edits:
            save_all(table=table, edits=edits, by=by, source=Change.Source.ADMIN)
    for table in reversed(TABLES):
        gone = {entry for name, entry in parts if name == table} - rows[table].keys()
        draft = Entries(table, (), whole_table=True).stored if gone else {}
        for identity, stored in draft.items():
            if " ".join(filter(None, identity)) in gone:
                remove(
                    table=table,
                    identity=dict(zip(IDENTITY[table], identity, strict=True)),
                    by=by,
                    expected_version=stored.version,
                    source=Change.Source.ADMIN,
                )
