"""Reads: rights that wait for a second administrator, or that one gave alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.db.models import QuerySet
from django.utils import timezone

from ieim.people.models import Grant

TOLD: Final = timedelta(days=30)
"""How long supervisors read of rights that one administrator gave alone."""


def waiting() -> QuerySet[Grant]:
    """Return what waits for a second administrator, oldest first."""
    asked = Grant.objects.filter(state=Grant.State.ASKED).order_by("asked_at")
    return asked.select_related("user", "asked_by")


def given_alone() -> QuerySet[Grant]:
    """Return what one administrator gave alone in the last :data:`TOLD`, newest first."""
    since = timezone.now() - TOLD
    found = Grant.objects.filter(state=Grant.State.ALONE, asked_at__gte=since)
    return found.select_related("user", "asked_by")
