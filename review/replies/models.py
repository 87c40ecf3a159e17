"""Saved replies, and what is stored with an item for its readers."""

from __future__ import annotations

from django.db import models

from ieim.knowledge.bundles.columns import ID_LIMIT

LONGEST_TEXT = 4000


class SavedReply(models.Model):
    """A text for citizens in ``language`` that caseworkers use again, with placeholders.

    ``agency`` is empty for a text of every agency. ``used`` counts how often it was inserted.
    """

    title = models.CharField(max_length=80)
    language = models.CharField(max_length=8)
    agency = models.CharField(max_length=ID_LIMIT, blank=True)
    text = models.TextField(max_length=LONGEST_TEXT)
    used = models.PositiveIntegerField(default=0)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["title", "id"]
        indexes = [models.Index(fields=["agency"], name="saved_reply_agency")]

    def __str__(self) -> str:
        return self.title


class MessageVector(models.Model):
    """The vector of an item's message by an ``embedder``: little-endian 16-bit floats."""

    item = models.OneToOneField(
        "review.ReviewItem", on_delete=models.CASCADE, related_name="vector"
    )
    embedder = models.CharField(max_length=200)
    value = models.BinaryField()

    def __str__(self) -> str:
        return f"vector of {self.item_id}"


class MessageTranslation(models.Model):
    """A model's translation into ``language``, for staff alone: of an item's message, or of the
    question and the answer of a reading.

    ``text`` is empty where no attempt passed the gate; ``tokens`` count all attempts.
    """

    item = models.ForeignKey(
        "review.ReviewItem", null=True, on_delete=models.CASCADE, related_name="translations"
    )
    reading = models.ForeignKey(
        "review.Reading", null=True, on_delete=models.CASCADE, related_name="translations"
    )
    language = models.CharField(max_length=8)
    text = models.TextField(blank=True)
    tokens = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="translated_day")]

    def __str__(self) -> str:
        return f"translation of {self.item_id or self.reading_id} into {self.language}"
