"""Writes: owners and review dates, reminders by e-mail, and runs of the link check."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

from conversations.queueing import queue_after_commit
from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.people import post
from ieim.people.models import User
from ieim.people.scope import works_for
from ieim.studio import runs
from ieim.studio.fresh import selectors
from ieim.studio.models import ContentReview, LinkRun, Service

REMIND = "ieim.studio.tasks.send_reminders"
NIGHT, DAY = range(1, 5), range(7, 18)
"""The hours in which links are checked, and in which reminders are sent, by the office's clock."""
_RETRY = timedelta(hours=1)
"""After a reminder that could not be sent."""
_RUNS_KEPT = 3


@transaction.atomic
def plan_review(
    *, service: Service, owner: User | None, review_by: date | None, source: str, by: User
) -> None:
    """Set the owner, the review date and the source of a service of the draft.

    Raises:
        Service.DoesNotExist: ``by`` does not work for its agency.
    """
    if not works_for(by, service.agency_id):
        raise Service.DoesNotExist
    entry = f"{service.agency_id} {service.key}"
    stored, _ = ContentReview.objects.get_or_create(table="services", entry=entry)
    if (stored.owner, stored.review_by) != (owner, review_by):
        stored.reminded_at = None
    stored.owner, stored.review_by, stored.source = owner, review_by, source
    stored.save()
    payload = {"table": "services", "entry": entry, "source": source}
    payload |= {"owner": owner.get_username() if owner else "", "review_by": str(review_by or "")}
    record_system(kind="knowledge.review_planned", payload={**payload}, actor=by.actor)


def sweep(*, now: datetime) -> None:
    """Begin the nightly check of links, and queue the reminders that are due."""
    hour = timezone.localtime(now).hour
    if hour in NIGHT and settings.IEIM_LINK_CHECK:
        newest = LinkRun.objects.values_list("created_at", flat=True).first()
        if newest is None or timezone.localdate(newest) < timezone.localdate(now):
            begin_link_check()
    elif hour in DAY and settings.IEIM_MAIL["HOST"] and selectors.due(now).exists():
        queue_after_commit(REMIND)


@transaction.atomic
def begin_link_check() -> None:
    """Queue a check of the links, unless one is unfinished or links are not checked."""
    lock_head(SYSTEM_CHAIN)  # of two that begin at once, one does
    unfinished = LinkRun.objects.filter(state__in=runs.UNFINISHED_STATES)
    if not settings.IEIM_LINK_CHECK or unfinished.exists():
        return
    run = LinkRun.objects.create()
    runs.queue(LinkRun, run.pk)
    done = LinkRun.objects.filter(state=LinkRun.State.DONE).values_list("pk", flat=True)
    LinkRun.objects.exclude(pk__in=[run.pk, *done[:_RUNS_KEPT]]).delete()


def send_reminders() -> None:
    """Send one e-mail to each owner with a date to be reminded of; it lists all that are over."""
    now = timezone.now()
    for owner in User.objects.filter(pk__in=selectors.due(now).values("owner")):
        # One update claims them: of two workers one sends.
        if not selectors.due(now).filter(owner=owner).update(reminded_at=now):
            continue
        over = ContentReview.objects.filter(owner=owner, review_by__lte=timezone.localdate(now))
        try:
            _remind(owner)
            over.update(reminded_at=now)
        except post.NotSent:
            over.filter(reminded_at=now).update(reminded_at=now - selectors.AGAIN + _RETRY)


def _remind(owner: User) -> None:
    pairs = [pair for pair in selectors.reviewed_services(owner=owner) if pair[1].is_due]
    if not pairs:
        return
    with translation.override(settings.LANGUAGE_CODE):
        sentence = ngettext(
            "{number} service of yours is due for review:",
            "{number} services of yours are due for review:",
            len(pairs),
        )
        advice = gettext(
            "Compare each with its source, put right what has changed, and set the next date. You "
            "are reminded every week until then."
        )
        lines = [
            f"{service.name} ({service.agency.name}), {date_format(review.review_by)}"
            for service, review in pairs
            if review.review_by
        ]
        address = f"{settings.IEIM_PUBLIC_URL}{reverse('fresh:services')}?owner=me"
        parts = (sentence.format(number=len(pairs)), "\n".join(lines), advice, address)
        post.send(subject=gettext("Services to review"), paragraphs=parts, to=[owner.email])
