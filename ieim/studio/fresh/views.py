"""Pages: services by review date, the owner and date of one, and the check of links."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ieim.knowledge.bundles.columns import LINK_LIMIT
from ieim.people.access import member
from ieim.people.models import User
from ieim.people.scope import agencies_of, works_for
from ieim.studio.fresh import selectors, services
from ieim.studio.fresh.selectors import owners
from ieim.studio.models import ContentReview, LinkRun, Service
from ieim.studio.pages.presenters import (
    agency_choices,
    choices,
    chosen,
    edit_urls,
    filtered_page,
    of_agency,
)

ME = "me"
_ADVICE = {
    LinkRun.Outcome.GONE: gettext_lazy("Find the page that replaces it, or remove the link."),
    LinkRun.Outcome.MOVED: gettext_lazy("Read the page there. If it is the right one, link to it."),
    LinkRun.Outcome.CERTIFICATE: gettext_lazy("Tell whoever runs the site: browsers warn of it."),
    LinkRun.Outcome.UNREACHABLE: gettext_lazy("Open it yourself, and tell whoever runs the site."),
    LinkRun.Outcome.FORBIDDEN: gettext_lazy(
        "It is no address of the web, or leads into an internal network. Write a public one."
    ),
}


if TYPE_CHECKING:
    OfUser = forms.ModelChoiceField[User]
else:
    OfUser = forms.ModelChoiceField


class OwnerField(OfUser):
    """A choice of accounts, by the names of their owners."""

    def label_from_instance(self, obj: User) -> str:
        return obj.display_name


class ReviewForm(forms.Form):
    """The owner, the review date and the source of a service."""

    owner = OwnerField(
        User.objects.none(),
        required=False,
        label=gettext_lazy("Owner"),
        help_text=gettext_lazy("Gets an e-mail on the day, and every week after it."),
        empty_label=gettext_lazy("Nobody"),
        widget=forms.Select({"class": "govuk-select"}),
    )
    review_by = forms.DateField(
        required=False,
        label=gettext_lazy("Review by"),
        input_formats=["%Y-%m-%d"],
        widget=forms.DateInput({"class": "govuk-input own-short", "type": "date"}, "%Y-%m-%d"),
        error_messages={"invalid": gettext_lazy("Write a day, such as 2027-03-31.")},
    )
    source = forms.URLField(
        required=False,
        max_length=LINK_LIMIT,
        assume_scheme="https",
        label=gettext_lazy("Source"),
        help_text=gettext_lazy("The page or the law that the service is compared with."),
        widget=forms.URLInput({"class": "govuk-input", "type": "text"}),
    )

    def __init__(self, agency: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["owner"]
        assert isinstance(field, OwnerField)  # noqa: S101  # declared so
        field.queryset = owners(agency)


@require_safe
def service_list(request: HttpRequest) -> HttpResponse:
    """List the services of the draft, overdue ones first."""
    scope, user = agencies_of(request.user), member(request)
    owner = chosen(request.GET, "owner", [ME])
    rows = selectors.rows(owner=user if owner else None)
    agencies = agency_choices(
        (row.agency for row in rows), {row.agency: row.agency_name for row in rows}, scope
    )
    agency = chosen(request.GET, "agency", (value for value, _ in agencies))
    matches = [row for row in rows if of_agency(row.agency, agency, scope)]
    owner_choices = [("", gettext("Everybody")), (ME, gettext("Me"))]
    context = {
        "list": filtered_page(
            matches, request.GET, {"agency": agency, "owner": owner}, total=len(rows)
        ),
        "overdue": sum(row.is_overdue for row in matches),
        "agencies": choices(agencies, agency),
        "owners": choices(owner_choices, owner),
        "scope": scope,
    }
    return render(request, "studio/fresh/services.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def entry(request: HttpRequest) -> HttpResponse:
    """Show and change the owner, date and source of one service; 422 with what is wrong."""
    query = request.POST if request.method == "POST" else request.GET
    agency, key = query.get("agency", ""), query.get("key", "")
    service = None
    if "\0" not in agency + key and works_for(request.user, agency):
        service = Service.objects.filter(agency=agency, key=key).first()
    if service is None:
        raise Http404
    stored = ContentReview.objects.filter(table="services", entry=f"{agency} {key}").first()
    values = stored or ContentReview(review_by=timezone.localdate() + timedelta(days=365))
    initial = {"owner": values.owner, "review_by": values.review_by, "source": values.source}
    data = request.POST if request.method == "POST" else None
    form = ReviewForm(agency, data, initial=initial, auto_id="%s")
    if request.method == "POST" and form.is_valid():
        services.plan_review(service=service, by=member(request), **form.cleaned_data)
        messages.success(request, gettext("The owner and the date are saved."))
        return redirect("fresh:services")
    context = {"form": form, "service": service}
    status = 422 if request.method == "POST" else 200
    return render(request, "studio/fresh/entry.html", context, status=status)


@require_safe
def link_list(request: HttpRequest) -> HttpResponse:
    """List the links with something wrong, and what to do."""
    scope = agencies_of(request.user)
    finished = LinkRun.objects.filter(state=LinkRun.State.DONE).first()
    newest = LinkRun.objects.first()
    matches = [
        fault
        for fault in selectors.faults(finished)
        if scope is None or any(remark.agency in scope for remark in fault[3])
    ]
    page = filtered_page(matches, request.GET, {}, total=len(matches))
    urls = edit_urls([r for fault in page.page.object_list for r in fault[3]], scope)
    context = {
        "list": page,
        "rows": [
            {
                "link": link,
                "outcome": outcome,
                "advice": _ADVICE[outcome],
                "target": target,
                "entries": [(r.entry, urls.get((r.table, r.entry), "")) for r in remarks],
            }
            for link, outcome, target, remarks in page.page.object_list
        ],
        "finished": finished,
        "run": newest if newest != finished else None,
        "is_on": settings.IEIM_LINK_CHECK,
    }
    return render(request, "studio/fresh/links.html", context)


@require_POST
def check_links(request: HttpRequest) -> HttpResponse:
    """Begin a check of the links now."""
    services.begin_link_check()
    return redirect("fresh:links")


app_name = "fresh"
urlpatterns = [
    path("", service_list, name="services"),
    path("entry/", entry, name="entry"),
    path("links/", link_list, name="links"),
    path("links/check/", check_links, name="check_links"),
]
