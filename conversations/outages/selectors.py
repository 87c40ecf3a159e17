"""The current outage of the model, as staff and operators see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils.translation import gettext, gettext_noop

from conversations.models import Turn
from conversations.outages.models import Outage
from conversations.states import PENDING_TURN_STATES
from ieim.pipeline.ports import Cause

WHY: Mapping[str, str] = {
    Cause.KEY: gettext_noop("The model server does not accept this site’s key."),
    Cause.NAME: gettext_noop(
        "The model server does not know the address or the model that this site asks for."
    ),
    Cause.REQUEST: gettext_noop("The model server does not take the requests of this site."),
    Cause.LIMIT: gettext_noop("The model server takes no more requests for now."),
    Cause.SERVER: gettext_noop("The model server fails."),
    Cause.TIMEOUT: gettext_noop("The model server takes too long to answer."),
    Cause.CONNECTION: gettext_noop("There is no connection to the model server."),
    Cause.BUSY: gettext_noop("More is asked than the model server may be asked at once."),
    Cause.OFF: gettext_noop("An administrator has switched the model off."),
}
"""The sentence for staff, by cause."""


@dataclass(frozen=True, slots=True)
class OutageView:
    """An outage that lasts: ``waiting`` turns are tried again by themselves.

    ``key`` changes with everything but ``waiting`` and ``last_try``.
    ``notified_at`` is when operators were sent an e-mail, None where they were not.
    """

    key: str
    since: datetime
    last_try: datetime
    why: str
    waiting: int
    notified_at: datetime | None


def waiting() -> QuerySet[Turn]:
    """Return the turns that wait for the model, or are being tried again."""
    pending = [state.value for state in PENDING_TURN_STATES]
    return Turn.objects.filter(state__in=pending, unavailable_since__isnull=False)


def why(outage: Outage) -> str:
    """Return why the model gives no answers, in the page's language, with the HTTP status."""
    sentence = gettext(WHY[outage.cause])
    if outage.status is None:
        return sentence
    return gettext("{why} HTTP status {status}.").format(why=sentence, status=outage.status)


def current() -> OutageView | None:
    """Return the outage that lasts, None where there is none."""
    outage = Outage.objects.filter(ended_at=None).first()
    if outage is None:
        return None
    notified = "notified" if outage.notified_at else ""
    return OutageView(
        key=f"{outage.pk.hex}-{outage.cause}-{outage.status or ''}-{notified}",
        since=outage.began_at,
        last_try=outage.seen_at,
        why=why(outage),
        waiting=waiting().count(),
        notified_at=outage.notified_at,
    )
