"""A page of the queue, and what has changed since it was loaded."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.utils.translation import gettext

from ieim.knowledge import selectors as knowledge
from ieim.people.models import User
from ieim.people.scope import agencies_of
from review.deciding import locking
from review.models import SavedView
from review.queue import head as queue_head
from review.queue import lists, selectors
from review.queue import presenters as queue_presenters
from review.queue.head import LISTED, Tab
from review.queue.paging import Listing, place
from review.queue.presenters import Choice, Live, QueueRow, Select
from review.queue.searching import Filters
from review.queue.selectors import Count


@dataclass(frozen=True, slots=True)
class News:
    """What is new on an open page: ``count`` items that it does not show, and its rows as they are.

    ``crises`` is how many open items in crisis it does not show, whatever its list and filters,
    ``missing`` the query string of the page that begins with the first of them, and ``title`` the
    page's title. ``address`` asks for the next news, ``reload`` shows the new items.
    ``digest`` is of all that can change.
    """

    count: int
    crises: int
    missing: str
    title: str
    rows: tuple[Live, ...]
    digest: str
    address: str
    reload: str


@dataclass(frozen=True, slots=True)
class Group:
    """Rows under a heading of their own."""

    crisis: bool
    rows: tuple[QueueRow, ...]


@dataclass(frozen=True, slots=True)
class QueuePage:
    """All that the page shows; ``colleagues`` is empty for whom may not assign.

    ``groups`` are the rows, those in crisis apart and first. ``found`` says where the conversation
    stands whose reference was searched for, empty where none was; ``recorded`` is where an
    auditor reads what was recorded of it. ``item_query`` is what an item's address says of the
    list that led to it. ``no_agency`` says that no agency is set for whoever reads this.
    """

    filters: Filters
    no_agency: bool
    groups: tuple[Group, ...]
    found: str
    recorded: str
    item_query: str
    previous: str
    next: str
    tabs: tuple[Tab, ...]
    selects: tuple[Select, ...]
    views: tuple[Choice, ...]
    colleagues: tuple[Choice, ...]
    may_decide: bool
    nothing: str
    news: News


def queue_page(user: User, filters: Filters, params: Mapping[str, str], now: datetime) -> QueuePage:
    """Return a page of a list; ``params`` may say ``after`` or ``before`` which place.

    A constant number of queries. Raises :class:`review.queue.paging.UnknownPage`.
    """
    listed = selectors.listing(user, filters, now)
    after, before = params.get("after", ""), params.get("before", "")
    page = selectors.page(listed, after=after, before=before)
    release = knowledge.current_release()
    counts = selectors.counts(user, now)
    found = selectors.conversation(user, listed.session) if listed.session else None
    rows = tuple(queue_presenters.queue_row(item, user, release, now) for item in page.items)
    if found:
        rows = tuple(
            replace(row, listed=gettext(queue_head.TABS[LISTED[row.state]])) for row in rows
        )
    scope = agencies_of(user)
    return QueuePage(
        filters=filters,
        no_agency=scope is not None and not scope,
        groups=_groups(rows, apart=not listed.done and found is None),
        found=queue_head.conversation(found) if found else "",
        recorded=queue_head.recorded(user, found) if found else "",
        item_query=f"?{query}" if (query := lists.carrying(filters)) else "",
        previous=_address(filters, before=page.previous),
        next=_address(filters, after=page.next),
        tabs=queue_head.tabs(filters, counts, by_reference=found is not None),
        selects=queue_presenters.selects(filters, release, scope),
        views=queue_presenters.views(SavedView.objects.filter(owner_id=user.pk), filters),
        colleagues=_colleagues(user) if user.has_perm(locking.SUPERVISE) else (),
        may_decide=user.has_perm(locking.DECIDE),
        nothing=queue_head.nothing(filters, found),
        # New items before the first one show on an earlier page, where there is one.
        news=_news(
            filters,
            0,
            [row.live for row in rows],
            _crises(counts, filters, listed, [row.id for row in rows]),
            start=page.previous,
            until=page.next,
        ),
    )


def news(
    user: User,
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
    counts = selectors.counts(user, now, "open", "second")
    crises = _crises(counts, filters, listed, shown)
    return _news(filters, count, rows, crises, start=start, until=until)


def _groups(rows: tuple[QueueRow, ...], *, apart: bool) -> tuple[Group, ...]:
    crises = tuple(row for row in rows if apart and row.crisis)
    groups = (Group(True, crises), Group(False, rows[len(crises) :]))
    return tuple(group for group in groups if group.rows)


def _crises(
    counts: Mapping[str, Count], filters: Filters, listed: Listing, shown: Collection[UUID]
) -> tuple[int, str, str]:
    """Return how many open items in crisis a page does not show, where, and the page's title."""
    free = counts["open"].crises
    crises = len(free) + len(counts["second"].crises)
    reference = listed.session.reference if listed.session else ""
    hidden = [number for number, key in enumerate(free) if key[2] not in shown]
    # A list begins after a place: that of the one before the first that is missing.
    after = place(free[hidden[0] - 1]) if hidden and hidden[0] else ""
    missing = _address(Filters(), after=after)
    return len(hidden), missing, queue_head.title(filters, crises, reference)


def _news(
    filters: Filters,
    count: int,
    rows: Iterable[Live],
    crises: tuple[int, str, str],
    *,
    start: str,
    until: str,
) -> News:
    live = tuple(rows)
    digest = hashlib.sha256(repr((count, *crises, live)).encode()).hexdigest()[:16]
    values = {
        "start": start,
        "until": until,
        "shown": ",".join(row.id.hex for row in live),
        "known": digest,
    }
    address = "&".join(part for part in (filters.query, urlencode(values, safe=",")) if part)
    return News(count, *crises, live, digest, address, filters.query)


def _address(filters: Filters, **place: str) -> str:
    """Return a page's query string, empty where there is no such page."""
    if not any(place.values()):
        return ""
    return "&".join(part for part in (filters.query, urlencode(place)) if part)


def _colleagues(user: User) -> tuple[Choice, ...]:
    backend = "django.contrib.auth.backends.ModelBackend"
    found = User.objects.with_perm(locking.DECIDE, backend=backend)
    named = sorted((selectors.name_of(each), each.get_username(), each.pk) for each in found)
    return tuple(Choice(username, name, pk == user.pk) for name, username, pk in named)
