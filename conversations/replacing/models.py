"""Which answers were about something else."""

from __future__ import annotations

from django.db import models


class Replacement(models.Model):
    """A citizen said that the answer of ``turn`` is not what they meant: ``by`` asks it again.

    Once a turn, by the database's own rule.
    """

    turn = models.OneToOneField(
        "conversations.Turn", on_delete=models.CASCADE, related_name="replaced"
    )
    by = models.OneToOneField(
        "conversations.Turn", on_delete=models.CASCADE, related_name="replaces"
    )

    def __str__(self) -> str:
        return f"{self.turn_id} by {self.by_id}"
