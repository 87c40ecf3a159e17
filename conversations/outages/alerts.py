"""The two e-mails that operators get of an outage: when it lasts, and when it is over."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from conversations.mail import sending
from conversations.outages import selectors
from conversations.outages.models import Outage
from conversations.outages.services import LASTING
from conversations.queueing import queue_after_commit
from conversations.turns.executor import release_connection
from conversations.turns.moves import QUEUE
from ieim.people.post import hand_over
from ieim.pipeline.ports import Cause

logger = logging.getLogger(__name__)

SEND_ALERT = "conversations.tasks.send_alert"
AT_ONCE = (Cause.KEY.value, Cause.NAME.value)
"""Causes that do not pass by themselves: operators are told of them at once."""
AGAIN = timedelta(minutes=1)
"""After a message that could not be sent."""
TOO_LATE = timedelta(days=1)
"""Operators get no e-mail about an end that is longer ago."""
TO_DO: Mapping[str, str] = {
    Cause.KEY: gettext_noop("Check IEIM_MODEL_API_KEY."),
    Cause.NAME: gettext_noop("Check IEIM_MODEL_BASE_URL and IEIM_MODEL_NAME."),
    Cause.REQUEST: gettext_noop(
        "Run manage.py doctor: it says which settings the server takes. Check too that "
        "IEIM_MODEL_BASE_URL ends where /chat/completions begins, and that the input fits the "
        "model’s context."
    ),
    Cause.LIMIT: gettext_noop(
        "Ask for a higher limit, or set IEIM_MODEL_CALLS to what the server allows at once."
    ),
    Cause.SERVER: gettext_noop("Look at the model server and its log."),
    Cause.TIMEOUT: gettext_noop(
        "Look how busy the model server is. IEIM_MODEL_DEADLINE is its time."
    ),
    Cause.CONNECTION: gettext_noop(
        "Check that the model server runs, the network to it, and IEIM_MODEL_BASE_URL."
    ),
    Cause.BUSY: gettext_noop("Raise IEIM_MODEL_CALLS if the model server can do more."),
    Cause.OFF: gettext_noop("An administrator switches it on again under Settings."),
}
"""Advice for operators, by cause."""


def due(now: datetime) -> QuerySet[Outage]:
    """Return the outages with an e-mail to send that no process has the lease of."""
    lasts = Q(began_at__lte=now - LASTING) | Q(cause__in=AT_ONCE)
    end = Q(ended_at__lte=now - LASTING, ended_at__gt=now - TOO_LATE, end_notified_at=None)
    free = Q(leased_until=None) | Q(leased_until__lte=now)
    beginning = lasts & Q(notified_at=None, ended_at=None)
    return Outage.objects.filter(free, beginning | (end & Q(notified_at__isnull=False)))


def sweep(*, now: datetime) -> None:
    """Queue the messages that are due; none where no operator's address is set."""
    if not settings.IEIM_MAIL["OPERATORS"]:
        return
    for outage_id in due(now).values_list("pk", flat=True):
        queue_after_commit(SEND_ALERT, str(outage_id), queue=QUEUE)


def send_due(*, outage_id: UUID) -> None:
    """Send the message that an outage is due; nothing where none is, or somebody is at it.

    What the mail server does not take is tried again after :data:`AGAIN`.
    """
    now = timezone.now()
    mine = due(now).filter(pk=outage_id)
    if not mine.update(leased_until=now + sending.LEASE):
        return
    outage = Outage.objects.get(pk=outage_id)
    ended = outage.ended_at is not None
    message = compose(outage)
    release_connection()
    try:
        hand_over(message)
    except Exception as error:  # noqa: BLE001  # its words may hold an address
        logger.warning("Operators could not be told of an outage (%s)", type(error).__name__)
        changes: dict[str, datetime | None] = {"leased_until": now + AGAIN}
    else:
        changes = {
            "leased_until": None,
            "end_notified_at" if ended else "notified_at": timezone.now(),
        }
    rows = Outage.objects.filter(pk=outage_id)
    # Where it has begun again meanwhile, its end is still to come.
    (rows.filter(ended_at__isnull=False) if ended else rows).update(**changes)


def compose(outage: Outage) -> EmailMessage:
    """Return the message about the beginning of an outage, or about its end where it has ended."""
    with translation.override(settings.LANGUAGE_CODE):
        if outage.ended_at is None:
            subject, parts = _("{name}: the model gives no answers"), _beginning(outage)
        else:
            subject, parts = _("{name}: the model answers again"), _end(outage, outage.ended_at)
        parts += (_("A program sent this message. Nobody reads replies to it."),)
    return sending.message(
        subject.replace("{name}", sending.site_name()),
        "\n\n".join(parts) + "\n",
        to=settings.IEIM_MAIL["OPERATORS"],
        id=f"{outage.pk.hex}.{'end' if outage.ended_at else 'outage'}",
    )


def _beginning(outage: Outage) -> tuple[str, ...]:
    waiting = selectors.waiting().count()
    return (
        _("The model has given no answers since {time}.").format(time=_time(outage.began_at)),
        selectors.why(outage),
        _(TO_DO[outage.cause]),
        ngettext(
            "{number} question waits. It is tried again by itself; after 30 minutes a person gets "
            "it.",
            "{number} questions wait. They are tried again by themselves; after 30 minutes a "
            "person gets them.",
            waiting,
        ).format(number=waiting),
        settings.IEIM_PUBLIC_URL + reverse("review:metrics"),
        _("You get one more message, when the model answers again."),
    )


def _end(outage: Outage, ended_at: datetime) -> tuple[str, ...]:
    sentence = _("The model has answered again since {end}. It had given no answers since {begin}.")
    return (sentence.format(end=_time(ended_at), begin=_time(outage.began_at)),)


def _time(moment: datetime) -> str:
    return date_format(timezone.localtime(moment), "j F Y, H:i T")
