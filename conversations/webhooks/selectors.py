"""Reads: the webhooks with what has not arrived, and what was given up."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from conversations.webhooks.models import Delivery, Webhook


@dataclass(frozen=True, slots=True)
class Standing:
    """A webhook, with how many events have not arrived yet and how many were given up."""

    webhook: Webhook
    waiting: int
    given_up: int


def overview() -> list[Standing]:
    """Return every webhook by name, and how it stands."""
    waits, all_of_them = Count("pk", filter=Q(given_up_at=None)), Count("pk")
    counted = Delivery.objects.order_by().values("webhook").annotate(w=waits, n=all_of_them)
    found = {each["webhook"]: (each["w"], each["n"] - each["w"]) for each in counted}
    return [Standing(webhook, *found.get(webhook.pk, (0, 0))) for webhook in Webhook.objects.all()]


def given_up() -> QuerySet[Delivery]:
    """Return what was given up and not sent again, the oldest first."""
    return Delivery.objects.filter(given_up_at__isnull=False).select_related("webhook")
