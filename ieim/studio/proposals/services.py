"""Change sets: one person proposes their entries of the draft, another publishes them.

What is proposed is a snapshot; editing goes on, and several sets are open beside each other. Each
makes a release of the newest one and its own entries. Every step is one transaction with its audit
event, one at a time: a second person at once is told what the first one did.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext

from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.knowledge import selectors
from ieim.knowledge.bundles.bundle import Bundle, BundleError, bundle_of
from ieim.knowledge.models import Release
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.canonical import digest
from ieim.studio.checks import Remark
from ieim.studio.checks import services as checking
from ieim.studio.drafts import sets
from ieim.studio.drafts.editing import Invalid, ManyInvalid, OutOfScope
from ieim.studio.drafts.merging import Name, merge
from ieim.studio.drafts.publishing import PublishError, make_current
from ieim.studio.drafts.writing import write
from ieim.studio.labels import column_label
from ieim.studio.models import Comment, GoldenQuestion, GoldenRun, Proposal, Service
from ieim.studio.proposals.selectors import (
    agencies_outside_scope,
    changes,
    golden_state,
    help_numbers,
    written_by,
)
from ieim.studio.trying import services as golden

MAY_PROPOSE = "studio.add_proposal"
MAY_PUBLISH = "studio.publish_proposal"
NOTE_LIMIT = 2_000
"""The longest note or reason, in code points."""
LATEST = timedelta(days=3_650)
"""How far ahead a change set may be published, or end."""

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
    Proposal.State.SCHEDULED: gettext_noop(
        "Proposal {number} is not open any more: {name} has agreed, and it is published in time."
    ),
    Proposal.State.OPEN: gettext_noop("Set {number} is proposed already: withdraw it to edit it."),
    Proposal.State.DRAFT: gettext_noop("Set {number} is still being edited."),
}


class ProposalError(PublishError):
    """It cannot be done; each of ``reasons`` is a sentence that says why and what to do."""


class BeyondScope(ProposalError):
    """It touches agencies outside the user's scope."""


def propose(
    *,
    note: str,
    by: User,
    proposal_id: int | None = None,
    publish_at: datetime | None = None,
    expires_at: datetime | None = None,
) -> Proposal:
    """Propose a change set as it is now, with the remarks of its checks, and ask the golden
    questions of it.

    Without ``proposal_id`` it is the one that ``by`` works on, or else what is in no set.

    Raises:
        ProposalError: there is no note or permission, the set is proposed already or somebody
            else's, it changes nothing, has errors or unfinished checks, or a time is over.
    """
    note = _checked_note(note, by, gettext("Write a note: what changes, and why."))
    _check_times(publish_at, expires_at)
    proposal = _own_set(by, proposal_id)
    if not Service.objects.exists():
        raise ProposalError([gettext("The draft has no services: add some first.")])
    result = assembled(proposal)
    checks = checking.checked(result.bundle, result.release)
    if errors := [*result.faults, *checks.errors]:
        raise ProposalError([f"{remark.entry}: {remark.sentence}" for remark in errors])
    if checks.run is not None:
        raise ProposalError([checking.missing(checks.run)])
    proposal.content, proposal.sha256 = result.bundle.content, result.release.sha256
    proposal.note, proposal.publish_at, proposal.expires_at = note, publish_at, expires_at
    return _open(proposal, checks.remarks)


def assembled(proposal: Proposal) -> sets.Assembled:
    """Return what a change set that is edited makes of the current release.

    Raises :class:`ProposalError` where it refers to what is not there.
    """
    try:
        return sets.assembled(sets.parts_of(proposal))
    except BundleError as error:
        hint = gettext("It is not in the current release: take what it needs into this set too.")
        raise ProposalError([*map(str, error.errors), hint]) from error


def _own_set(by: User, proposal_id: int | None) -> Proposal:
    if proposal_id is not None:
        proposal = _in_state(proposal_id, Proposal.State.DRAFT)
        if proposal.proposed_by_id != by.pk:
            message = gettext("{name} works on it: ask them to propose it, or take its entries.")
            raise ProposalError([message.format(name=proposal.proposed_by.display_name)])
        return proposal
    working = sets.working_set(by)
    return working if working is not None and working.entries.exists() else take(by=by)


@transaction.atomic
def take(
    *, by: User, names: Collection[Name] | None = None, proposal_id: int | None = None
) -> Proposal:
    """Put entries into the set that ``by`` works on, or into another of theirs; return it.

    Without ``names`` they are those in no set, as far as ``by`` works for their agencies.

    Raises:
        ProposalError: ``by`` does not work for all of ``names``.
    """
    lock_head(SYSTEM_CHAIN)
    scope = agencies_of(by)
    if names is None:
        free = sets.in_no_set()
        parts = {n: part for n, part in free.items() if scope is None or part.agency in scope}
    else:
        known = sets.all_parts()
        parts = {name: known[name] for name in names if name in known}
        if scope is not None and not scope.issuperset(part.agency for part in parts.values()):
            raise ProposalError([gettext("You do not work for all of these agencies.")])
    if proposal_id is not None:
        proposal = _own_set(by, proposal_id)
    else:
        proposal = sets.working_set(by) or sets.begin(by)
    sets.add(proposal, parts)
    if names is not None:
        record_system(
            kind="knowledge.taken",
            payload={"proposal": proposal.pk, "entries": [entry for _, entry in parts][:20]},
            actor=by.actor,
        )
    return proposal


@transaction.atomic
def move(*, proposal_id: int, names: Collection[Name], by: User, to: int | None) -> Proposal:
    """Move what one's own set changes of some entries, and nothing that others do, into another of
    one's sets (None: a new one); return that.

    Raises:
        ProposalError: one of the sets is somebody else's, or proposed.
    """
    lock_head(SYSTEM_CHAIN)
    own = sets.parts_of(_own_set(by, proposal_id))
    proposal = sets.begin(by) if to is None else _own_set(by, to)
    sets.add(proposal, {name: part for name, part in own.items() if name in names})
    return proposal


@transaction.atomic
def discard(*, proposal_id: int, names: Collection[Name], by: User) -> None:
    """Throw away what one's own set changes of some entries: the draft has it as the current
    release again.

    Raises:
        ProposalError: it is somebody else's set, or something else needs what it adds.
    """
    lock_head(SYSTEM_CHAIN)
    proposal, current = _own_set(by, proposal_id), sets.current_bundle()
    parts = {name: part for name, part in sets.parts_of(proposal).items() if name in names}
    if current is None:
        raise ProposalError([gettext("There is no release to go back to.")])
    try:
        write(current, parts, by=by)
    except (Invalid, ManyInvalid, OutOfScope) as error:
        raise ProposalError([str(error)]) from error
    sets.leave(parts)


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
def publish_proposal(
    *, proposal_id: int, by: User, reason: str = "", alone: bool = False
) -> Release | None:
    """Make an open proposal current and return its release; running turns keep theirs.

    One whose time has not come is published then, and None is returned. ``reason`` is required
    where golden questions get worse, and where numbers of help lines change; where they were asked
    before another release became current, a comment says so. ``alone`` is for an emergency: its
    author publishes it at once, with a reason, whatever the golden questions say.

    Raises:
        BeyondScope: it touches agencies outside the scope of ``by``.
        ProposalError: ``by`` may not, is its author or was the last to change a field of it, it is
            decided or its end is over, somebody has published another change of the same field,
            the golden questions were not asked, or the reason is missing.
    """
    proposal = _decidable(proposal_id, by, publish=True, alone=alone)
    reason = _clean(reason)
    if alone and not reason:
        message = gettext("Write why nobody else can look at it: others read it afterwards.")
        raise ProposalError([message])
    losses = 0 if alone else _losses(proposal)
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
    if proposal.publish_at is not None and proposal.publish_at > timezone.now() and not alone:
        _close(proposal, Proposal.State.SCHEDULED, by, reason)
        record_system(
            kind="knowledge.scheduled",
            payload={"proposal": proposal.pk, "at": proposal.publish_at.isoformat()},
            actor=by.actor,
        )
        return None
    proposal.reason = reason
    return publish_decided(proposal, by, losses=losses, alone=alone)


def publish_decided(
    proposal: Proposal, by: User, *, losses: int = 0, alone: bool = False
) -> Release:
    """Publish a proposal that ``by`` has decided about, in the caller's transaction.

    Raises ProposalError where somebody has published another change of the same field, its end is
    over, or ``by`` has agreed in advance and may not publish it any more.
    """
    if proposal.expires_at is not None and proposal.expires_at <= timezone.now():
        raise ProposalError([gettext("The time at which it ends is over: turn it down.")])
    if proposal.state == Proposal.State.SCHEDULED and (
        not by.has_perm(MAY_PUBLISH) or agencies_outside_scope(changes(proposal), by)
    ):
        message = gettext("{name} agreed, but may not publish it any more: somebody else must.")
        raise ProposalError([message.format(name=by.display_name)])
    is_merged = selectors.current_number() != proposal.base_id
    _bring_up_to_date(proposal)
    if is_merged and not alone and GoldenQuestion.objects.exists():
        message = gettext("The golden questions were asked without release {number}.")
        Comment.objects.create(proposal=proposal, text=message.format(number=proposal.base_id))
    proposal.release = make_current(
        proposal.again or _release(proposal),
        by=by,
        proposal=proposal.pk,
        proposed_by=proposal.proposed_by.get_username(),
        again=proposal.again_id is not None,
        losses=losses,
        alone=alone,
        merged=is_merged,
    )
    _close(proposal, Proposal.State.PUBLISHED, by, proposal.reason)
    return proposal.release


def _bring_up_to_date(proposal: Proposal) -> None:
    """Put a proposal's changes into the release that is current now, where another one was.

    Raises ProposalError where both change the same field.
    """
    number = selectors.current_number()
    if number == proposal.base_id:
        return
    theirs = sets.current_bundle()
    if proposal.again_id is not None or proposal.base is None or theirs is None:
        message = gettext(
            "Release {number} became current after this was proposed: turn it down, and propose "
            "anew what shall still change."
        )
        raise ProposalError([message.format(number=number)])
    mine = Bundle.from_content(_release(proposal).content)
    merged, conflicts = merge(Bundle.from_content(proposal.base.content), mine, theirs)
    if conflicts:
        message = gettext(
            "Release {number} changes {entry} too ({field}): turn this down; its author then sees "
            "both and proposes it anew."
        )
        raise ProposalError(
            [
                message.format(number=number, entry=c.entry, field=column_label(c.column or "key"))
                for c in conflicts
            ]
        )
    try:
        bundle_of(sets.rows_of(merged), file="release")
    except BundleError as error:
        raise ProposalError([str(problem) for problem in error.errors]) from error
    proposal.content, proposal.sha256 = merged.content, merged.release().sha256
    proposal.base_id = number
    proposal.save(update_fields=["content", "sha256", "base"])


@transaction.atomic
def refuse(*, proposal_id: int, by: User, reason: str) -> None:
    """Turn an open proposal down, or take back one that waits for its time; ``reason`` is for its
    author.

    Raises:
        ProposalError: there is no reason, or as :func:`publish_proposal`.
    """
    proposal = _decidable(proposal_id, by, publish=False)
    reason = _written(reason, gettext("Write a reason: its author wants to know what to change."))
    _close(proposal, Proposal.State.REFUSED, by, reason)
    _edit_again(proposal)
    record_system(
        kind="knowledge.proposal_refused", payload={"proposal": proposal.pk}, actor=by.actor
    )


@transaction.atomic
def withdraw(*, proposal_id: int, by: User) -> None:
    """Withdraw one's own open proposal; its entries are edited again.

    Raises:
        ProposalError: it is somebody else's, or decided.
    """
    proposal = _locked(proposal_id, Proposal.State.OPEN, Proposal.State.SCHEDULED)
    if proposal.proposed_by_id != by.pk:
        message = gettext("Only its author can withdraw a proposal: you can turn it down.")
        raise ProposalError([message])
    _close(proposal, Proposal.State.WITHDRAWN, by, "")
    _edit_again(proposal)
    record_system(
        kind="knowledge.proposal_withdrawn", payload={"proposal": proposal.pk}, actor=by.actor
    )


def _edit_again(proposal: Proposal) -> None:
    """Give the entries of a set that is not published to a new one of its author, as far as they
    still differ and are in no other."""
    if proposal.again_id is None:
        proposed, free = sets.proposed_parts(proposal), sets.in_no_set()
        left = {
            name: replace(part, columns=part.columns & proposed[name].columns)
            for name, part in free.items()
            if name in proposed
        }
        if left := {name: part for name, part in left.items() if part.columns}:
            sets.add(sets.begin(proposal.proposed_by, note=proposal.note), left)


@transaction.atomic
def _open(proposal: Proposal, remarks: Sequence[Remark]) -> Proposal:
    lock_head(SYSTEM_CHAIN)
    if proposal.pk is not None:
        _in_state(proposal.pk, Proposal.State.DRAFT)  # nobody else has proposed it meanwhile
        if assembled(proposal).release.sha256 != proposal.sha256:
            message = gettext("Somebody changed it, or published, meanwhile: look at it again.")
            raise ProposalError([message])
    number = selectors.current_number()
    proposal.base = None if number is None else Release.objects.get(number=number)
    if proposal.base is not None and proposal.base.sha256 == proposal.sha256:
        message = (
            gettext("It is the same as the current release, {current}: change something first.")
            if proposal.again_id is None
            else gettext("Release {number} is the same as the current release, {current}.")
        )
        text = message.format(number=proposal.again_id, current=proposal.base_id)
        raise ProposalError([text])
    proposal.checks = [asdict(remark) for remark in remarks]
    proposal.state, proposal.proposed_at = Proposal.State.OPEN, timezone.now()
    proposal.save()
    proposal.entries.all().delete()
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
    if GoldenQuestion.objects.exists():
        golden.start(proposal=proposal, by=proposal.proposed_by)
    return proposal


def _check_times(publish_at: datetime | None, expires_at: datetime | None) -> None:
    now = timezone.now()
    if any(time is not None and time > now + LATEST for time in (publish_at, expires_at)):
        raise ProposalError([gettext("Choose a time within ten years.")])
    if publish_at is not None and publish_at <= now:
        message = gettext("The time to publish it is over: choose a later one, or none.")
        raise ProposalError([message])
    if expires_at is not None and selectors.current_number() is None:
        message = gettext("There is no release to go back to: propose it without an end.")
        raise ProposalError([message])
    if expires_at is not None and expires_at <= max(now, publish_at or now):
        raise ProposalError([gettext("It would end before it is published: choose a later time.")])


def _checked_note(note: str, by: User, missing: str) -> str:
    """Return the stripped note of somebody who may propose now."""
    if not by.has_perm(MAY_PROPOSE):
        message = gettext("You may not propose: ask an administrator to make you an editor.")
        raise ProposalError([message])
    return _written(note, missing)


def _locked(proposal_id: int, *states: Proposal.State) -> Proposal:
    """Return a proposal in one of ``states``, else OPEN, locked against other decisions until the
    transaction ends."""
    lock_head(SYSTEM_CHAIN)
    return _in_state(proposal_id, *states)


def _in_state(proposal_id: int, *states: Proposal.State) -> Proposal:
    proposal = Proposal.objects.filter(pk=proposal_id).first()
    if proposal is None:
        raise ProposalError([gettext("There is no proposal {number}.").format(number=proposal_id)])
    if proposal.state not in (states or (Proposal.State.OPEN,)):
        by = proposal.decided_by
        name = gettext("somebody") if by is None else by.display_name
        message = gettext(_DECIDED[Proposal.State(proposal.state)])
        raise ProposalError(
            [message.format(number=proposal.pk, name=name, release=proposal.release_id)]
        )
    return proposal


def _decidable(proposal_id: int, by: User, *, publish: bool, alone: bool = False) -> Proposal:
    """Return the open proposal that ``by`` may publish, or turn down, one with a time also then."""
    if not by.has_perm(MAY_PUBLISH):
        raise ProposalError([gettext(_MAY_NOT[publish])])
    states = [Proposal.State.OPEN, *([] if publish else [Proposal.State.SCHEDULED])]
    proposal = _locked(proposal_id, *states)
    is_author = proposal.proposed_by_id == by.pk
    if alone and not is_author:
        message = gettext("Somebody else proposed it: you are the second person, so publish it.")
        raise ProposalError([message])
    if is_author and not alone:
        raise ProposalError([gettext(_AUTHOR[publish])])
    if publish and not alone and (entries := written_by(proposal, by)):
        message = gettext("You changed it too ({entries}), so somebody else must publish it.")
        raise ProposalError([message.format(entries=", ".join(entries[:20]))])
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


@transaction.atomic
def comment(*, proposal_id: int, text: str, by: User) -> Comment:
    """Say something about a change set to the other editors.

    Raises:
        ProposalError: there is no text, or no such set.
    """
    text = _written(text, gettext("Write what you want to say."))
    proposal = Proposal.objects.only("pk").filter(pk=proposal_id).first()
    if proposal is None:
        raise ProposalError([gettext("There is no proposal {number}.").format(number=proposal_id)])
    return Comment.objects.create(proposal=proposal, text=text, by=by)


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
