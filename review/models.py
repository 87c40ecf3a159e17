"""What waits for a person."""

from __future__ import annotations

import uuid
from enum import IntEnum

from django.db import models
from django.db.models import Q

from conversations.models import Turn
from review.states import UNDECIDED, ReviewState


class Priority(IntEnum):
    """What comes first in the queue."""

    HIGH = 1
    """Held because of a risk."""
    NORMAL = 2
    """A citizen waits for an answer."""
    LOW = 3
    """Triage only: no answer waits for it."""


class ReviewItem(models.Model):
    """A stage or a reply that waits for a person.

    ``stage`` is a contract's id, or ``reply`` when the reply as a whole is held. ``reasons`` are
    the finding codes, each once, in the order of the gate.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="review_items")
    stage = models.CharField(max_length=64)
    state = models.CharField(
        max_length=16,
        choices=[(state.value, state.value) for state in ReviewState],
        default=ReviewState.OPEN.value,
    )
    reasons = models.JSONField(default=list)
    priority = models.PositiveSmallIntegerField(
        choices=[(priority.value, priority.name.lower()) for priority in Priority],
        default=Priority.NORMAL.value,
    )
    opened_at = models.DateTimeField(auto_now_add=True)
    due_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["priority", "opened_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["turn", "stage"],
                condition=Q(state__in=sorted(state.value for state in UNDECIDED)),
                name="one_undecided_item_a_stage",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "priority", "opened_at", "id"], name="review_queue"),
        ]

    def __str__(self) -> str:
        return f"{self.stage} of {self.turn_id} ({self.state})"
