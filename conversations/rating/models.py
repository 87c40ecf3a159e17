"""What citizens think of the answers they got."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class Rating(models.Model):
    """A citizen's verdict on a reply: one a reply, may be changed, gone with the reply.

    Why it was not useful is :class:`Feedback`, where they say it.
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


class Reason(models.TextChoices):
    """Why an answer was not useful, as citizens may choose it."""

    OTHER_QUESTION = "other_question", _("It is not what I asked")
    WRONG = "wrong", _("It is not right")
    UNCLEAR = "unclear", _("I did not understand it")


class Feedback(models.Model):
    """What a citizen says of a reply beside their verdict: one a reply, gone with the reply.

    ``reason`` is empty where they chose none. ``text`` is in their own words without personal data,
    which are taken out before anything is stored; empty where they wrote none. Both are empty where
    they took it back.
    """

    reply = models.OneToOneField(
        "conversations.Reply", on_delete=models.CASCADE, related_name="feedback"
    )
    reason = models.CharField(max_length=16, choices=Reason.choices, blank=True)
    text = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["at"], name="feedback_day")]

    def __str__(self) -> str:
        return f"{self.reason or 'words'}: {self.reply_id}"
