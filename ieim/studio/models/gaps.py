"""Questions that ended badly, grouped by meaning, and what editors did about them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from conversations.models import Turn
from ieim.knowledge.bundles.columns import ID_LIMIT


class GapGroup(models.Model):
    """Questions that mean much the same, in one language and likely for one agency.

    ``agency`` is empty where likely no service is about them. ``would_answer`` and ``would_ask``
    count the questions that the release ``release_number`` (None until it is known) would answer
    and ask back about.
    """

    agency = models.CharField(max_length=ID_LIMIT, blank=True)
    language = models.CharField(max_length=8, blank=True)
    would_answer = models.PositiveIntegerField(default=0)
    would_ask = models.PositiveIntegerField(default=0)
    release_number = models.PositiveIntegerField(null=True)

    class Meta:
        indexes = [models.Index(fields=["agency", "language"], name="gap_group_place")]

    def __str__(self) -> str:
        return f"group {self.pk} of {self.agency or 'no agency'}"


class Gap(models.Model):
    """One question that ended badly; gone with its turn's words.

    ``text`` has no personal data. ``week`` is the Monday of the week in which it was asked.
    ``service`` and ``situation`` are the likely ones, empty for none. ``vector`` is a row of
    float32 (little-endian) of ``embedder``, empty where words alone are compared. ``would_answer``
    says that the release of its group would answer it by the search, ``is_repaired`` that it was
    asked of another release, and is answered otherwise than it was then.
    """

    class Outcome(models.TextChoices):
        """How a question ended; of several the first here counts."""

        NOT_USEFUL = "not_useful", _("rated not useful")
        REPLACED = "replaced", _("the citizen meant something else")
        NONE = "none", _("none of the offered services")
        LEFT = "left", _("asked back, nothing chosen")
        STAFF = "staff", _("answered by a person")
        OUTSIDE = "outside", _("no service is about it")
        UNSAID = "unsaid", _("the entry does not say what was asked")
        HELD = "held", _("held for a person")
        ASKED = "asked", _("asked back, still open")

    turn = models.OneToOneField(Turn, on_delete=models.CASCADE, related_name="gap")
    group = models.ForeignKey(GapGroup, on_delete=models.CASCADE, related_name="gaps")
    text = models.TextField()
    outcome = models.CharField(max_length=12, choices=Outcome.choices)
    asked_at = models.DateTimeField(db_index=True)
    week = models.DateField(db_index=True)
    service = models.CharField(max_length=ID_LIMIT, blank=True)
    situation = models.CharField(max_length=ID_LIMIT, blank=True)
    embedder = models.CharField(max_length=200, blank=True)
    vector = models.BinaryField(default=b"")
    would_answer = models.BooleanField(default=False, db_default=False)
    is_repaired = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["asked_at", "pk"]

    def __str__(self) -> str:
        return f"{self.outcome}: {self.turn_id}"


class GapAction(models.Model):
    """What an editor did about a group.

    ``target`` is ``agency/key`` of a service, the key of a situation, or empty. ``failing`` is the
    first question of the group that the draft would still not answer after it, and
    ``release_number`` the release that was current.
    """

    class Kind(models.TextChoices):
        EXAMPLE = "example", _("made an example question")
        SITUATION = "situation", _("made an example question of a situation")
        SERVICE = "service", _("began a new service")
        CORRECTION = "correction", _("opened the service’s text to correct it")
        GOLDEN = "golden", _("kept as a golden question")
        NEAR_MISS = "near_miss", _("made a near miss of the sign of danger")
        NO_GAP = "no_gap", _("no gap")
        NOT_OURS = "not_ours", _("not ours")

    group = models.ForeignKey(GapGroup, on_delete=models.CASCADE, related_name="actions")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    target = models.CharField(max_length=2 * ID_LIMIT + 1, blank=True)
    reason = models.CharField(max_length=500, blank=True)
    failing = models.ForeignKey(Gap, on_delete=models.SET_NULL, null=True, related_name="+")
    release_number = models.PositiveIntegerField(null=True)
    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"{self.kind} of {self.group_id}"
