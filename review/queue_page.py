"""A page of the queue, and what has changed since it was loaded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser

from ieim.knowledge import selectors as knowledge
from ieim.knowledge.scope import agencies_of
from review import claims, queue_presenters, selectors
from review.models import SavedView
from review.queue_presenters import Choice, Live, QueueRow, Select, Tab
from review.searching import Filters
from review.selectors import Page


@dataclass(frozen=True, slots=True)
class News:
    """What is new on an open page: ``count`` items that it does not show, and its rows as they are.

    ``address`` asks for the next news, ``reload`` shows the new items. ``digest`` is of all that
    can change.
    """

    count: int
    rows: tuple[Live, ...]
    digest: str
    address: str
    reload: str


@dataclass(frozen=True, slots=True)
class QueuePage:
    """All that the page shows; ``colleagues`` is empty for whom may not assign."""

    filters: Filters
    rows: tuple[QueueRow, ...]
    previous: str
    next: str
    tabs: tuple[Tab, ...]
    selects: tuple[Select, ...]
    views: tuple[Choice, ...]
    colleagues: tuple[Choice, ...]
    may_decide: bool
    nothing: str
    news: News


def queue_page(
    user: AbstractUser, filters: Filters, params: Mapping[str, str], now: datetime
) -> QueuePage:
    """Return a page of a list; ``params`` may say ``after`` or ``before`` which place.

    A constant number of queries. Raises :class:`review.selectors.UnknownPage`.
    """
    listed = selectors.listing(user, filters, now)
    after, before = params.get("after", ""), params.get("before", "")
    page = selectors.page(listed, after=after, before=before)
    release = knowledge.current_release()
    rows = tuple(queue_presenters.queue_row(item, user, release, now) for item in page.items)
    return QueuePage(
        filters=filters,
        rows=rows,
        previous=_address(filters, before=page.previous),
        next=_address(filters, after=page.next),
        tabs=queue_presenters.tabs(filters, selectors.counts(user, now)),
        selects=queue_presenters.selects(filters, release, agencies_of(user)),
        views=queue_presenters.views(SavedView.objects.filter(owner_id=user.pk), filters),
        colleagues=_colleagues(user) if user.has_perm(claims.SUPERVISE) else (),
        may_decide=user.has_perm(claims.DECIDE),
        nothing=queue_presenters.nothing(filters),
        news=_first_news(filters, page, rows),
    )


def news(
    user: AbstractUser,
    filters: Filters,
    params: Mapping[str, str],
    shown: Sequence[UUID],
    now: datetime,
) -> News:
    """Return what has changed on a page that shows ``shown`` between ``start`` and ``until``."""
    listed = selectors.listing(user, filters, now)
    start, until = params.get("start", ""), params.get("until", "")
    there = selectors.keys_between(listed, after=start, until=until)
    count = len(set(there) - set(shown))
    found = {item.pk: item for item in selectors.rows(shown, user)}
    rows = [queue_presenters.live(found.get(pk), pk, user, now) for pk in shown]
    return _news(filters, count, rows, start=start, until=until)


def _first_news(filters: Filters, page: Page, rows: Sequence[QueueRow]) -> News:
    # New items before the first one show on an earlier page, where there is one.
    first = page.previous
    return _news(filters, 0, [row.live for row in rows], start=first, until=page.next)


def _news(filters: Filters, count: int, rows: Iterable[Live], *, start: str, until: str) -> News:
    live = tuple(rows)
    digest = hashlib.sha256(repr((count, live)).encode()).hexdigest()[:16]
    values = {
        "start": start,
        "until": until,
        "shown": ",".join(row.id.hex for row in live),
        "known": digest,
    }
    address = "&".join(part for part in (filters.query, urlencode(values, safe=",")) if part)
    return News(count, live, digest, address, filters.query)


def _address(filters: Filters, **place: str) -> str:
    """Return a page's query string, empty where there is no such page."""
    if not any(place.values()):
        return ""
    return "&".join(part for part in (filters.query, urlencode(place)) if part)


def _colleagues(user: AbstractUser) -> tuple[Choice, ...]:
    backend = "django.contrib.auth.backends.ModelBackend"
    found = get_user_model().objects.with_perm(claims.DECIDE, backend=backend)
    named = sorted((selectors.name_of(each), each.get_username(), each.pk) for each in found)
    return tuple(Choice(username, name, pk == user.pk) for name, username, pk in named)
