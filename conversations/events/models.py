"""The numbered frames of a session."""

from __future__ import annotations

from django.db import models


class SessionEvent(models.Model):
    """One frame of a session's JSON socket: numbered from 1, never changed, never reused.

    ``key`` names the fact that the frame tells of; a fact is told once. ``body`` is the frame
    without ``type``, ``turn`` and ``event``.
    """

    session = models.ForeignKey(
        "conversations.Session", on_delete=models.CASCADE, related_name="events"
    )
    turn = models.ForeignKey(
        "conversations.Turn", on_delete=models.CASCADE, related_name="events", null=True
    )
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=16)
    key = models.CharField(max_length=120)
    body = models.JSONField()

    class Meta:
        ordering = ["session_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="event_number_once"),
            models.UniqueConstraint(fields=["session", "key"], name="event_fact_once"),
        ]

    def __str__(self) -> str:
        return f"event {self.number} of {self.session_id}"
