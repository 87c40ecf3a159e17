"""Writes: proposals of the draft, which somebody else publishes or turns down.

A proposal is a snapshot; editing goes on. Every step is one transaction with its audit event, and
steps are taken one at a time.
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
from ieim.studio.proposals.selectors import beyond, changes, golden_state, help_numbers

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
    """A refused step; ``reasons`` are sentences that say why and what to do."""


class BeyondScope(ProposalError):
    """A proposal that touches agencies that the user does not work for."""


def propose(*, note: str, by: User) -> Proposal:
    """Propose the draft as it is now, and store its checks with the proposal.

    Raises :class:`ProposalError` without a note or the permission, while another proposal is open,
    for a draft with errors or whose checks a worker has not done yet, and for one that is the
    current release already.
    """
    note = _may_propose(note, by, gettext("Write a note: what changes, and why."))
    try:
        # One transaction, so that the tables belong together.
        with transaction.atomic():
            bundle = drafts.draft()
    except BundleError as error:
        raise ProposalError([str(problem) for problem in error.errors]) from error
    if not bundle.services:
        raise ProposalError([gettext("The draft has no services: add some first.")])
    release = bundle.release()
    checked = checking.checked(bundle, release)
    if checked.errors:
        raise ProposalError([f"{remark.entry}: {remark.sentence}" for remark in checked.errors])
    if checked.run is not None:
        raise ProposalError([checking.missing(checked.run)])
    proposal = Proposal(content=bundle.content, sha256=release.sha256, note=note, proposed_by=by)
    return _open(proposal, checked.remarks)


def propose_again(*, release: Release, note: str, by: User) -> Proposal:
    """Propose that an earlier release be current again; the draft stays as it is.

    Raises :class:`ProposalError` as :func:`propose` does.
    """
    missing_note = gettext("Write a note: why this release shall be current again.")
    note = _may_propose(note, by, missing_note)
    before = Proposal.objects.filter(release=release, again=None).only("checks").first()
    if before is not None:
        remarks = [Remark.from_dict(values) for values in before.checks]
    else:  # Whoever runs the system published it.
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

    ``reason`` says why, where golden questions get worse, and that the numbers are right where
    those of help lines change. Raises :class:`ProposalError` when ``by`` may not, is its author or
    does not work for every agency that it touches (:class:`BeyondScope`), when somebody else was
    faster, when another release became current meanwhile, when the golden questions were not
    asked, and where a reason is missing.
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

    Raises :class:`ProposalError` without a reason, and as :func:`publish_proposal` does.
    """
    proposal = _decidable(proposal_id, by, publish=False)
    reason = _written(reason, gettext("Write a reason: its author wants to know what to change."))
    _close(proposal, Proposal.State.REFUSED, by, reason)
    record_system(
        kind="knowledge.proposal_refused", payload={"proposal": proposal.pk}, actor=by.actor
    )


@transaction.atomic
def withdraw(*, proposal_id: int, by: User) -> None:
    """Take one's own open proposal back. Raises :class:`ProposalError` for somebody else's."""
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
    _none_open()
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


def _may_propose(note: str, by: User, missing: str) -> str:
    if not by.has_perm(MAY_PROPOSE):
        message = gettext("You may not propose: ask an administrator to make you an editor.")
        raise ProposalError([message])
    note = _written(note, missing)
    _none_open()
    return note


def _none_open() -> None:
    proposal = Proposal.objects.defer("content").filter(state=Proposal.State.OPEN).first()
    if proposal is not None:
        message = gettext(
            "Proposal {number} by {name} is still open: it must be published, turned down or "
            "withdrawn first."
        )
        name = proposal.proposed_by.display_name
        raise ProposalError([message.format(number=proposal.pk, name=name)])


def _locked(proposal_id: int) -> Proposal:
    """Return the open proposal; nobody else decides about one until the transaction ends."""
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
    """Return the open proposal that somebody may publish, or else turn down."""
    if not by.has_perm(MAY_PUBLISH):
        raise ProposalError([gettext(_MAY_NOT[publish])])
    proposal = _locked(proposal_id)
    if proposal.proposed_by_id == by.pk:
        raise ProposalError([gettext(_AUTHOR[publish])])
    if others := beyond(proposal, by):
        raise BeyondScope([gettext(_BEYOND[publish]).format(others=others)])
    return proposal


def _losses(proposal: Proposal) -> int:
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
    """Return what is proposed as a release that is not stored yet."""
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
