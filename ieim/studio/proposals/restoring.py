"""Taking entries of the draft back to what they were in a release, without the others' work."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.utils.translation import gettext

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.rows import IDENTITY, TABLES
from ieim.knowledge.models import Release
from ieim.people.models import User
from ieim.studio.drafts import sets
from ieim.studio.drafts.editing import Edit, Invalid, ManyInvalid, OutOfScope, remove, save_all
from ieim.studio.drafts.entries import Entries
from ieim.studio.drafts.merging import Name, named, values_of
from ieim.studio.models import Change, Proposal
from ieim.studio.proposals.services import ProposalError


@transaction.atomic
def restore(*, number: int, names: Collection[Name], by: User) -> Proposal:
    """Make entries of the draft what they are in release ``number``; return the set they are in.

    What that release has not is removed. They are the newest set of ``by``, to be proposed as any.

    Raises:
        ProposalError: there is no such release, nothing would change, somebody of another agency
            asks, or an entry is still referred to.
    """
    stored = Release.objects.filter(number=number).first()
    if stored is None:
        raise ProposalError([gettext("There is no release {number}.").format(number=number)])
    proposal = sets.begin(by, note=gettext("As in release {number}").format(number=number))
    try:
        write(Bundle.from_content(stored.content), names, by=by)
    except (Invalid, ManyInvalid, OutOfScope) as error:
        raise ProposalError([str(error)]) from error
    sets.add(proposal, {n: a for n, a in sets.agencies_of_entries().items() if n in names})
    if not proposal.entries.exists():
        raise ProposalError([gettext("The draft has it like that already.")])
    return proposal


def write(release: Bundle, names: Collection[Name], *, by: User) -> None:
    """Make entries of the draft what they are in ``release``, in the caller's transaction.

    Raises what :func:`ieim.studio.drafts.editing.save_all` and ``remove`` do.
    """
    rows = named(release)
    for table in TABLES:
        contents = [values_of(table, row) for n, row in rows[table].items() if (table, n) in names]
        entries = Entries(table, contents)
        rows_now = map(entries.stored.get, entries.identities)
        pairs = zip(contents, rows_now, strict=True)
        edits = [Edit(values, row.version if row else None) for values, row in pairs]
        if edits:
            save_all(table=table, edits=edits, by=by, source=Change.Source.ADMIN)
    for table in reversed(TABLES):
        gone = {entry for name, entry in names if name == table} - rows[table].keys()
        draft = Entries(table, (), whole_table=True).stored if gone else {}
        for identity, row in draft.items():
            if " ".join(filter(None, identity)) in gone:
                remove(
                    table=table,
                    identity=dict(zip(IDENTITY[table], identity, strict=True)),
                    by=by,
                    expected_version=row.version,
                    source=Change.Source.ADMIN,
                )
