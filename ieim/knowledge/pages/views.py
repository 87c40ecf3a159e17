"""Where editors begin: what is current, what the draft changes, what the checks say of it."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required, permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from ieim.knowledge import checking, drafts
from ieim.knowledge.differences import differences
from ieim.knowledge.examining import Severity
from ieim.knowledge.models import Proposal
from ieim.knowledge.pages import presenters, selectors
from ieim.knowledge.scope import agencies_of

may_see = permission_required("knowledge.view_release", raise_exception=True)

_RECENT = 5


@never_cache
@require_safe
@login_required
@may_see
def home(request: HttpRequest) -> HttpResponse:
    """What is current, what the draft changes, and the next step."""
    now = selectors.now()
    changes = differences(now.release, drafts.draft().release)
    scope = agencies_of(request.user)
    context = {
        "now": now,
        "counts": presenters.counted(changes),
        "changed": len(changes),
        "mine": sum(each.agency in scope for each in changes) if scope else None,
        "recent": selectors.proposals().exclude(state=Proposal.State.OPEN)[:_RECENT],
    }
    return render(request, "knowledge/home.html", context)


@never_cache
@require_safe
@login_required
@may_see
def checks(request: HttpRequest) -> HttpResponse:
    """What the checks say of the draft as it is now; htmx asks how far they are."""
    draft = drafts.draft()
    found = checking.checked_draft(draft)
    if request.headers.get("HX-Request"):
        if found.run is None:
            return HttpResponseClientRefresh()
        return render(request, "knowledge/_checking.html", {"run": found.run})
    view = presenters.remark_list(
        found.remarks,
        request.GET,
        release=draft.release,
        scope=agencies_of(request.user),
    )
    return render(request, "knowledge/checks.html", {"checks": view, "run": found.run})


@never_cache
@require_POST
@login_required
@may_see
def check_again(request: HttpRequest) -> HttpResponse:
    """Start the checks again that have failed."""
    run = checking.checked_draft(drafts.draft()).run
    if run is not None:
        checking.begin_again(run_id=run.pk)
    return redirect("knowledge:checks")


@never_cache
@require_safe
@login_required
@may_see
def checks_summary(request: HttpRequest) -> HttpResponse:
    """The same in two figures, as a part of the first page: it may take a second."""
    found = checking.checked_draft(drafts.draft())
    errors = sum(remark.severity is Severity.ERROR for remark in found.remarks)
    context = {"errors": errors, "warnings": len(found.remarks) - errors, "run": found.run}
    return render(request, "knowledge/_summary.html", context)
