"""Writes: a run of pages is started, paused and resumed, and begun each week for taken pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, Sum
from django.utils import timezone
from django.utils.translation import gettext

from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.people.models import User
from ieim.people.scope import works_for
from ieim.studio import runs
from ieim.studio.fresh.services import NIGHT
from ieim.studio.models import Agency, PageRun, WebPage
from ieim.studio.webpages import fetching, uploads
from ieim.studio.webpages.reading import Unreadable
from ieim.studio.webpages.uploads import MAX_PAGES

LOOK_AGAIN = timedelta(days=7)
"""A taken page is read again after so long."""


class PagesError(Exception):
    """It cannot be done, and nothing was; ``reasons`` are sentences that say what to do."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__(" ".join(reasons))
        self.reasons = reasons


@transaction.atomic
def start(
    *,
    agency: str,
    addresses: Iterable[str] = (),
    sitemap: str = "",
    files: Iterable[tuple[str, bytes]] = (),
    by: User | None,
    is_queued: bool = True,
) -> PageRun:
    """Store a run of the pages at ``addresses``, of a sitemap, and saved in ``files``, and queue it
    unless the caller runs it.

    Pages that were read before are read again. Raises: PagesError.
    """
    pages: dict[str, bytes] = {}
    reasons = []
    is_ours = by is None or works_for(by, agency)
    if not is_ours or not Agency.objects.filter(pk=agency).exists():
        reasons.append(gettext("Choose an agency of the list."))
    addresses = [*filter(None, map(str.strip, addresses))]
    message = gettext("These are more than {number} pages: read them in several runs.")
    too_many = message.format(number=MAX_PAGES)
    if len(addresses) > MAX_PAGES:
        raise PagesError([too_many])
    for address in addresses:
        try:
            pages[str(fetching.parse(address))] = b""
        except Unreadable as error:
            reasons.append(str(error))
    try:
        pages |= uploads.pages_of(files)
        sitemap = str(fetching.parse(sitemap)) if sitemap.strip() else ""
    except Unreadable as error:
        reasons.append(str(error))
    if len(pages) > MAX_PAGES:
        reasons.append(too_many)
    if not reasons and not pages and not sitemap:
        reasons.append(gettext("Give addresses of pages, a sitemap or saved pages."))
    if reasons:
        raise PagesError(reasons)
    run = PageRun.objects.create(agency=agency, sitemap=sitemap, created_by=by)
    add(run, pages)
    record_system(
        kind="webpages.started",
        payload={"run": run.pk, "agency": agency, "pages": len(pages), "sitemap": sitemap},
        actor="system" if by is None else by.actor,
    )
    if is_queued:
        runs.queue(PageRun, run.pk)
    return run


def add(run: PageRun, pages: Mapping[str, bytes]) -> None:
    """Let a run read pages: addresses, or names of saved pages with their content."""
    lock_head(SYSTEM_CHAIN)  # before the pages: of two runs of the same ones, one waits
    for address, body in pages.items():
        values = {"run": run, "is_due": True, "body": body, "problem": ""}
        WebPage.objects.update_or_create(agency=run.agency, address=address, defaults=values)


@transaction.atomic
def pause(*, run: PageRun, by: User) -> None:
    """Let a run stop after the page that it is at."""
    # The time of a run's last write is the worker's.
    if PageRun.objects.filter(pk=run.pk, is_paused=False).update(is_paused=True):
        record_system(kind="webpages.paused", payload={"run": run.pk}, actor=by.actor)


@transaction.atomic
def resume(*, run: PageRun, by: User) -> None:
    """Go on with the pages of a run that were not read yet."""
    stopped = PageRun.objects.filter(pk=run.pk).exclude(state__in=runs.UNFINISHED_STATES)
    is_resumed = PageRun.objects.filter(pk=run.pk, is_paused=True).update(is_paused=False)
    if stopped.update(state=PageRun.State.QUEUED, error="", updated_at=timezone.now()):
        runs.queue(PageRun, run.pk)
        is_resumed = True
    if is_resumed:
        record_system(kind="webpages.resumed", payload={"run": run.pk}, actor=by.actor)


def sweep(*, now: datetime) -> None:
    """Begin, at night, to read the taken pages again that were last read a week ago."""
    if timezone.localtime(now).hour not in NIGHT or not settings.IEIM_PAGE_HOSTS:
        return
    old = WebPage.objects.exclude(entry="").filter(read_at__lt=now - LOOK_AGAIN)
    # A run that has ended leaves pages due where a site was busy, or the model away.
    waiting = Q(is_due=True, run__state__in=runs.UNFINISHED_STATES)
    # Those that were tried last come last, whether or not they could be read.
    old = old.exclude(waiting).filter(address__startswith="http").order_by("run_id", "pk")
    for agency in set(old.values_list("agency", flat=True)):
        with transaction.atomic():
            lock_head(SYSTEM_CHAIN)  # of two that begin at once, one does
            newest = PageRun.objects.filter(agency=agency).first()
            if newest and timezone.localdate(newest.created_at) == timezone.localdate(now):
                continue
            pages = old.filter(agency=agency).values_list("address", flat=True)[:MAX_PAGES]
            run = PageRun.objects.create(agency=agency)
            add(run, dict.fromkeys(pages, b""))
            runs.queue(PageRun, run.pk)
    ended = PageRun.objects.filter(pages=None, sitemap="", created_at__lt=now - LOOK_AGAIN)
    ended.exclude(state__in=runs.UNFINISHED_STATES).delete()


def tokens_since(moment: datetime) -> int:
    """Return the tokens of the entries drafted from pages since the beginning of a day."""
    pages = WebPage.objects.filter(read_at__gte=moment)
    return pages.aggregate(used=Sum("tokens"))["used"] or 0
