"""Review items and decisions on them."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime
from enum import IntEnum
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from conversations.models import Turn
from ieim.audit.models import AppendOnlyError, CurrentManager
from ieim.people.models import User
from ieim.pipeline.canonical import DecimalDecoder, DecimalEncoder
from review.batches.models import Batch as Batch
from review.batches.models import BatchEntry as BatchEntry
from review.batches.models import EntryState as EntryState
from review.board.models import Absence as Absence
from review.board.models import Alert as Alert
from review.board.models import SharedItem as SharedItem
from review.colleagues.models import Note as Note
from review.quality.models import Reading as Reading
from review.replies import models as replies  # noqa: F401 - they belong to this app
from review.states import ReviewState


class Priority(IntEnum):
    """The priority of an item."""

    HIGH = 1
    """Of danger: held because of a risk, or shown because of a sign of one."""
    NORMAL = 2
    """A citizen waits for an answer."""
    LOW = 3
    """Triage only: no answer waits for it."""


CRISIS = 0
"""The rank of an item whose message shows a risk that escalates: before every urgency."""
SIGN = 1
"""The rank of an item in crisis of which nobody waits and that a weak sign alone opened: it stands
in the same band, after those for which somebody waits."""
REFUSED = 2
"""The rank of an item whose message a model refused to read and that shows no danger of its own: it
stands below the band of those in crisis, before every urgency."""
NORMAL_RANK = 1440
"""The rank of an item whose urgency nobody knows: that of an ordinary one."""


class AgencySet(models.Model):
    """Agencies that items belong to together: one row for each combination that has occurred.

    An item points at its set, so that one index leads through the items of an agency in order.
    ``ids`` are sorted, ``digest`` is the SHA-256 of them.
    """

    ids = models.JSONField()
    digest = models.CharField(max_length=64, unique=True)

    def __str__(self) -> str:
        return ", ".join(self.ids)


class SetMember(models.Model):
    """An agency of a set: what leads from an agency to the sets that it is in."""

    set = models.ForeignKey(AgencySet, on_delete=models.CASCADE, related_name="members")
    agency = models.CharField(max_length=200)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["agency", "set"], name="member_once_a_set")]

    def __str__(self) -> str:
        return self.agency


class ReviewItem(models.Model):
    """A stage or a reply that waits for a person.

    ``stage`` is a contract's id, ``reply`` when the reply as a whole is held, or ``person`` when
    the citizen asks for one. ``reasons`` are the finding codes, each once, in the order of the
    gate; ``reason`` is the first of them. ``agencies`` are those that it belongs to
    (``review/scope.py``), None while none is known; ``agency`` is the one that has it now: the only
    one found, or the one that it was handed to; ``likely_agency`` is what the ranking takes for it
    while none is found, if anything. ``urgency`` and ``language`` are what was known when it was
    opened (empty where nothing was). ``rank`` is how urgent it is, the lowest first:
    :data:`CRISIS`, :data:`SIGN`, :data:`REFUSED`, or the target minutes of its urgency. A claim
    holds until ``claimed_until``. ``takes_effect_at`` is when the decision of an item that is
    ``sending`` does; one that was put away at ``snoozed_at`` comes back at ``snoozed_until``, or
    when its citizen writes. Items that failed alike have the same ``alike``
    (``review/batches/alike.py``). ``version`` counts the changes: who decides says which one they
    saw.
    ``parent`` is the item after whose decision the pipeline stopped again.
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
    reason = models.CharField(max_length=64, blank=True)
    priority = models.PositiveSmallIntegerField(
        choices=[(priority.value, priority.name.lower()) for priority in Priority],
        default=Priority.NORMAL.value,
    )
    agency = models.CharField(max_length=200, blank=True)
    likely_agency = models.CharField(  # noqa: DJ001  # else SQLite makes it anew, without triggers
        max_length=200, null=True, blank=True
    )
    agencies = models.ForeignKey(
        AgencySet,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        db_index=False,
        related_name="items",
    )
    urgency = models.CharField(max_length=64, blank=True)
    rank = models.PositiveIntegerField(default=NORMAL_RANK)
    language = models.CharField(max_length=8, blank=True)
    needs_second = models.BooleanField(default=False)
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="follow_ups"
    )
    claimed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="claimed_items",
    )
    claimed_until = models.DateTimeField(null=True, blank=True)
    takes_effect_at = models.DateTimeField(null=True, blank=True)
    snoozed_at = models.DateTimeField(null=True, blank=True)
    snoozed_until = models.DateTimeField(null=True, blank=True)
    alike = models.CharField(  # noqa: DJ001  # likewise
        max_length=255, null=True, blank=True
    )
    version = models.PositiveIntegerField(default=1)
    opened_at = models.DateTimeField(auto_now_add=True)
    due_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["rank", "due_at", "id"]
        permissions = [
            ("decide_reviewitem", "Can claim and decide review items"),
            ("supervise_reviewitem", "Can assign and take over review items"),
            ("second_reviewitem", "Can give a second opinion"),
            ("triage_reviewitem", "Can work on items without an agency"),
            ("view_metrics", "Can see the metrics"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["turn", "stage"],
                # What is sending is undecided too: one of a stage that is so is found before.
                condition=Q(state__in=["claimed", "open", "second_opinion"]),
                name="one_undecided_item_a_stage",
            ),
        ]
        indexes = [
            # Its first fields lead through a list in order. The others are there so that what is
            # filtered away is passed over within the index.
            models.Index(
                fields=[
                    *("state", "rank", "due_at", "id"),
                    *("stage", "reason", "urgency", "language", "opened_at"),
                ],
                name="review_queue",
            ),
            models.Index(
                fields=["state", "agencies", "rank", "due_at", "id"], name="review_agencies"
            ),
            models.Index(fields=["claimed_by", "state", "rank", "due_at"], name="review_mine"),
            models.Index(fields=["decided_at"], name="review_decided"),
            models.Index(fields=["opened_at"], name="review_opened"),
        ]

    def __str__(self) -> str:
        return f"{self.stage} of {self.turn_id} ({self.state})"

    @property
    def agency_ids(self) -> tuple[str, ...]:
        """The ids of the agencies that the item belongs to, sorted."""
        return () if self.agencies is None else tuple(self.agencies.ids)

    def holder(self, now: datetime) -> User | None:
        """Return who has a claim on the item that has not run out, None while it is free."""
        if self.state != ReviewState.CLAIMED.value or self.claimed_until is None:
            return None
        return self.claimed_by if self.claimed_until > now else None


class ItemFlag(models.Model):
    """A risk flag of an item's turn: what the queue is filtered by."""

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="flags")
    code = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["code", "item"], name="flag_once_an_item")]

    def __str__(self) -> str:
        return self.code


class SearchText(models.Model):
    """The words of an item's message, as they are searched (``review/queue/fulltext.py``)."""

    item = models.OneToOneField(ReviewItem, on_delete=models.CASCADE, related_name="search_text")
    words = models.TextField()

    def __str__(self) -> str:
        return f"the words of {self.item_id}"


class Action(models.TextChoices):
    """The actions that a person can take on an item."""

    APPROVE = "approve", _("Approve")
    OVERRIDE = "override", _("Correct")
    SERVICE = "service", _("Send this service")
    RETRY = "retry", _("Ask the model again")
    WRITE = "write", _("Write the reply")
    ASK = "ask", _("Ask the citizen for more")
    HAND_OVER = "hand_over", _("Hand to another agency")
    DONE = "done", _("Reached the citizen")
    DISMISS = "dismiss", _("Dismiss")
    AGREE = "agree", _("Agree")
    DISAGREE = "disagree", _("Disagree")
    UNDO = "undo", _("Undo")


class Decision(models.Model):
    """A correction record: append-only, except that a session's erasure takes its records along.

    ``patch`` is the RFC 6902 patch from what the model said last (null where it said nothing that
    could be read) to ``output``, which is the stage's new answer, the reply written, or what else
    the action needs. ``artifacts`` holds the hashes of the attempt that was judged, and the prefix
    of the token where a program decided; ``evidence`` the spans of the new answer. ``seconds`` is
    the time between the claim and the decision.
    ``about`` is the record that this one agrees with, disagrees with, replaces, or undoes.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="decisions")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="decisions"
    )
    action = models.CharField(max_length=16, choices=Action.choices)
    reason = models.TextField()
    patch = models.JSONField(null=True, encoder=DecimalEncoder, decoder=DecimalDecoder)
    output = models.JSONField(null=True, encoder=DecimalEncoder, decoder=DecimalDecoder)
    artifacts = models.JSONField(default=dict)
    evidence = models.JSONField(default=list)
    seconds = models.PositiveIntegerField(default=0)
    about = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="answers"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at", "id"]
        indexes = [
            models.Index(fields=["actor", "created_at"], name="decision_actor"),
            models.Index(fields=["created_at"], name="decision_day"),
        ]

    def __str__(self) -> str:
        return f"{self.action} of {self.item_id}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert the row; raise :class:`AppendOnlyError` when it is already stored."""
        if not self._state.adding:
            raise AppendOnlyError(f"decision {self.pk} is stored for good")
        super().save(*args, **{**kwargs, "force_insert": True})


TAKEN_BACK = models.Q(action=Action.UNDO) | models.Q(answers__action=Action.UNDO)
"""What figures leave out: the records of takings back, and the decisions that were taken back."""


class SignOff(models.Model):
    """An agency's signature under a reply that several agencies answer, and why.

    ``reason`` is empty under what was signed before reasons were kept. Never deleted: one whose
    text was withdrawn does not ``stand`` any more, and is in ``recorded``.
    """

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="sign_offs")
    agency = models.CharField(max_length=200)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="sign_offs"
    )
    reason = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)
    stands = models.BooleanField(default=True)

    objects = CurrentManager["SignOff"]()
    recorded = models.Manager["SignOff"]()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["item", "agency"],
                condition=Q(stands=True),
                name="signed_once_an_agency",
            )
        ]

    def __str__(self) -> str:
        return f"{self.agency} for {self.item_id}"


class DailyFigures(models.Model):
    """The figures of a day that is over (``review/metrics``), from ``begin`` until before ``end``.

    Both are midnights of the deployment. ``figures`` are rows by the name of their query, without
    the day; they do not count while ``is_stale``. A release that counts otherwise deletes all rows
    in a migration.
    """

    begin = models.DateTimeField()
    end = models.DateTimeField()
    figures = models.JSONField(default=dict)
    is_stale = models.BooleanField(default=True)
    counted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["begin", "end"], name="figures_once_a_day")]

    def __str__(self) -> str:
        return f"figures from {self.begin}"

    def has_any(self, moments: Iterable[datetime]) -> bool:
        """Return whether one of the moments is of the day."""
        return any(self.begin <= moment < self.end for moment in moments)


class LateChange(models.Model):
    """That something of an earlier day has changed: of ``moment``, and of all days of a turn.

    Triggers insert it (``review/metrics/triggers.py``), in the transaction of the change.
    """

    turn_id = models.UUIDField(null=True)
    moment = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"change of {self.moment or self.turn_id}"


class SavedView(models.Model):
    """A queue's filters under a name; ``query`` is the address's query string.

    ``shared_with`` is the id of an agency, :data:`ieim.people.models.EVERY_AGENCY`, or None.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views"
    )
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=500, blank=True)
    shared_with = models.CharField(  # noqa: DJ001  # nullable: the release before knows no value
        max_length=200, null=True, blank=True
    )

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="view_once_a_name")]

    def __str__(self) -> str:
        return self.name
