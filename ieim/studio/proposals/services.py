"""Proposals: one person proposes the draft, another publishes it.

A proposal is a snapshot; editing goes on. Every step is one transaction with its audit event, one
at a time: a second person at once is told what the first one did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext

from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.knowledge import selectors
from ieim.knowledge.bundles.bundle import Bundle, BundleError
from ieim.knowledge.models import Release
from ieim.people.models import User
from ieim.pipeline.canonical import digest
from ieim.studio.checks import Remark
from ieim.studio.checks import services as checking
from ieim.studio.drafts import selectors as drafts
from ieim.studio.drafts.publishing import PublishError, make_current
from ieim.studio.models import GoldenQuestion, GoldenRun, Proposal
from ieim.studio.proposals.selectors import (
    agencies_outside_scope,
    changes,
    golden_state,
    help_numbers,
)

MAY_PROPOSE = "studio.add_proposal"
MAY_PUBLISH = "studio.publish_proposal"
NOTE_LIMIT = 2_000
"""The longest note or reason, in code points."""

# By whether a proposal shall be published, or else turned down.
_MAY_NOT = {
    True: gettext_noop("You may not publish it: ask somebody who may."),
    False: gettext_noop("You may not turn it down: ask somebody who may."),
}
_AUTHOR = {
    True: gettext_noop("You proposed it, so somebody else must publish it; you can withdraw it."),
    False: gettext_noop(
        "You proposed it, so somebody else must turn it down; you can withdraw it."
    ),
}
_BEYOND = {
    True: gettext_noop(
        "It also touches {others}: somebody who works for all of it must publish it."
    ),
    False: gettext_noop(
        "It also touches {others}: somebody who works for all of it must turn it down."
    ),
}
_DECIDED = {
    Proposal.State.PUBLISHED: gettext_noop(
        "Proposal {number} is not open any more: {name} has published it as release {release}."
    ),
    Proposal.State.REFUSED: gettext_noop(
        "Proposal {number} is not open any more: {name} has turned it down."
    ),
    Proposal.State.WITHDRAWN: gettext_noop(
        "Proposal {number} is not open any more: {name} has withdrawn it."
    ),
}


class ProposalError(PublishError):
    """It cannot be done; each of ``reasons`` is a sentence that says why and what to do."""


class BeyondScope(ProposalError):
    """It touches agencies outside the user's scope."""


def propose(*, note: str, by: User) -> Proposal:
    """Propose the draft as it is now, with the remarks of its checks.

    Raises:
        ProposalError: there is no note or permission, another proposal is open, the draft has
            errors or unfinished checks, or it equals the current release.
    """
    note = _checked_note(note, by, gettext("Write a note: what changes, and why."))
    try:
        # One transaction, so that the tables are consistent.
        with transaction.atomic():
            bundle = drafts.draft()
    except BundleError as error:
        raise ProposalError([str(problem) for problem in error.errors]) from error
    if not bundle.services:
        raise ProposalError([gettext("The draft has no services: add some first.")])
    release = bundle.release()
    checks = checking.checked(bundle, release)
    if checks.errors:
        raise ProposalError([f"{remark.entry}: {remark.sentence}" for remark in checks.errors])
    if checks.run is not None:
        raise ProposalError([checking.missing(checks.run)])
    proposal = Proposal(content=bundle.content, sha256=release.sha256, note=note, proposed_by=by)
    return _open(proposal, checks.remarks)


def propose_again(*, release: Release, note: str, by: User) -> Proposal:
    """Propose that an earlier release be current again; the draft stays as it is.

    Raises:
        ProposalError: as :func:`propose`.
    """
    missing_note = gettext("Write a note: why this release shall be current again.")
    note = _checked_note(note, by, missing_note)
    earlier = Proposal.objects.filter(release=release, again=None).only("checks").first()
    if earlier is not None:
        remarks = [Remark.from_dict(values) for values in earlier.checks]
    else:  # An operator published it.
        bundle = Bundle.from_content(release.content)
        remarks = checking.examined(bundle, bundle.release())
    proposal = Proposal(
        content=release.content,
        sha256=release.sha256,
        note=note,
        proposed_by=by,
        again=release,
    )
    return _open(proposal, remarks)


@transaction.atomic
def publish_proposal(*, proposal_id: int, by: User, reason: str = "") -> Release:
    """Make an open proposal current and return its release; running turns keep theirs.

    ``reason`` is required where golden questions get worse, and where numbers of help lines change.

    Raises:
        BeyondScope: it touches agencies outside the scope of ``by``.
        ProposalError: ``by`` may not or is its author, it is decided, another release became
            current meanwhile, the golden questions were not asked, or the reason is missing.
    """
    proposal = _decidable(proposal_id, by, publish=True)
    reason = _clean(reason)
    current = selectors.current_number()
    if current != proposal.base_id:
        message = gettext(
            "Release {number} became current after this was proposed: turn it down, and propose "
            "anew what shall still change."
        )
        raise ProposalError([message.format(number=current)])
    losses = _losses(proposal)
    if losses and not reason:
        message = ngettext(
            "{count} golden question gets worse: write why it shall be published all the same.",
            "{count} golden questions get worse: write why it shall be published all the same.",
            losses,
        )
        raise ProposalError([message.format(count=losses)])
    if not reason and (changed := help_numbers(changes(proposal))):
        message = gettext(
            "It changes numbers that somebody in danger may call ({entries}): call them, and write "
            "that they are right."
        )
        raise ProposalError([message.format(entries=", ".join(changed))])
    proposal.release = make_current(
        proposal.again or _release(proposal),
        by=by,
        proposal=proposal.pk,
        proposed_by=proposal.proposed_by.get_username(),
        again=proposal.again_id is not None,
        losses=losses,
    )
    _close(proposal, Proposal.State.PUBLISHED, by, reason)
    return proposal.release


@transaction.atomic
def refuse(*, proposal_id: int, by: User, reason: str) -> None:
    """Turn an open proposal down; ``reason`` is for its author.

    Raises:
        ProposalError: there is no reason, or as :func:`publish_proposal`.
    """
    proposal = _decidable(proposal_id, by, publish=False)
    reason = _written(reason, gettext("Write a reason: its author wants to know what to change."))
    _close(proposal, Proposal.State.REFUSED, by, reason)
    record_system(
        kind="knowledge.proposal_refused", payload={"proposal": proposal.pk}, actor=by.actor
    )


@transaction.atomic
def withdraw(*, proposal_id: int, by: User) -> None:
    """Withdraw one's own open proposal.

    Raises:
        ProposalError: it is somebody else's, or decided.
    """
    proposal = _locked(proposal_id)
    if proposal.proposed_by_id != by.pk:
        message = gettext("Only its author can withdraw a proposal: you can turn it down.")
        raise ProposalError([message])
    _close(proposal, Proposal.State.WITHDRAWN, by, "")
    record_system(
        kind="knowledge.proposal_withdrawn", payload={"proposal": proposal.pk}, actor=by.actor
    )


@transaction.atomic
def _open(proposal: Proposal, remarks: Sequence[Remark]) -> Proposal:
    lock_head(SYSTEM_CHAIN)
    _require_none_open()
    number = selectors.current_number()
    proposal.base = None if number is None else Release.objects.get(number=number)
    if proposal.base is not None and proposal.base.sha256 == proposal.sha256:
        message = (
            gettext("The draft is the same as the current release, {current}.")
            if proposal.again_id is None
            else gettext("Release {number} is the same as the current release, {current}.")
        )
        text = message.format(number=proposal.again_id, current=proposal.base_id)
        raise ProposalError([text])
    proposal.checks = [asdict(remark) for remark in remarks]
    proposal.save()
    record_system(
        kind="knowledge.proposed",
        payload={
            "proposal": proposal.pk,
            "sha256": proposal.sha256,
            "base": proposal.base_id,
            "again": proposal.again_id,
            "warnings": len(remarks),
        },
        actor=proposal.proposed_by.actor,
    )
    return proposal


def _checked_note(note: str, by: User, missing: str) -> str:
    """Return the stripped note of somebody who may propose now."""
    if not by.has_perm(MAY_PROPOSE):
        message = gettext("You may not propose: ask an administrator to make you an editor.")
        raise ProposalError([message])
    note = _written(note, missing)
    _require_none_open()
    return note


def _require_none_open() -> None:
    proposal = Proposal.objects.defer("content").filter(state=Proposal.State.OPEN).first()
    if proposal is not None:
        message = gettext(
            "Proposal {number} by {name} is still open: it must be published, turned down or "
            "withdrawn first."
        )
        name = proposal.proposed_by.display_name
        raise ProposalError([message.format(number=proposal.pk, name=name)])


def _locked(proposal_id: int) -> Proposal:
    """Return the open proposal, locked against other decisions until the transaction ends."""
    lock_head(SYSTEM_CHAIN)
    proposal = Proposal.objects.filter(pk=proposal_id).first()
    if proposal is None:
        raise ProposalError([gettext("There is no proposal {number}.").format(number=proposal_id)])
    if proposal.state != Proposal.State.OPEN:
        by = proposal.decided_by
        name = gettext("somebody") if by is None else by.display_name
        message = gettext(_DECIDED[Proposal.State(proposal.state)])
        raise ProposalError(
            [message.format(number=proposal.pk, name=name, release=proposal.release_id)]
        )
    return proposal


def _decidable(proposal_id: int, by: User, *, publish: bool) -> Proposal:
    """Return the open proposal that ``by`` may publish, or turn down."""
    if not by.has_perm(MAY_PUBLISH):
        raise ProposalError([gettext(_MAY_NOT[publish])])
    proposal = _locked(proposal_id)
    if proposal.proposed_by_id == by.pk:
        raise ProposalError([gettext(_AUTHOR[publish])])
    if others := agencies_outside_scope(changes(proposal), by):
        raise BeyondScope([gettext(_BEYOND[publish]).format(others=others)])
    return proposal


def _losses(proposal: Proposal) -> int:
    """Return the losses of the newest golden run; raise ProposalError where one is missing."""
    has_questions, run = golden_state(proposal)
    if not has_questions:
        return 0
    if run is None:
        message = gettext("Run the golden questions first: nobody has seen what changes.")
    elif run.state == GoldenRun.State.FAILED:
        message = gettext("The run of the golden questions has failed: start it again.")
    elif run.state != GoldenRun.State.DONE:
        message = gettext("The run of the golden questions is not done yet: wait for it.")
    elif GoldenQuestion.objects.filter(created_at__gt=run.created_at).exists():
        message = gettext("There is a newer golden question: run the golden questions again.")
    else:
        return run.losses
    raise ProposalError([message])


def _release(proposal: Proposal) -> Release:
    """Return the proposed content as an unsaved release."""
    if digest(proposal.content) != proposal.sha256:
        message = gettext("The proposal is not what was proposed: withdraw it, propose anew.")
        raise ProposalError([message])
    return Release(
        sha256=proposal.sha256,
        content=proposal.content,
        note=proposal.note,
        created_by=proposal.proposed_by,
    )


def _close(proposal: Proposal, state: Proposal.State, by: User, reason: str) -> None:
    proposal.state = state
    proposal.reason = reason
    proposal.decided_by = by
    proposal.decided_at = timezone.now()
    proposal.save(update_fields=["state", "reason", "decided_by", "decided_at", "release"])


def _written(text: str, missing: str) -> str:
    if not text.strip():
        raise ProposalError([missing])
    return _clean(text)


def _clean(text: str) -> str:
    if "\x00" in text:
        raise ProposalError([gettext("The text contains the character NUL: remove it.")])
    if len(text.strip()) > NOTE_LIMIT:
        message = gettext("The text has more than {limit} characters: shorten it.")
        raise ProposalError([message.format(limit=f"{NOTE_LIMIT:,}")])
    return text.strip()
