"""Views of what one does with one's own change sets: beginning, taking, leaving out, restoring."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from ieim.people.access import member
from ieim.studio.drafts import sets
from ieim.studio.drafts.merging import Name
from ieim.studio.models import Proposal
from ieim.studio.proposals import restoring
from ieim.studio.proposals import selectors as proposals_of
from ieim.studio.proposals import services as proposals
from ieim.studio.proposals.services import ProposalError

_NAME_LIMIT = 200
"""Characters of the name that a new set is given."""


@require_POST
def begin_set(request: HttpRequest) -> HttpResponse:
    """Begin a new change set, into which one's changes go from now on."""
    note = request.POST.get("note", "").replace("\x00", "").strip()
    new = sets.begin(member(request), note=note[:_NAME_LIMIT])
    return redirect("knowledge:proposal", new.pk)


@require_POST
def take(request: HttpRequest, proposal: int | None = None) -> HttpResponse:
    """Put entries into a set of one's own: those of the set that the form names, or those that it
    names themselves, else those in no set."""
    names = _names(request)
    try:
        chosen = proposals.take(by=member(request), names=names, proposal_id=proposal)
    except ProposalError as error:
        messages.error(request, " ".join(error.reasons))
        return redirect("knowledge:home")
    return redirect("knowledge:proposal", chosen.pk)


@require_POST
def leave_out(request: HttpRequest, proposal: int) -> HttpResponse:
    """Take entries out of a set of one's own: into another one (``to``: its number, or ``new``), or
    thrown away."""
    names, by, to = _names(request) or set(), member(request), request.POST.get("to", "")
    try:
        if not names:
            raise ProposalError([gettext("Choose what to leave out.")])
        if "discard" in request.POST:
            proposals.discard(proposal_id=proposal, names=names, by=by)
            message = gettext("Thrown away: the draft has it as citizens read it now.")
        else:
            number = int(to) if to.isdecimal() and len(to) < 10 else None
            other = proposals.move(proposal_id=proposal, names=names, by=by, to=number)
            message = gettext("Moved to change set {number}.").format(number=other.pk)
    except ProposalError as error:
        messages.error(request, " ".join(error.reasons))
    else:
        messages.success(request, message)
    return redirect("knowledge:proposal", proposal)


@require_POST
def restore(request: HttpRequest, number: int) -> HttpResponse:
    """Make entries of the draft again what they are in a release, in a set of one's own."""
    try:
        restored = restoring.restore(
            number=number, names=_names(request) or set(), by=member(request)
        )
    except ProposalError as error:
        messages.error(request, " ".join(error.reasons))
        return redirect("knowledge:release", number)
    messages.success(request, gettext("This is what changes. Propose it as any other change."))
    return redirect("knowledge:proposal", restored.pk)


def _names(request: HttpRequest) -> set[Name] | None:
    """Return the entries that a form names, or those of the set that it names; None for neither.

    A set may have more entries than a form may have fields.
    """
    number = request.POST.get("set", "")
    if number.isdecimal() and len(number) < 10:
        chosen = get_object_or_404(proposals_of.all_sets(), pk=int(number))
        if chosen.state == Proposal.State.DRAFT:
            return set(sets.parts_of(chosen))
        return {(change.table, change.entry) for change in proposals_of.changes(chosen)}
    posted = [value.partition(" ") for value in request.POST.getlist("entry")]
    return {(table, entry) for table, _, entry in posted} if posted else None
