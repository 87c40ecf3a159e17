"""Proposing, and deciding about what somebody else proposed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ieim.knowledge.models import Release
from ieim.knowledge.selectors import current_number
from ieim.knowledge.selectors import release as stored_release
from ieim.people.access import member
from ieim.people.scope import agencies_of
from ieim.studio.checks import Remark, Severity, checking
from ieim.studio.drafts import kept as drafts
from ieim.studio.models import Proposal
from ieim.studio.pages import presenters, selectors
from ieim.studio.proposals import services as proposals
from ieim.studio.proposals.differences import differences
from ieim.studio.proposals.services import MAY_PUBLISH, BeyondScope, ProposalError
from ieim.studio.proposals.touching import beyond, help_numbers


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def propose(request: HttpRequest) -> HttpResponse:
    """Propose the draft: what it changes, what the checks say, a note. 422 where it cannot be.

    htmx asks how far the checks are.
    """
    problems: Sequence[str] = ()
    if request.method == "POST":
        try:
            proposal = proposals.propose(note=_text(request), by=member(request))
        except ProposalError as error:
            problems = error.reasons
        else:
            messages.success(request, _waits(proposal))
            return redirect("knowledge:proposal", proposal.pk)
    now, draft = selectors.now(), drafts.draft()
    found = checking.checked_draft(draft)
    errors = [remark for remark in found.remarks if remark.severity is Severity.ERROR]
    said = {"run": found.run, "warnings": len(found.remarks) - len(errors)}
    if request.headers.get("HX-Request"):
        return render(request, "studio/pages/parts/checking.html", said)
    changes = differences(now.release, draft.release)
    context = {
        "now": now,
        "problems": problems,
        "text": _text(request),
        "counts": presenters.counted(changes),
        "changed": len(changes),
        "errors": len(errors),
        **said,
    }
    return render(request, "studio/pages/propose.html", context, status=422 if problems else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def again(request: HttpRequest, number: int) -> HttpResponse:
    """Propose an earlier release. 422 where it cannot be."""
    release = get_object_or_404(Release, number=number)
    problems: Sequence[str] = ()
    if request.method == "POST":
        try:
            proposal = proposals.propose_again(
                release=release, note=_text(request), by=member(request)
            )
        except ProposalError as error:
            problems = error.reasons
        else:
            messages.success(request, _waits(proposal))
            return redirect("knowledge:proposal", proposal.pk)
    context = {
        "release": release,
        "current": current_number(),
        "problems": problems,
        "text": _text(request),
    }
    return render(request, "studio/pages/again.html", context, status=422 if problems else 200)


@never_cache
@require_safe
def proposal(request: HttpRequest, proposal: int) -> HttpResponse:
    """One proposal: what it changes, what the checks said, the golden questions, the decision."""
    return _page(request, proposal)


@never_cache
@require_POST
def publish(request: HttpRequest, proposal: int) -> HttpResponse:
    """Make it current."""

    def act(text: str) -> str:
        release = proposals.publish_proposal(proposal_id=proposal, by=member(request), reason=text)
        told = gettext("Release {number} is current: new questions are answered from it.")
        return told.format(number=release.number)

    return _decided(request, proposal, "publish", act)


@never_cache
@require_POST
def refuse(request: HttpRequest, proposal: int) -> HttpResponse:
    """Turn it down, with a reason."""

    def act(text: str) -> str:
        proposals.refuse(proposal_id=proposal, by=member(request), reason=text)
        told = gettext("Proposal {number} is turned down; its author can read why here.")
        return told.format(number=proposal)

    return _decided(request, proposal, "refuse", act)


@never_cache
@require_POST
def withdraw(request: HttpRequest, proposal: int) -> HttpResponse:
    """Take one's own back."""

    def act(_: str) -> str:
        proposals.withdraw(proposal_id=proposal, by=member(request))
        told = gettext("Proposal {number} is withdrawn. The draft is as it was.")
        return told.format(number=proposal)

    return _decided(request, proposal, "withdraw", act)


def _decided(
    request: HttpRequest, proposal: int, action: str, act: Callable[[str], str]
) -> HttpResponse:
    """Act and show the proposal again: by a redirect, or at once with the reasons and 422; 403
    where it touches agencies that are not theirs."""
    get_object_or_404(Proposal.objects.only("pk"), pk=proposal)
    try:
        messages.success(request, act(_text(request)))
    except ProposalError as error:
        status = 403 if isinstance(error, BeyondScope) else 422
        return _page(request, proposal, problems=error.reasons, action=action, status=status)
    return redirect("knowledge:proposal", proposal)


def _page(
    request: HttpRequest,
    pk: int,
    *,
    problems: Sequence[str] = (),
    action: str = "",
    status: int = 200,
) -> HttpResponse:
    found = get_object_or_404(selectors.proposals(), pk=pk)
    before = None if found.base_id is None else stored_release(found.base_id)
    after = drafts.release_of(found)
    changed = differences(before, after)
    names = presenters.agency_names(before, after)
    asked, run = proposals.golden_state(found)
    remarks = [Remark.from_dict(values) for values in found.checks]
    context: dict[str, Any] = {
        "proposal": found,
        "open": found.state == Proposal.State.OPEN,
        "mine": found.proposed_by_id == request.user.pk,
        "may_publish": request.user.has_perm(MAY_PUBLISH),
        "beyond": beyond(found, request.user) if found.state == Proposal.State.OPEN else "",
        "numbers": help_numbers(changed),
        "differences": presenters.difference_list(
            changed,
            request.GET,
            names=names,
            scope=agencies_of(request.user),
            kept={},
        ),
        "clear": reverse("knowledge:proposal", args=[pk]),
        "warnings": len(remarks),
        "remarks": presenters.remark_groups(remarks),
        "golden": asked,
        "run": run,
        "problems": problems,
        "action": action,
        "text": _text(request) if problems else "",
    }
    return render(request, "studio/pages/proposal.html", context, status=status)


def _waits(proposal: Proposal) -> str:
    return gettext("Proposal {number} waits for a second person.").format(number=proposal.pk)


def _text(request: HttpRequest) -> str:
    return request.POST.get("text", "")[:10_000]
