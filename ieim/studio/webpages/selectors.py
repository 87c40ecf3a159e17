"""Reads: pages and their runs, of the agencies of a user."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.studio import runs
from ieim.studio.models import PageRun, WebPage


def visible(user: User) -> QuerySet[WebPage]:
    """Return the pages, without what they say and what was drafted."""
    scope, pages = agencies_of(user), WebPage.objects.defer("text", "body", "draft", "rests_on")
    return pages if scope is None else pages.filter(agency__in=scope)


def visible_runs(user: User) -> QuerySet[PageRun]:
    """Return the runs, the newest first, each with how many pages are ``due``."""
    scope = agencies_of(user)
    rows = PageRun.objects.annotate(due=Count("pages", filter=Q(pages__is_due=True)))
    return rows if scope is None else rows.filter(agency__in=scope)


def open_runs(user: User) -> QuerySet[PageRun]:
    """Return the runs of the last week that go on, could go on, or have a note."""
    is_open = Q(state__in=[*runs.UNFINISHED_STATES, PageRun.State.FAILED]) | Q(due__gt=0)
    recent = Q(created_at__gte=timezone.now() - timedelta(days=7))
    return visible_runs(user).filter(recent, is_open | ~Q(note=""))


def changed_page(table: str, entry: str) -> WebPage | None:
    """Return a page that no longer says what an entry rests on."""
    states = (WebPage.State.CHANGED, WebPage.State.GONE)
    return WebPage.objects.filter(table=table, entry=entry, state__in=states).first()
