"""Reads: pages and their runs, of the agencies of a user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.studio import runs
from ieim.studio.models import PageRun, WebPage

LOST = (WebPage.State.CHANGED, WebPage.State.GONE)
"""The states of a page that no longer says what its entry rests on."""

_MOST_ENDED = 2
"""Runs that are listed though nothing more comes of them."""


def visible(user: User) -> QuerySet[WebPage]:
    """Return the pages, without what they say and what was drafted."""
    scope, pages = agencies_of(user), WebPage.objects.defer("text", "body", "draft", "rests_on")
    return pages if scope is None else pages.filter(agency__in=scope)


def visible_runs(user: User) -> QuerySet[PageRun]:
    """Return the runs, the newest first, each with how many pages are ``due``."""
    scope = agencies_of(user)
    rows = PageRun.objects.annotate(due=Count("pages", filter=Q(pages__is_due=True)))
    return rows if scope is None else rows.filter(agency__in=scope)


def listed_runs(user: User) -> list[PageRun]:
    """Return the runs of the last week that go on or could go on, and the newest of those that have
    failed, or have a note."""
    is_open = Q(state__in=runs.UNFINISHED_STATES) | Q(due__gt=0)
    rows = visible_runs(user).filter(created_at__gte=timezone.now() - timedelta(days=7))
    ended = rows.exclude(is_open).filter(Q(state=PageRun.State.FAILED) | ~Q(note=""))
    return [*rows.filter(is_open), *ended[:_MOST_ENDED]]


def lost(user: User) -> list[tuple[str, str, int]]:
    """Return the states of :data:`LOST` that pages are in: value, label, and number of pages."""
    counts = Counter(visible(user).filter(state__in=LOST).values_list("state", flat=True))
    return [(state.value, str(state.label), counts[state]) for state in LOST if counts[state]]


def sources(entries: Iterable[str], scope: frozenset[str] | None) -> dict[tuple[str, str], WebPage]:
    """Return the page within ``scope`` that each of these entries was taken from, by table and
    entry: of many one that no longer says what the entry rests on."""
    pages = WebPage.objects.filter(entry__in={*entries} - {""})
    pages = pages.only("table", "entry", "state", "address")
    pages = pages if scope is None else pages.filter(agency__in=scope)
    return {(p.table, p.entry): p for p in sorted(pages, key=lambda page: page.state in LOST)}
