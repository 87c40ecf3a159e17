"""The metrics page, and the same figures as CSV."""

from __future__ import annotations

from collections.abc import Mapping

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
from review.metrics.filters import Filters
from review.metrics.page import build
from review.queue.filters import BadAddress

Seen = tuple[Figures, Mapping[str, str], Mapping[int, str] | None, frozenset[str] | None]
"""The figures that a user may see, and the rest of what :func:`build` takes."""


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Show a period's figures; 400 with the last 28 days where the address is wrong."""
    problem, today = None, timezone.localdate()
    try:
        requested = filters.parse(request.GET.dict(), today)
        seen = _seen(request, requested)
    except BadAddress as error:
        problem, requested = error, filters.last_days(filters.DEFAULT, today)
        seen = _seen(request, requested)
    page = build(requested, *seen)
    page["outage"] = outages.current()
    context = {"page": page, "problem": problem, "typed": request.GET}
    return render(request, "review/metrics/metrics.html", context, status=400 if problem else 200)


@require_safe
def metrics_csv(request: HttpRequest) -> HttpResponse:
    """Return the figures as CSV; 400 with a sentence where the address is wrong."""
    try:
        requested = filters.parse(request.GET.dict(), timezone.localdate())
        figures, agencies, people, _scope = _seen(request, requested)
    except BadAddress as error:
        return HttpResponse(str(error), status=400, content_type="text/plain; charset=utf-8")
    if requested.agency:
        figures = figures.only(lambda row: row.agency == requested.agency)
    text = csv.write(csv.measures(figures, people or {}), agencies)
    period = f"{requested.period.first.isoformat()}-to-{requested.period.last.isoformat()}"
    headers = {"Content-Disposition": f'attachment; filename="metrics-{period}.csv"'}
    return HttpResponse(text, headers=headers, content_type="text/csv; charset=utf-8")


def _seen(request: HttpRequest, requested: Filters) -> Seen:
    """Return what is asked for; raises :class:`BadAddress` for an agency that is not the user's."""
    user = member(request)
    scope = agencies_of(user)
    figures = load(requested.period, scope)
    agencies = _agencies(figures, scope)
    if requested.agency and requested.agency not in agencies:
        message = gettext("There are no figures of that agency for you. Choose one of the list.")
        raise BadAddress(message, "agency")
    people = None
    if user.has_perm("review.supervise_reviewitem"):
        found = User.objects.in_bulk({row.actor for row in figures.decided})
        people = {key: _display_name(person) for key, person in found.items()}
    return figures, agencies, people, scope


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
