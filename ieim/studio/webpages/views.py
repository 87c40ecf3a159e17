"""Pages: web pages are given to be read, and listed with what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ieim.people.access import member
from ieim.people.scope import agencies_of
from ieim.studio.drafts import sets
from ieim.studio.labels import column_label
from ieim.studio.models import Agency, WebPage
from ieim.studio.pages.presenters import (
    agency_choices,
    choices,
    chosen,
    filtered_page,
    of_agency,
)
from ieim.studio.runs import UNFINISHED_STATES
from ieim.studio.webpages import accept_views, selectors, services

_MAX_UPLOAD = 64 * 2**20


@require_http_methods(["GET", "HEAD", "POST"])
def home(request: HttpRequest) -> HttpResponse:
    """Give pages to be read; 422 with everything that is wrong, and what was typed."""
    user, typed, problems = member(request), request.POST, []
    files = request.FILES.getlist("files")
    if request.method == "POST":
        try:
            if sum(file.size or 0 for file in files) > _MAX_UPLOAD:
                message = gettext("The files are larger than {limit} MiB: give them in parts.")
                raise services.PagesError([message.format(limit=_MAX_UPLOAD // 2**20)])
            run = services.start(
                agency=typed.get("agency", "").replace("\0", ""),
                addresses=typed.get("addresses", "").splitlines(),
                sitemap=typed.get("sitemap", ""),
                files=[(file.name or "", file.read()) for file in files],
                by=user,
            )
        except services.PagesError as error:
            problems = [*error.reasons]
        else:
            messages.success(request, gettext("The pages are being read. You can go on working."))
            return redirect(f"{reverse('webpages:pages')}?agency={run.agency}")
    scope = agencies_of(user)
    agencies = Agency.objects.values_list("pk", "name")
    ours = agencies if scope is None else agencies.filter(pk__in=scope)
    context = {
        "agencies": choices(ours, typed.get("agency", "")),
        "typed": typed,
        "problems": problems,
        "hosts": settings.IEIM_PAGE_HOSTS,
    }
    status = 422 if problems else 200
    return render(request, "studio/webpages/home.html", context, status=status)


@require_safe
def pages(request: HttpRequest) -> HttpResponse:
    """List the pages by the filters of the address, and how far the runs are."""
    user = member(request)
    listed_runs = selectors.listed_runs(user)
    scope, rows = agencies_of(user), selectors.visible(user)
    ids = set(rows.order_by().values_list("agency", flat=True))
    agencies = agency_choices(ids, dict(Agency.objects.values_list("pk", "name")), scope)
    agency = chosen(request.GET, "agency", (value for value, _ in agencies))
    listed = rows.filter(agency__in=[i for i in ids if of_agency(i, agency, scope)])
    counts = Counter(listed.values_list("state", flat=True))
    states = [("", gettext("All states"))]
    states += [(s.value, f"{s.label} ({counts[s]})") for s in WebPage.State]
    state = chosen(request.GET, "state", (value for value, _ in states))
    listed = listed.filter(state=state) if state else listed
    active = {"agency": agency, "state": state}
    shown = filtered_page(listed.order_by("-pk"), request.GET, active, total=counts.total())
    context = {
        "list": shown,
        "rows": [(p, [(column_label(f), *texts) for f, *texts in p.changes]) for p in shown.page],
        "agencies": choices(agencies, agency),
        "states": choices(states, state),
        "first": listed.filter(state=WebPage.State.DRAFTED).first(),
        "set_size": sets.working_size(user),
        "runs": listed_runs,
        "is_under_way": any(run.state in UNFINISHED_STATES for run in listed_runs),
    }
    return render(request, "studio/webpages/list.html", context)


@require_POST
def steer(request: HttpRequest, run: int, change: Callable[..., None]) -> HttpResponse:
    """Pause a run, or go on with it."""
    user = member(request)
    change(run=get_object_or_404(selectors.visible_runs(user), pk=run), by=user)
    return redirect("webpages:pages")


app_name = "webpages"
urlpatterns = [
    path("", home, name="home"),
    path("pages/", pages, name="pages"),
    path("runs/<int:run>/pause/", steer, {"change": services.pause}, name="pause"),
    path("runs/<int:run>/resume/", steer, {"change": services.resume}, name="resume"),
    *accept_views.urlpatterns,
]
