"""Taking entries of the draft back to what they were in a release, without the others' work."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.utils.translation import gettext

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.models import Release
from ieim.people.models import User
from ieim.studio.drafts import sets
from ieim.studio.drafts.editing import Invalid, ManyInvalid, OutOfScope
from ieim.studio.drafts.merging import Name
from ieim.studio.drafts.writing import write
from ieim.studio.models import Proposal
from ieim.studio.proposals.services import ProposalError


@transaction.atomic
def restore(*, number: int, names: Collection[Name], by: User) -> Proposal:
    """Make what release ``number`` has otherwise of some entries than the current one so in the
    draft; return the set that it is in, the newest of ``by``, to be proposed as any.

    What that release has not is removed. What others change at other fields stays theirs.

    Raises:
        ProposalError: there is no such release, nothing would change, somebody of another agency
            asks, or an entry is still referred to.
    """
    stored = Release.objects.filter(number=number).first()
    if stored is None:
        raise ProposalError([gettext("There is no release {number}.").format(number=number)])
    release = Bundle.from_content(stored.content)
    differing = sets.differing_parts(sets.current_bundle(), release)
    parts = {name: part for name, part in differing.items() if name in names}
    if not parts:
        message = gettext("The current release has it like that already.")
        raise ProposalError([message])
    proposal = sets.begin(by, note=gettext("As in release {number}").format(number=number))
    try:
        write(release, parts, by=by)
    except (Invalid, ManyInvalid, OutOfScope) as error:
        raise ProposalError([str(error)]) from error
    sets.add(proposal, parts)
    return proposal
