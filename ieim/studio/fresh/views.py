"""Pages: services by review date, the owner and date of one, and the check of links."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ieim.knowledge.bundles.columns import LINK_LIMIT
from ieim.people.access import member
from ieim.people.models import User
from ieim.people.scope import agencies_of, works_for
from ieim.studio.fresh import selectors, services
from ieim.studio.models import ContentReview, LinkRun, Service
from ieim.studio.pages import presenters
from ieim.studio.pages.presenters import choices, chosen, filtered_page

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


class ReviewForm(forms.Form):
    """The review date, the source and the owner of a service; ``editors`` may own it."""

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

    def __init__(self, editors: Iterable[User], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [(str(user.pk), user.display_name) for user in editors]
        self.fields["owner"] = forms.ChoiceField(
            required=False,
            label=gettext("Owner"),
            help_text=gettext("Gets an e-mail on the day, and every week after it."),
            choices=[("", gettext("Nobody")), *names],
            widget=forms.Select({"class": "govuk-select"}),
        )


@require_safe
def service_list(request: HttpRequest) -> HttpResponse:
    """List the services of the draft, overdue ones first."""
    scope, owner = agencies_of(request.user), chosen(request.GET, "owner", [ME])
    pairs = selectors.reviewed_services(owner=member(request) if owner else None)
    names = {service.agency_id: service.agency.name for service, _ in pairs}
    agencies = presenters.agency_choices(names, names, scope)
    agency = chosen(request.GET, "agency", (value for value, _ in agencies))
    pairs = [pair for pair in pairs if presenters.of_agency(pair[0].agency_id, agency, scope)]
    active = {"agency": agency, "owner": owner}
    context = {
        "list": filtered_page(pairs, request.GET, active, total=len(pairs)),
        "due": sum(review.is_due for _, review in pairs),
        "agencies": choices(agencies, agency),
        "owners": choices([("", gettext("Everybody")), (ME, gettext("Me"))], owner),
        "scope": scope,
    }
    return render(request, "studio/fresh/services.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def entry(request: HttpRequest) -> HttpResponse:
    """Show and change the owner, date and source of one service; 422 with what is wrong."""
    data = request.POST if request.method == "POST" else None
    agency, key = ((data or request.GET).get(name, "") for name in ("agency", "key"))
    service = None
    if "\0" not in agency + key and works_for(request.user, agency):
        service = Service.objects.filter(agency=agency, key=key).first()
    if service is None:
        raise Http404
    rows = ContentReview.objects.filter(table="services", entry=f"{agency} {key}")
    initial = rows.values("owner", "review_by", "source").first()
    editors = {str(user.pk): user for user in selectors.owners(agency)}
    form = ReviewForm(editors.values(), data, initial=initial, auto_id="%s")
    if data is not None and form.is_valid():
        values = {**form.cleaned_data, "owner": editors.get(form.cleaned_data["owner"])}
        services.plan_review(service=service, by=member(request), **values)
        messages.success(request, gettext("The owner and the date are saved."))
        return redirect("fresh:services")
    context = {"form": form, "service": service}
    status = 200 if data is None else 422
    return render(request, "studio/fresh/entry.html", context, status=status)


@require_safe
def link_list(request: HttpRequest) -> HttpResponse:
    """List the links with something wrong, and what to do."""
    scope, newest = agencies_of(request.user), LinkRun.objects.first()
    finished = LinkRun.objects.filter(state=LinkRun.State.DONE).first()
    faults = [
        fault
        for fault in selectors.faults(finished)
        if scope is None or any(remark.agency in scope for remark in fault[3])
    ]
    pages = filtered_page(faults, request.GET, {}, total=len(faults))
    urls = presenters.edit_urls([r for fault in pages.page for r in fault[3]], scope)
    rows = []
    for link, outcome, target, remarks in pages.page:
        entries = [(r.entry, urls.get((r.table, r.entry), "")) for r in remarks]
        rows.append((link, outcome, target, _ADVICE[outcome], entries))
    context = {
        "list": pages,
        "rows": rows,
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
