"""Writes of outages: of any number of processes one begins it, and one ends it."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.utils import timezone

from conversations.models import Turn
from conversations.outages import selectors
from conversations.outages.models import Outage
from ieim.pipeline.ports import ModelUnavailable

logger = logging.getLogger(__name__)

LASTING = timedelta(minutes=2)
"""How long an outage lasts before operators are told of it, and is over before they are told that:
one that begins again sooner is the same."""


def note_failure(error: ModelUnavailable) -> None:
    """Note that a turn has to wait for the model, inside the caller's transaction.

    That goes on with the open outage, or with one that has been over for less than
    :data:`LASTING`; else it begins one.
    """
    now = timezone.now()
    values = {"cause": error.cause.value, "status": error.status, "seen_at": now, "ended_at": None}
    if Outage.objects.filter(ended_at=None).update(**values):
        return
    recent = Outage.objects.filter(ended_at__gt=now - LASTING, end_notified_at=None).first()
    if recent and Outage.objects.filter(pk=recent.pk, ended_at=recent.ended_at).update(**values):
        return
    # Another turn may begin it at the same moment.
    Outage.objects.bulk_create([Outage(began_at=now, **values)], ignore_conflicts=True)


def note_answer(turn: Turn) -> None:
    """Note that a run of a turn had an answer of the model, which ends an open outage.

    Not while other turns wait and this one did not: a stage that they need may have another model.
    One query where there is no outage.
    """
    outage = Outage.objects.filter(ended_at=None).first()
    if outage is None:
        return
    if turn.unavailable_since is None and selectors.waiting().exclude(pk=turn.pk).exists():
        return
    if Outage.objects.filter(pk=outage.pk, ended_at=None).update(ended_at=timezone.now()):
        logger.warning("The model answers again; it gave no answers since %s", outage.began_at)
