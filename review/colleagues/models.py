"""Notes on items, who is mentioned in them, and who wants a mail of that."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class Note(models.Model):
    """What a member of staff tells colleagues about an item. No citizen sees it. Never changed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    item = models.ForeignKey("review.ReviewItem", on_delete=models.CASCADE, related_name="notes")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="notes"
    )
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return f"note on {self.item_id}"


class Mention(models.Model):
    """That a note mentions somebody, and when they read that; None until then."""

    note = models.ForeignKey(Note, on_delete=models.CASCADE, related_name="mentions")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mentions"
    )
    read_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "note"], name="mention_once_a_note")]

    def __str__(self) -> str:
        return f"{self.user} in {self.note_id}"


class MentionMail(models.Model):
    """That somebody wants a mail when they are mentioned."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )

    def __str__(self) -> str:
        return f"mail to {self.user}"
