"""Where editors begin: what is current, what the draft changes, what the checks say of it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from ieim.people.scope import agencies_of
from ieim.studio.checks import Severity, checking
from ieim.studio.drafts import kept as drafts
from ieim.studio.models import Proposal
from ieim.studio.pages import presenters, selectors
from ieim.studio.proposals.differences import differences

_RECENT = 5


@never_cache
@require_safe
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
    return render(request, "studio/pages/home.html", context)


@never_cache
@require_safe
def checks(request: HttpRequest) -> HttpResponse:
    """What the checks say of the draft as it is now; htmx asks how far they are."""
    draft = drafts.draft()
    found = checking.checked_draft(draft)
    if request.headers.get("HX-Request"):
        if found.run is None:
            return HttpResponseClientRefresh()
        return render(request, "studio/pages/parts/checking.html", {"run": found.run})
    view = presenters.remark_list(
        found.remarks,
        request.GET,
        release=draft.release,
        scope=agencies_of(request.user),
    )
    return render(request, "studio/pages/checks.html", {"checks": view, "run": found.run})


@never_cache
@require_POST
def check_again(request: HttpRequest) -> HttpResponse:
    """Start the checks again that have failed."""
    run = checking.checked_draft(drafts.draft()).run
    if run is not None:
        checking.begin_again(run_id=run.pk)
    return redirect("knowledge:checks")


@never_cache
@require_safe
def checks_summary(request: HttpRequest) -> HttpResponse:
    """The same in two figures, as a part of the first page: it may take a second."""
    found = checking.checked_draft(drafts.draft())
    errors = sum(remark.severity is Severity.ERROR for remark in found.remarks)
    context = {"errors": errors, "warnings": len(found.remarks) - errors, "run": found.run}
    return render(request, "studio/pages/parts/summary.html", context)
