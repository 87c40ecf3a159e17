"""What citizens think of the answers they got."""

from __future__ import annotations

from django.db import models


class Rating(models.Model):
    """A citizen's verdict on a reply: one a reply, may be changed, gone with the reply.

    There is no text in it on purpose: nothing that could be personal data.
    """

    reply = models.OneToOneField(
        "conversations.Reply", on_delete=models.CASCADE, related_name="rating"
    )
    useful = models.BooleanField()
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["at"], name="rating_day")]

    def __str__(self) -> str:
        return f"{'useful' if self.useful else 'not useful'}: {self.reply_id}"
