"""What a citizen decides about a turn: a choice of services, or that its answer was about
something else."""

from __future__ import annotations

from django.db import models

from ieim.pipeline.work import Key


class ChoiceOutcome(models.TextChoices):
    """How asking back ended."""

    OPEN = "", "not yet"
    CHOSEN = "chosen", "one was chosen"
    NONE = "none", "none of these"
    EXPIRED = "expired", "nothing was chosen in time"
    REPLACED = "replaced", "something else was asked"


class Choice(models.Model):
    """What a turn's citizen is asked, once a turn: ``stage`` does not know, for ``codes``.

    ``offered`` are ``[agency, key]`` of services of the turn's release, best first, and behind them
    that of a situation: an empty agency and its code. ``chosen`` is one of them, and ``also`` are
    the others where ``several`` may be chosen and were.
    Without an answer until ``until`` a person gets the turn.
    """

    turn = models.OneToOneField(
        "conversations.Turn", on_delete=models.CASCADE, related_name="choice"
    )
    stage = models.CharField(max_length=64)
    codes = models.JSONField(default=list)
    offered = models.JSONField()
    asked_at = models.DateTimeField()
    until = models.DateTimeField()
    outcome = models.CharField(max_length=8, choices=ChoiceOutcome.choices, blank=True)
    chosen = models.JSONField(null=True)
    several = models.BooleanField(default=False, db_default=False)
    also = models.JSONField(null=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["outcome", "until"], name="choice_until"),
            models.Index(fields=["asked_at"], name="choice_day"),
        ]

    def __str__(self) -> str:
        return f"choice of {self.turn_id}: {self.outcome or 'open'}"

    @property
    def services(self) -> tuple[Key, ...]:
        """Agency and key of each option that was chosen, best first."""
        options = [] if self.chosen is None else [self.chosen, *(self.also or ())]
        return tuple((agency, key) for agency, key in options)


class MissingTriage(models.Model):
    """That a person will read a turn whose triage is not complete, ``since`` when.

    It is tried at ``due_at``; ``lease`` names the worker that has it until then.
    """

    turn = models.OneToOneField(
        "conversations.Turn", on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    since = models.DateTimeField()
    due_at = models.DateTimeField(db_index=True)
    lease = models.UUIDField(null=True)

    def __str__(self) -> str:
        return f"triage of {self.turn_id}"


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
