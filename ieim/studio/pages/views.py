"""The editors' pages: the current release, the changes of the draft, and its publication."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.formats import date_format
from django.utils.timezone import localtime, now
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from ieim.knowledge.following import effective_by
from ieim.knowledge.models import Publication, Release
from ieim.knowledge.selectors import UnknownReleaseError, current_number, current_release, newest
from ieim.knowledge.selectors import release as stored_release
from ieim.people.access import member
from ieim.people.scope import agencies_of, works_for
from ieim.people.sessions import take_unsaved
from ieim.pipeline import knowledge
from ieim.studio.checks import Remark, Severity
from ieim.studio.checks import services as checking
from ieim.studio.drafting.selectors import stale_translations
from ieim.studio.drafting.services import has_model
from ieim.studio.drafts import cached as drafts
from ieim.studio.drafts import sets
from ieim.studio.models import Agency, Proposal, Service, Situation
from ieim.studio.pages import own_sets, presenters, selectors
from ieim.studio.pages.presenters import choices, chosen, filtered_page
from ieim.studio.proposals import selectors as proposals_of
from ieim.studio.proposals import services as proposals
from ieim.studio.proposals.differences import differences as compared
from ieim.studio.proposals.selectors import agencies_outside_scope, golden_state, help_numbers
from ieim.studio.proposals.services import MAY_PUBLISH, BeyondScope, ProposalError
from ieim.studio.translating.selectors import coverage
from ieim.studio.webpages import selectors as webpages

app_name = "knowledge"

DRAFT = "draft"
_RECENT = 5
"""Decided proposals on the first page."""
_UNDECIDED = (Proposal.State.OPEN, Proposal.State.SCHEDULED)


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show the current release, the size of the draft's changes, and proposals."""
    publications = Publication.objects.select_related("release", "published_by")
    current = current_release()
    changes = compared(current, drafts.draft().release)
    scope, set_rows = agencies_of(request.user), _set_rows(request)
    context = {
        "publication": publications.defer("release__content").first(),
        "release": current,
        "counts": presenters.kind_counts(changes),
        "changed": len(changes),
        "mine": sum(change.agency in scope for change in changes) if scope else None,
        "languages": coverage(drafts.draft().bundle),
        "sets": set_rows,
        "refused": [
            (row["set"], earlier)
            for row in set_rows
            if row["mine"]
            and row["set"].size
            and (earlier := selectors.earlier_try(row["set"]))
            and earlier.state == Proposal.State.REFUSED
        ],
        "free": _free(request),
        "waiting": proposals_of.proposals().filter(state__in=_UNDECIDED),
        "recent": selectors.decided()[:_RECENT],
        "lost_pages": webpages.lost(member(request)),
    }
    return render(request, "studio/pages/home.html", context)


def _free(request: HttpRequest) -> int:
    """Return how many entries are in no set that one may take."""
    scope = agencies_of(request.user)
    return sum(scope is None or part.agency in scope for part in sets.in_no_set().values())


@require_safe
def proposed(request: HttpRequest) -> HttpResponse:
    """List the proposals that are decided, newest first."""
    page = Paginator(selectors.decided(), presenters.PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "studio/pages/proposals.html", {"page": page, "query": ""})


def _set_rows(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sets that are edited, one's own first, for the template."""
    rows = proposals_of.all_sets().filter(state=Proposal.State.DRAFT)
    rows = rows.annotate(size=Count("entries"))
    mine = request.user.pk
    return [
        {"set": row, "mine": row.proposed_by_id == mine}
        for row in sorted(rows, key=lambda row: row.proposed_by_id != mine)
        if row.size or row.proposed_by_id == mine
    ]


@require_safe
def checks(request: HttpRequest) -> HttpResponse:
    """List the remarks of the checks about the draft; htmx polls their progress."""
    draft = drafts.draft()
    result = checking.checked_draft(draft)
    if request.headers.get("HX-Request"):
        if result.run is None:
            return HttpResponseClientRefresh()
        return render(request, "studio/pages/_parts.html#checking", {"run": result.run})
    remarks = presenters.remark_list(
        result.remarks, request.GET, release=draft.release, scope=agencies_of(request.user)
    )
    context = {"checks": remarks, "run": result.run, "lost_pages": webpages.lost(member(request))}
    return render(request, "studio/pages/checks.html", context)


@require_POST
def check_again(request: HttpRequest) -> HttpResponse:
    """Restart a failed run of the checks."""
    run = checking.checked_draft(drafts.draft()).run
    if run is not None:
        checking.begin_again(run_id=run.pk)
    return redirect("knowledge:checks")


@require_safe
def checks_summary(request: HttpRequest) -> HttpResponse:
    """Count the remarks for the first page, which loads this by itself: it may take a second."""
    result = checking.checked_draft(drafts.draft())
    errors = len(result.errors)
    context = {"errors": errors, "warnings": len(result.remarks) - errors, "run": result.run}
    return render(request, "studio/pages/_parts.html#summary", context)


@require_safe
def releases(request: HttpRequest) -> HttpResponse:
    """List the releases with their publications."""
    rows = Release.objects.select_related("created_by").defer("content")
    rows = rows.prefetch_related("publications__published_by")
    page = Paginator(rows, 20).get_page(request.GET.get("page"))
    context = {"page": page, "current": current_number(), "query": ""}
    return render(request, "studio/pages/releases.html", context)


@require_safe
def release(request: HttpRequest, number: int) -> HttpResponse:
    """Show one release: its origin, and its services to read and search."""
    row = get_object_or_404(Release.objects.defer("content"), number=number)
    value = stored_release(number)
    names = presenters.agency_names(value)
    text, agency, filters = _filters(request, names)
    matches = selectors.release_services(value, text, agency)
    publications = Publication.objects.filter(release_id=number).select_related("published_by")
    context = {
        **filters,
        "release": row,
        "value": value,
        "current": current_number() == number,
        "publications": publications,
        "proposal": proposals_of.proposals().filter(release=row).last(),
        "names": names,
        "list": filtered_page(
            matches, request.GET, {"q": text, "agency": agency}, total=len(value.services)
        ),
    }
    return render(request, "studio/pages/release.html", context)


@require_safe
def services(request: HttpRequest) -> HttpResponse:
    """List the services of the draft, to read, search and edit."""
    text, agency, filters = _filters(request, dict(Agency.objects.values_list("pk", "name")))
    matches = selectors.draft_services(text, agency)
    active = {"q": text, "agency": agency}
    page = filtered_page(matches, request.GET, active, total=Service.objects.count())
    user = member(request)
    sees_situations = works_for(user, "") and user.has_perm("studio.view_situation")
    context = {**filters, "list": page, "agency": agency}
    context["situations"] = Situation.objects.all() if sees_situations else None
    return render(request, "studio/pages/services.html", context)


def _filters(request: HttpRequest, names: Mapping[str, str]) -> tuple[str, str, dict[str, Any]]:
    """Return the words and the agency of the address, and both for the form."""
    agencies = [("", gettext("All agencies")), *names.items()]
    agency = chosen(request.GET, "agency", (id_ for id_, _ in agencies))
    text = request.GET.get("q", "")[:200]
    return text, agency, {"agencies": choices(agencies, agency), "text": text}


@require_safe
def service(request: HttpRequest, number: int) -> HttpResponse:
    """Show one service of a release as citizens see it."""
    value = _release(str(number))
    agency, key = request.GET.get("agency", ""), request.GET.get("key", "")
    service = value.services.get((agency, key))
    if service is None or agency not in value.agencies:
        raise Http404("There is no such service here.")
    name = f"{agency} {key}"
    remark = Remark("", Severity.WARNING, "services", name, agency, "")
    urls = presenters.edit_urls([remark], agencies_of(request.user))
    context = {
        "number": number,
        "service": service,
        "agency": value.agencies[agency],
        "categories": [value.categories.get((agency, key)) for key in service.categories],
        "reply": presenters.answer(service, value.agencies[agency]),
        "edit": urls.get(("services", name), ""),
    }
    return render(request, "studio/pages/service.html", context)


@require_safe
def differences(request: HttpRequest) -> HttpResponse:
    """Compare two sides: releases by number, or the draft."""
    numbers = [str(number) for number in Release.objects.values_list("number", flat=True)]
    of_number = gettext("Release {number}")
    sides = [
        (DRAFT, gettext("The draft")),
        *((number, of_number.format(number=number)) for number in numbers),
    ]
    values = [value for value, _ in sides]
    after = chosen(request.GET, "to", values) or DRAFT
    before = chosen(request.GET, "from", values) or str(current_number() or DRAFT)
    old, new = _release(before), _release(after)
    view = presenters.difference_list(
        compared(old, new),
        request.GET,
        names=presenters.agency_names(old, new),
        scope=agencies_of(request.user),
        active={"from": before, "to": after},
    )
    context = {
        "differences": view,
        "from": choices(sides, before),
        "to": choices(sides, after),
        "before": _within(before),
        "after": _within(after),
        "clear": f"{reverse('knowledge:differences')}?from={before}&to={after}",
    }
    return render(request, "studio/pages/differences.html", context)


def _within(side: str) -> str:
    if side == DRAFT:
        return gettext("the draft")
    return gettext("release {number}").format(number=side)


def _release(side: str) -> knowledge.Release:
    if side == DRAFT:
        return drafts.draft().release
    try:
        return stored_release(int(side))
    except UnknownReleaseError as error:
        raise Http404(str(error)) from error


@require_http_methods(["GET", "HEAD", "POST"])
def propose(request: HttpRequest) -> HttpResponse:
    """Lead to the set that one works on; sent with a note, propose it. 422 where that is not
    possible."""
    response, problems = _proposed(request, proposals.propose)
    if response:
        return response
    working = sets.working_set(member(request))
    if working is not None and problems:
        return _page(request, working.pk, problems=problems, action="propose", status=422)
    if working is not None and working.entries.exists():
        return redirect("knowledge:proposal", working.pk)
    context = {"free": _free(request), "problems": problems, "text": _text(request)}
    return render(request, "studio/pages/propose.html", context, status=422 if problems else 200)


@require_POST
def propose_set(request: HttpRequest, proposal: int) -> HttpResponse:
    """Propose a change set; 422 where that is not possible."""
    form = TimesForm(request.POST, auto_id="%s")
    problems: Sequence[str] = ()
    if form.is_valid():
        own = partial(proposals.propose, proposal_id=proposal, **form.cleaned_data)
        response, problems = _proposed(request, own)
        if response:
            return response
    return _page(request, proposal, problems=problems, action="propose", status=422, times=form)


def _time() -> forms.DateTimeField:
    widget = forms.DateTimeInput(
        format="%Y-%m-%dT%H:%M", attrs={"class": "govuk-input", "type": "datetime-local"}
    )
    message = gettext_lazy("Write the day and the time as 2027-01-31 08:00.")
    return forms.DateTimeField(required=False, widget=widget, error_messages={"invalid": message})


class TimesForm(forms.Form):
    """When a set is published, and when its entries become again what they were."""

    publish_at = _time()
    expires_at = _time()

    def clean(self) -> dict[str, Any]:
        """Say at its time what :func:`ieim.studio.proposals.services.propose` would refuse."""
        times = {name: time for name, time in self.cleaned_data.items() if time is not None}
        start = max(now(), times.get("publish_at", now()))
        for name, time in times.items():
            if time > now() + proposals.LATEST:
                self.add_error(name, gettext("Choose a time within ten years."))
            elif name == "publish_at" and time <= now():
                message = gettext("The time to publish it is over: choose a later one, or none.")
                self.add_error(name, message)
            elif name == "expires_at" and time <= start:
                message = gettext("It would end before it is published: choose a later time.")
                self.add_error(name, message)
        return self.cleaned_data


@require_POST
def comment(request: HttpRequest, proposal: int) -> HttpResponse:
    """Say something about a change set; 422 without a word."""
    get_object_or_404(Proposal.objects.only("pk"), pk=proposal)
    try:
        proposals.comment(proposal_id=proposal, text=_text(request), by=member(request))
    except ProposalError as error:
        return _page(request, proposal, problems=error.reasons, action="comment", status=422)
    messages.success(request, gettext("The other editors can read it now."), extra_tags="saved")
    return redirect(f"{reverse('knowledge:proposal', args=[proposal])}#comments")


@require_http_methods(["GET", "HEAD", "POST"])
def again(request: HttpRequest, number: int) -> HttpResponse:
    """Propose an earlier release; 422 where that is not possible."""
    release = get_object_or_404(Release, number=number)
    response, problems = _proposed(request, partial(proposals.propose_again, release=release))
    if response:
        return response
    context = {
        "release": release,
        "current": current_number(),
        "problems": problems,
        "text": _text(request),
    }
    return render(request, "studio/pages/again.html", context, status=422 if problems else 200)


def _proposed(
    request: HttpRequest, propose: Callable[..., Proposal]
) -> tuple[HttpResponse | None, Sequence[str]]:
    """Propose if the form was sent; return a redirect to the proposal, or the errors."""
    if request.method != "POST":
        return None, ()
    try:
        proposal = propose(note=_text(request), by=member(request))
    except ProposalError as error:
        return None, error.reasons
    message = gettext("Proposal {number} waits for a second person.")
    messages.success(request, message.format(number=proposal.pk))
    return redirect("knowledge:proposal", proposal.pk), ()


@require_safe
def proposal(request: HttpRequest, proposal: int) -> HttpResponse:
    """Show a change set: its changes, remarks, golden questions, comments and decision. htmx polls
    the progress of its checks."""
    if request.headers.get("HX-Request"):
        stored = get_object_or_404(proposals_of.all_sets(), pk=proposal)
        try:
            result = proposals.assembled(stored)
        except ProposalError:
            return HttpResponseClientRefresh()  # the whole page says what is missing
        checked = checking.checked(result.bundle, result.release)
        context = {"run": checked.run, "warnings": len(checked.remarks) - len(checked.errors)}
        return render(request, "studio/pages/_parts.html#checking", context)
    unsaved = take_unsaved(request, reverse("knowledge:comment", args=[proposal]))
    if unsaved is not None:
        request.POST = unsaved  # type: ignore[assignment]  # it is read as if it had just come
        return _page(request, proposal, action="comment")
    return _page(request, proposal)


_CURRENT = gettext_noop(
    "Release {number} is current: every new question is answered from it by {time} at the latest."
)
_DONE = {
    "publish": _CURRENT,
    "alone": _CURRENT,
    "refuse": gettext_noop("Proposal {number} is turned down; its author can read why here."),
    "withdraw": gettext_noop("Proposal {number} is withdrawn. Its entries are edited again."),
}


@require_POST
def decide(request: HttpRequest, proposal: int, action: str) -> HttpResponse:
    """Decide about a proposal, and redirect to it.

    If that is refused, show it with the reasons and 422; 403 where it touches other agencies.
    """
    get_object_or_404(Proposal.objects.only("pk"), pk=proposal)
    by, reason, number, time = member(request), _text(request), proposal, ""
    try:
        if action in ("publish", "alone"):
            release = proposals.publish_proposal(
                proposal_id=proposal, by=by, reason=reason, alone=action == "alone"
            )
            if release is None:
                messages.success(request, gettext("It is published at its time."))
                return redirect("knowledge:proposal", proposal)
            number, time = release.number, _effective_by()
        elif action == "refuse":
            proposals.refuse(proposal_id=proposal, by=by, reason=reason)
        else:
            proposals.withdraw(proposal_id=proposal, by=by)
    except ProposalError as error:
        status = 403 if isinstance(error, BeyondScope) else 422
        return _page(request, proposal, problems=error.reasons, action=action, status=status)
    messages.success(request, gettext(_DONE[action]).format(number=number, time=time))
    return redirect("knowledge:proposal", proposal)


def _effective_by() -> str:
    publication = newest()
    return date_format(localtime(effective_by(publication)), "H:i:s") if publication else ""


def _page(
    request: HttpRequest,
    pk: int,
    *,
    problems: Sequence[str] = (),
    action: str = "",
    status: int = 200,
    times: TimesForm | None = None,
) -> HttpResponse:
    stored = get_object_or_404(proposals_of.all_sets(), pk=pk)
    is_draft = stored.state == Proposal.State.DRAFT
    checks: Sequence[Mapping[str, Any]] = stored.checks
    check_run = None
    before: knowledge.Release | None
    after: knowledge.Release | None
    if is_draft:
        before = after = current_release()
        try:
            result = proposals.assembled(stored)
        except ProposalError as error:
            problems = problems or error.reasons
        else:
            after = result.release
            checked = checking.checked(result.bundle, result.release)
            checks = [asdict(remark) for remark in (*result.faults, *checked.remarks)]
            check_run = checked.run
    else:
        before, after = proposals_of.sides(stored)
    changed = [] if after is None else compared(before, after)
    names = presenters.agency_names(before, after)
    has_questions, run = golden_state(stored)
    remarks = [Remark.from_dict(values) for values in checks]
    comments = list(stored.comments.select_related("by"))
    earlier = selectors.earlier_try(stored)
    context: dict[str, Any] = {
        "proposal": stored,
        "open": stored.state == Proposal.State.OPEN,
        "scheduled": stored.state == Proposal.State.SCHEDULED,
        "mine": stored.proposed_by_id == request.user.pk,
        "is_draft": is_draft,
        "check_run": check_run,
        "errors": sum(remark.severity is Severity.ERROR for remark in remarks),
        "others": selectors.others_at(stored) if is_draft else (),
        "my_sets": _set_rows(request) if is_draft else (),
        "times": times or TimesForm(initial=selectors.coming_times(earlier), auto_id="%s"),
        "comments": comments,
        "author_comment": [c for c in comments if c.by_id == stored.proposed_by_id][-1:],
        "earlier": earlier,
        "earlier_comments": earlier.comments.select_related("by") if earlier else (),
        "may_publish": request.user.has_perm(MAY_PUBLISH),
        "beyond": agencies_outside_scope(changed, request.user)
        if stored.state in (*_UNDECIDED, Proposal.State.PUBLISHED)
        else "",
        "numbers": help_numbers(changed),
        "differences": presenters.difference_list(
            changed, request.GET, names=names, scope=agencies_of(request.user), active={}
        ),
        "clear": reverse("knowledge:proposal", args=[pk]),
        "warnings": len(remarks),
        "remarks": presenters.remark_groups(remarks),
        "golden": has_questions,
        "live": current_number(),
        "stale": stale_translations(before, after) if is_draft and after else (),
        "has_model": has_model(),
        "run": run,
        "problems": problems,
        "action": action,
        "text": _text(request),
    }
    return render(request, "studio/pages/proposal.html", context, status=status)


def _text(request: HttpRequest) -> str:
    return request.POST.get("text", "")[:10_000]


urlpatterns = [
    path("", home, name="home"),
    path("checks/", checks, name="checks"),
    path("checks/again/", check_again, name="check_again"),
    path("checks/summary/", checks_summary, name="checks_summary"),
    path("services/", services, name="services"),
    path("differences/", differences, name="differences"),
    path("releases/", releases, name="releases"),
    path("releases/<int:number>/", release, name="release"),
    path("releases/<int:number>/service/", service, name="service"),
    path("releases/<int:number>/again/", again, name="again"),
    path("propose/", propose, name="propose"),
    path("sets/", own_sets.begin_set, name="begin_set"),
    path("sets/take/", own_sets.take, name="take"),
    path("releases/<int:number>/restore/", own_sets.restore, name="restore"),
    path("proposals/", proposed, name="proposals"),
    path("proposals/<int:proposal>/", proposal, name="proposal"),
    path("proposals/<int:proposal>/propose/", propose_set, name="propose_set"),
    path("proposals/<int:proposal>/take/", own_sets.take, name="take_into"),
    path("proposals/<int:proposal>/leave-out/", own_sets.leave_out, name="leave_out"),
    path("proposals/<int:proposal>/comment/", comment, name="comment"),
    *(
        path(f"proposals/<int:proposal>/{action}/", decide, {"action": action}, name=action)
        for action in _DONE
    ),
]
