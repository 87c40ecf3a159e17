"""Gauges: what waits in the database now. Each reads what is open by an index, never all rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from math import inf

from django.conf import settings
from django.db.models import Case, CharField, Count, F, Min, Q, Value, When
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily, Metric

from conversations.mail.models import OPEN, MailRequest
from conversations.models import Delivery, Outage, Turn
from conversations.states import TurnState
from ieim.audit.checkpoints import last_sealed
from ieim.audit.selectors import last_verification
from ieim.audit.verify import AHEAD
from review.models import CRISIS, SIGN, ReviewItem
from review.states import UNDECIDED, ReviewState

WAITING = tuple(
    state.value
    for state in (
        *(TurnState.QUEUED, TurnState.RUNNING, TurnState.AWAITING_MODEL),
        *(TurnState.ASKING, TurnState.NEEDS_REVIEW),
    )
)
"""States of a turn in which its citizen has no answer yet."""


def collect() -> Iterator[Metric]:
    """Yield what the database says of now."""
    now = timezone.now()
    yield from _turns(now)
    yield from _queue(now)
    yield from _outage(now)
    yield from _outboxes(now)
    yield _seals(now)
    yield from _verification(now)
    yield from _backups(now)


def _family(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=labels)


def _age(since: datetime | None, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds()) if since else 0.0


def _turns(now: datetime) -> Iterator[Metric]:
    size = _family("ieim_turns_waiting", "Turns without an answer.", "state")
    age = _family(
        "ieim_turns_waiting_oldest_seconds", "How long the oldest of them has waited.", "state"
    )
    rows = Turn.objects.filter(state__in=WAITING).order_by()
    # A turn that somebody's decision or choice has set going again has waited for that.
    first = Q(resumed=False) & (Q(choice=None) | Q(state=TurnState.ASKING.value))
    since = Min("created_at", filter=first)
    grouped = rows.values_list("state").annotate(size=Count("pk"), since=since)
    figures = {state: (number, oldest) for state, number, oldest in grouped}
    for state in WAITING:
        number, oldest = figures.get(state, (0, None))
        size.add_metric([state], number)
        age.add_metric([state], _age(oldest, now))
    yield size
    yield age


def _queue(now: datetime) -> Iterator[Metric]:
    """The queue of caseworkers; what is in crisis has that for an urgency."""
    size = _family("ieim_queue_items", "Review items that nobody has decided.", "urgency")
    age = _family("ieim_queue_oldest_seconds", "Age of the oldest of them.", "urgency")
    late = _family("ieim_queue_overdue", "Those of them past their due time.", "urgency")
    urgency = Case(
        When(rank=CRISIS, then=Value("crisis")),
        When(rank=SIGN, then=Value("sign")),
        When(urgency="", then=Value("unknown")),
        default=F("urgency"),
        output_field=CharField(),
    )
    undecided = ReviewItem.objects.filter(state__in=[state.value for state in UNDECIDED]).order_by()
    overdue = Count("pk", filter=Q(due_at__lt=now))
    grouped = undecided.values_list(urgency).annotate(
        size=Count("pk"), since=Min("opened_at"), overdue=overdue
    )
    figures = {urgency: values for urgency, *values in grouped}
    for name in sorted({*figures, "crisis", "sign", "unknown"}):
        number, since, behind = figures.get(name, (0, None, 0))
        size.add_metric([name], number)
        age.add_metric([name], _age(since, now))
        late.add_metric([name], behind)
    yield from (size, age, late)
    unseen = undecided.filter(state=ReviewState.OPEN.value, rank__lte=SIGN)
    crisis = unseen.aggregate(n=Count("pk"), since=Min("opened_at"))
    yield GaugeMetricFamily(
        "ieim_crisis_unseen", "Items in crisis that nobody has claimed.", value=crisis["n"]
    )
    yield GaugeMetricFamily(
        "ieim_crisis_unseen_oldest_seconds",
        "Age of the oldest of them.",
        value=_age(crisis["since"], now),
    )


def _outage(now: datetime) -> Iterator[Metric]:
    since = Outage.objects.filter(ended_at=None).values_list("began_at", flat=True).first()
    yield GaugeMetricFamily(
        "ieim_model_outage_seconds",
        "For how long the model has given no answers; 0 where it does.",
        value=_age(since, now),
    )


def _outboxes(now: datetime) -> Iterator[Metric]:
    deliveries = _family("ieim_webhook_deliveries", "Events that webhooks have not got.", "state")
    waiting = Q(given_up_at=None)
    counts = Delivery.objects.aggregate(
        new=Count("pk", filter=waiting & Q(tries=0)),
        failing=Count("pk", filter=waiting & Q(tries__gt=0)),
        given_up=Count("pk", filter=~waiting),
    )
    for state, number in counts.items():
        deliveries.add_metric([state], number)
    yield deliveries
    mail = _family("ieim_mail_requests", "Citizens' open wishes to be told by e-mail.", "state")
    rows = MailRequest.objects.filter(state__in=OPEN).order_by()
    of_mail = dict(rows.values_list("state").annotate(n=Count("pk")))
    for mail_state in OPEN:
        mail.add_metric([mail_state], of_mail.get(mail_state, 0))
    yield mail
    due = MailRequest.objects.filter(due_at__lte=now).aggregate(since=Min("due_at"))["since"]
    yield GaugeMetricFamily(
        "ieim_mail_due_oldest_seconds",
        "For how long the e-mail that has waited longest has been due.",
        value=_age(due, now),
    )


def _seals(now: datetime) -> Metric:
    sealed = last_sealed()
    is_sealed = sealed.sound if sealed else not settings.IEIM_SEALED
    return GaugeMetricFamily(
        "ieim_audit_seal_age_seconds",
        "Since the audit record was sealed; infinite where the last seal's event cannot be one, "
        "and where it never was though IEIM_SEALED says so, else 0 there.",
        value=_age(sealed and sealed.at, now) if is_sealed else inf,
    )


def _verification(now: datetime) -> Iterator[Metric]:
    event = last_verification()
    is_recent = event.at <= now + AHEAD if event else not settings.IEIM_SEALED
    yield GaugeMetricFamily(
        "ieim_audit_verification_age_seconds",
        "Since the audit record was verified; infinite where the event is from the future, and "
        "where it never was though IEIM_SEALED says that it is sealed, else 0 there.",
        value=_age(event.at if event else None, now) if is_recent else inf,
    )
    yield GaugeMetricFamily(
        "ieim_audit_verification_failed",
        "Whether the last verification said that the audit record does not hold.",
        value=event is not None and '"ok":true' not in event.payload,
    )


def _backups(now: datetime) -> Iterator[Metric]:
    """The two files that ``deploy/backup.sh`` leaves in the folder of data."""
    done, failed = (settings.IEIM_DATA_DIR / f"backup.{end}" for end in ("done", "failed"))
    since = datetime.fromtimestamp(done.stat().st_mtime, UTC) if done.exists() else None
    yield GaugeMetricFamily(
        "ieim_backup_age_seconds",
        "Since the last backup that succeeded; infinite where none has though IEIM_BACKED_UP says "
        "that there are, else 0 there.",
        value=inf if since is None and settings.IEIM_BACKED_UP else _age(since, now),
    )
    yield GaugeMetricFamily(
        "ieim_backup_failed", "Whether the last backup failed.", value=failed.exists()
    )
