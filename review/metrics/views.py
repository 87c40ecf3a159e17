"""The metrics page, and the same figures as CSV."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from conversations.outages import selectors as outages
from ieim.knowledge import selectors as knowledge
from ieim.people.access import member
from ieim.people.models import User
from ieim.people.scope import agencies_of
from review.metrics import csv, filters
from review.metrics.figures import Figures, load
from review.metrics.filters import BadPeriod, Filters
from review.metrics.page import build


@dataclass(frozen=True, slots=True)
class Seen:
    """The figures that a user may see; ``people`` is None where only the team's sums are shown."""

    scope: frozenset[str] | None
    figures: Figures
    agencies: Mapping[str, str]
    people: Mapping[int, str] | None


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Show a period's figures; 400 with the last 28 days where the address is wrong."""
    problem, requested = None, filters.last_days(filters.DEFAULT, timezone.localdate())
    try:
        requested = filters.parse(request.GET.dict(), timezone.localdate())
    except BadPeriod as error:
        problem = error
    seen = _seen(request, requested)
    if requested.agency and requested.agency not in seen.agencies:
        problem = _no_agency()
        requested = filters.last_days(filters.DEFAULT, timezone.localdate())
        seen = _seen(request, requested)
    page = build(requested, seen.figures, seen.agencies, seen.people, seen.scope)
    page["outage"] = outages.current()
    context = {"page": page, "problem": problem, "typed": request.GET}
    return render(request, "review/metrics/metrics.html", context, status=400 if problem else 200)


@require_safe
def metrics_csv(request: HttpRequest) -> HttpResponse:
    """Return the figures as CSV; 400 with a sentence where the address is wrong."""
    try:
        requested = filters.parse(request.GET.dict(), timezone.localdate())
        seen = _seen(request, requested)
        if requested.agency and requested.agency not in seen.agencies:
            raise _no_agency()
    except BadPeriod as error:
        return HttpResponse(error.message, status=400, content_type="text/plain; charset=utf-8")
    figures = seen.figures
    if requested.agency:
        figures = figures.only(lambda row: row.agency == requested.agency)
    text = csv.write(csv.measures(figures, seen.people or {}), seen.agencies)
    period = f"{requested.period.first.isoformat()}-to-{requested.period.last.isoformat()}"
    name = f'attachment; filename="metrics-{period}.csv"'
    headers = {"Content-Disposition": name}
    return HttpResponse(text, headers=headers, content_type="text/csv; charset=utf-8")


def _no_agency() -> BadPeriod:
    return BadPeriod(
        gettext("There are no figures of that agency for you. Choose one of the list."), "agency"
    )


def _seen(request: HttpRequest, requested: Filters) -> Seen:
    user = member(request)
    scope = agencies_of(user)
    figures = load(requested.period, scope)
    people = None
    if user.has_perm("review.supervise_reviewitem"):
        found = User.objects.in_bulk({row.actor for row in figures.decided})
        people = {key: _display_name(person) for key, person in found.items()}
    return Seen(scope, figures, _agencies(figures, scope), people)


def _display_name(person: User) -> str:
    """Return a person's name with the account's, because two people may have the same name."""
    name, account = person.get_full_name(), person.get_username()
    return f"{name} ({account})" if name else account


def _agencies(figures: Figures, scope: frozenset[str] | None) -> Mapping[str, str]:
    """Return the names, by id, of the agencies that the user can choose among."""
    release = knowledge.current_release()
    names = {} if release is None else {a.id: a.name for a in release.agencies.values()}
    ids = names.keys() | figures.agencies if scope is None else scope
    return {agency: names.get(agency, agency) for agency in ids if agency}
