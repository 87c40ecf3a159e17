"""Alerts: danger that nobody works on, items that are due, and failures that are alike.

Each cause is sent once by e-mail and once by webhook, with counts and a link alone; open pages ask
for the causes that their reader may see.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from uuid import uuid4

from django.conf import settings
from django.core.cache import cache
from django.db.models import Count, Q, QuerySet
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext, ngettext

from conversations.mail import sending
from conversations.models import Webhook
from conversations.queueing import queue_after_commit
from conversations.turns.executor import release_connection
from conversations.turns.moves import QUEUE
from conversations.webhooks import sending as calls
from conversations.webhooks import signing
from ieim.people import post
from review.batches.alike import MIN_ALIKE
from review.board.models import Alert
from review.board.selectors import unattended_dangers
from review.models import ReviewItem
from review.queue.selectors import OF_TRIAGE
from review.states import UNDECIDED, ReviewState

logger = logging.getLogger(__name__)

SEND = "review.tasks.send_alerts"
EVERY = timedelta(minutes=1)
"""How often causes are looked for, and how soon what could not be sent is tried again."""
DUE_EVERY = timedelta(minutes=30)
"""Items that are due are sent together, so often at most."""
WITHIN = timedelta(minutes=10)
""":data:`MIN_ALIKE` items of one step and reason, opened within this time, are a cause."""
MOST_DUE = 100
"""So many items that are due are a cause each; more are one cause together, :data:`MANY_DUE`."""
MANY_DUE = "due many"


def causes(items: QuerySet[ReviewItem], now: datetime, known: Iterable[str] = ()) -> list[str]:
    """Return the causes that some items are. Of failures that are alike a ``known`` cause lasts
    until there is none of them any more."""
    waited = now - timedelta(minutes=settings.IEIM_ALERT_UNSEEN_MINUTES)
    soon = now + timedelta(minutes=settings.IEIM_ALERT_DUE_MINUTES)
    dangers = unattended_dangers(items.filter(opened_at__lte=waited), now)
    undecided = items.filter(state__in=UNDECIDED - {ReviewState.SENDING})
    due = undecided.filter(due_at__lte=soon).exclude(OF_TRIAGE).order_by()
    due_ids = due.values_list("pk", flat=True)[: MOST_DUE + 1]
    due_causes = [f"due {pk.hex}" for pk in due_ids]
    recent = items.filter(opened_at__gt=now - WITHIN).exclude(reason="").order_by()
    groups = recent.values_list("stage", "reason").annotate(total=Count("pk"))
    ongoing = set(known)
    alike = {f"alike {stage} {reason}": total for stage, reason, total in groups}
    return [
        *(f"danger {item.pk.hex}" for item in dangers),
        *(due_causes if len(due_causes) <= MOST_DUE else [MANY_DUE]),
        *(cause for cause, total in alike.items() if total >= MIN_ALIKE or cause in ongoing),
    ]


def sentences(found: Iterable[str]) -> dict[str, str]:
    """Return what is to be said of causes, by kind, without a citizen's words."""
    unique = set(found)
    count = Counter(cause.partition(" ")[0] for cause in unique)
    words = {
        "danger": ngettext(
            "{number} message that shows danger waits, and nobody works on it.",
            "{number} messages that show danger wait, and nobody works on them.",
            count["danger"],
        ),
        "due": ngettext(
            "{number} item is overdue or soon due.",
            "{number} items are overdue or soon due.",
            count["due"],
        ),
        "alike": ngettext(
            "Items stop alike: {number} group within ten minutes.",
            "Items stop alike: {number} groups within ten minutes.",
            count["alike"],
        ),
    }
    if MANY_DUE in unique:
        count["due"] = MOST_DUE
        words["due"] = gettext("More than {number} items are overdue or soon due.")
    return {kind: text.format(number=count[kind]) for kind, text in words.items() if count[kind]}


def sweep(*, now: datetime) -> None:
    """Note new causes, end those that are over, and queue what is to be sent; once a minute, and
    only where they are sent."""
    if not _ways() or not cache.add("board.alerts", "1", timeout=EVERY.total_seconds()):
        return
    known = set(Alert.objects.values_list("cause", flat=True))
    found = causes(ReviewItem.objects.all(), now, known)
    Alert.objects.filter(cause__in=known.difference(found)).delete()
    new = [cause for cause in found if cause not in known]
    due = [cause for cause in new if cause.startswith("due ")]
    if due and not cache.add("board.alerts.due", "1", timeout=DUE_EVERY.total_seconds()):
        new = [cause for cause in new if cause not in due]
    alerts = [Alert(cause=cause, began_at=now) for cause in new]
    Alert.objects.bulk_create(alerts, ignore_conflicts=True)  # another process may note it too
    if _unsent(now).exists():
        queue_after_commit(SEND, queue=QUEUE)


def send_due() -> None:
    """Send what no process has the lease of; nothing where nothing is due."""
    now = timezone.now()
    lease = now + sending.LEASE
    if not _unsent(now).update(leased_until=lease):
        return
    mine = list(Alert.objects.filter(leased_until=lease))
    release_connection()
    retry_at = None
    for field, send in _ways().items():
        pending = [alert for alert in mine if getattr(alert, field) is None]
        if not pending:
            continue
        try:
            with translation.override(settings.LANGUAGE_CODE):
                send(sentences(alert.cause for alert in pending))
        except Exception as error:  # noqa: BLE001  # its words may hold an address
            logger.warning("Alerts could not be sent (%s)", type(error).__name__)
            retry_at = timezone.now() + EVERY
        else:
            sent = Alert.objects.filter(pk__in=[alert.pk for alert in pending])
            sent.update(**{field: timezone.now()})
    Alert.objects.filter(leased_until=lease).update(leased_until=retry_at)


def _ways() -> Mapping[str, Callable[[Mapping[str, str]], None]]:
    """Return the ways that are set, by the field that says that a cause was sent so."""
    ways: dict[str, Callable[[Mapping[str, str]], None]] = {}
    if settings.IEIM_ALERT_MAIL:
        ways["mailed_at"] = _mail
    if settings.IEIM_ALERT_WEBHOOK:
        ways["called_at"] = _call
    return ways


def _unsent(now: datetime) -> QuerySet[Alert]:
    unsent = Q(pk__in=[])
    for field in _ways():
        unsent |= Q(**{field: None})
    return Alert.objects.filter(unsent, Q(leased_until=None) | Q(leased_until__lte=now))


def _mail(words: Mapping[str, str]) -> None:
    paragraphs = (*words.values(), settings.IEIM_PUBLIC_URL + reverse("review:board"))
    subject = gettext("Items for a person need a look")
    post.send(subject=subject, paragraphs=paragraphs, to=settings.IEIM_ALERT_MAIL)


def _call(words: Mapping[str, str]) -> None:
    webhook = Webhook.objects.get(name=settings.IEIM_ALERT_WEBHOOK, stopped_at=None)
    now, link = timezone.now(), settings.IEIM_PUBLIC_URL + reverse("review:board")
    event = {
        "type": "alert",
        "timestamp": now.isoformat().replace("+00:00", "Z"),
        "data": {"alerts": dict(words), "link": link},
    }
    body = json.dumps(event).encode()
    headers = signing.headers(webhook, message=uuid4(), now=now, body=body)
    calls.send(webhook.url, private=webhook.private, headers=headers, body=body)
