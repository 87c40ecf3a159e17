"""Change sets that have a time: the worker publishes them, and ends them again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.knowledge.bundles.bundle import Bundle, BundleError, bundle_of
from ieim.knowledge.models import Release
from ieim.studio.drafts import cached, sets
from ieim.studio.drafts.editing import Invalid, ManyInvalid, OutOfScope
from ieim.studio.drafts.merging import WHOLE, differing, merge, named
from ieim.studio.drafts.publishing import make_current
from ieim.studio.drafts.writing import write
from ieim.studio.models import Comment, Proposal
from ieim.studio.proposals import services
from ieim.studio.proposals.services import ProposalError


def sweep(*, now: datetime) -> None:
    """Publish the sets whose time has come, and end those whose time is over.

    What cannot be done is said in a comment; a set that cannot be published waits for a second
    person again.
    """
    due = Proposal.objects.filter(state=Proposal.State.SCHEDULED, publish_at__lte=now)
    for pk in due.order_by("publish_at", "pk").values_list("pk", flat=True):
        _publish(pk)
    over = Proposal.objects.filter(state=Proposal.State.PUBLISHED, expires_at__lte=now)
    for pk in over.order_by("expires_at", "pk").values_list("pk", flat=True):
        _end(pk)


@transaction.atomic
def _publish(pk: int) -> None:
    lock_head(SYSTEM_CHAIN)
    proposal = Proposal.objects.filter(pk=pk, state=Proposal.State.SCHEDULED).first()
    if proposal is None or proposal.decided_by is None:
        return  # another process was quicker
    try:
        with transaction.atomic():
            services.publish_decided(proposal, proposal.decided_by)
    except ProposalError as error:
        proposal.refresh_from_db()
        proposal.state = Proposal.State.OPEN
        proposal.save(update_fields=["state"])
        _say(proposal, gettext("It could not be published in time. {why}"), " ".join(error.reasons))


@transaction.atomic
def _end(pk: int) -> None:
    lock_head(SYSTEM_CHAIN)
    proposal = Proposal.objects.filter(
        pk=pk, state=Proposal.State.PUBLISHED, expires_at__isnull=False
    ).first()
    current = sets.current_bundle()
    if proposal is None or proposal.base is None or proposal.decided_by is None or current is None:
        return
    proposal.expires_at = None
    proposal.save(update_fields=["expires_at"])
    before = Bundle.from_content(proposal.base.content)
    after = Bundle.from_content(proposal.content)
    merged, conflicts = merge(after, before, current)
    if conflicts:
        entries = ", ".join(sorted({conflict.entry for conflict in conflicts}))
        message = gettext("It was to end, but was changed since: {why}. Take it back by hand.")
        _say(proposal, message, entries)
        return
    try:
        bundle_of(sets.rows_of(merged), file="release")
    except BundleError as error:
        reason = " ".join(map(str, error.errors))
        _say(proposal, gettext("It was to end, but something still needs it. {why}"), reason)
        return
    content, sha256 = merged.content, merged.release().sha256
    if merged != current:  # else somebody has taken it back already
        note = gettext("The end of proposal {number}").format(number=proposal.pk)
        release = Release(sha256=sha256, content=content, note=note)
        make_current(release, by=None, proposal=proposal.pk, ended=True)
    _restore(before, after)


def _restore(before: Bundle, after: Bundle) -> None:
    """Make the draft's fields what they were, but for those that are edited already."""
    new, draft = named(after), named(cached.draft().bundle)
    parts = {}
    for (table, entry), part in sets.differing_parts(after, before).items():
        edited = differing(new[table].get(entry), draft[table].get(entry))
        left = part.columns - edited if WHOLE not in edited else frozenset()
        if left:
            parts[table, entry] = replace(part, columns=left)
    try:
        with transaction.atomic():
            write(before, parts, by=None)
            sets.leave(parts)
    except (Invalid, ManyInvalid, OutOfScope):
        # The draft goes on differing from the release, and every list of changes shows it.
        return


def _say(proposal: Proposal, message: str, why: str) -> None:
    Comment.objects.create(proposal=proposal, text=message.format(why=why))
    record_system(kind="knowledge.not_in_time", payload={"proposal": proposal.pk}, actor="system")
