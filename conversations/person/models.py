"""Requests for a person, takeovers of a conversation, and what is said in them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q


class Way(models.TextChoices):
    """How a citizen wants to be reached."""

    PAGE = "page", "on this page"
    EMAIL = "email", "by e-mail"
    CALL = "call", "by a call back"


class RequestState(models.TextChoices):
    """Where a request for a person stands."""

    OPEN = "open", "waits for a person"
    ANSWERED = "answered", "a person took care of it"
    CLOSED = "closed", "ended without an answer"
    WITHDRAWN = "withdrawn", "taken back by the citizen"


class PersonRequest(models.Model):
    """A citizen's request for a person: ``turn`` is the message of it.

    ``about`` is an earlier turn that it is about, None where only words say it. ``contact`` is an
    e-mail address or a telephone number (E.164), empty for the page and once the request has ended.
    A call is wanted from ``wanted_from`` until ``wanted_until``, None for any time.
    """

    turn = models.OneToOneField(
        "conversations.Turn", on_delete=models.CASCADE, related_name="person_request"
    )
    session = models.ForeignKey(
        "conversations.Session", on_delete=models.CASCADE, related_name="person_requests"
    )
    about = models.ForeignKey(
        "conversations.Turn", null=True, on_delete=models.CASCADE, related_name="+"
    )
    way = models.CharField(max_length=8, choices=Way.choices)
    contact = models.CharField(max_length=254, blank=True)
    wanted_from = models.DateTimeField(null=True)
    wanted_until = models.DateTimeField(null=True)
    state = models.CharField(
        max_length=12, choices=RequestState.choices, default=RequestState.OPEN.value
    )
    asked_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session"], condition=Q(state="open"), name="one_open_request_a_session"
            )
        ]

    def __str__(self) -> str:
        return f"person for {self.turn_id} ({self.state})"


class Ended(models.TextChoices):
    """How a takeover ended."""

    RUNNING = "", "not yet"
    HANDED_BACK = "handed_back", "handed back"
    CLAIM_LOST = "claim_lost", "the caseworker has the item no more"
    DECIDED = "decided", "the item was decided"
    SILENCE = "silence", "nothing was said for too long"
    WITHDRAWN = "withdrawn", "the citizen took the request back"


class Takeover(models.Model):
    """A caseworker has a conversation: the assistant is silent.

    ``item`` is the review item that they hold (reviews are a layer above). Without a word of theirs
    it is over at ``silent_at``, written down or not.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(
        "conversations.Session", on_delete=models.CASCADE, related_name="takeovers"
    )
    item = models.UUIDField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="takeovers"
    )
    since = models.DateTimeField()
    silent_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    ended = models.CharField(max_length=12, choices=Ended.choices, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session"], condition=Q(ended_at=None), name="one_takeover_a_session"
            )
        ]
        indexes = [
            models.Index(fields=["ended_at", "silent_at"], name="takeover_silent"),
            models.Index(fields=["item"], name="takeover_item"),
        ]

    def __str__(self) -> str:
        return f"takeover of {self.session_id} ({self.ended or 'running'})"


class LineKind(models.TextChoices):
    """What a line of a takeover is."""

    JOINED = "joined", "a person has the conversation"
    SAID = "said", "a person wrote"
    LEFT = "left", "the assistant answers again"


class Line(models.Model):
    """What a takeover put into a conversation: it stands after the turn of the number ``after``.

    ``text`` is empty for what is not said. ``cards`` are the services that were sent with it: the
    number of the ``release``, and the ``reply`` that shows them; None without any. Never changed.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(
        "conversations.Session", on_delete=models.CASCADE, related_name="lines"
    )
    takeover = models.ForeignKey(Takeover, on_delete=models.CASCADE, related_name="lines")
    after = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=LineKind.choices)
    text = models.TextField(blank=True)
    cards = models.JSONField(null=True, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["session_id", "after", "at"]
        indexes = [models.Index(fields=["session", "after", "at"], name="line_after")]

    def __str__(self) -> str:
        return f"{self.kind} in {self.takeover_id}"
