"""Sessions and turns with all that came of them. Constraints refuse what must not be twice."""

from __future__ import annotations

import uuid
import zlib

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

# The models of the folders are here too: whoever needs one asks this module.
from conversations.mail.models import MailRequest as MailRequest
from conversations.outages.models import Outage as Outage
from conversations.person.models import Line as Line
from conversations.person.models import PersonRequest as PersonRequest
from conversations.person.models import Takeover as Takeover
from conversations.states import PENDING_TURN_STATES, StageStatus, TurnState
from conversations.turns.models import Choice as Choice
from conversations.turns.models import MissingTriage as MissingTriage
from conversations.turns.models import Replacement as Replacement
from conversations.webhooks.models import Delivery as Delivery
from conversations.webhooks.models import Subscription as Subscription
from conversations.webhooks.models import Webhook as Webhook
from ieim.audit.models import AppendOnlyModel, AuditHead, CurrentManager
from ieim.knowledge.bundles.columns import ID_LIMIT
from ieim.pipeline.canonical import DecimalDecoder, DecimalEncoder
from ieim.pipeline.knowledge import Release
from ieim.pipeline.work import Key

ERASED_MARK = "erased:"
"""What the digest of an erased session's secret begins with: no SHA-256 in hex looks like it."""


class Session(models.Model):
    """One citizen's conversation.

    ``reference`` is public (like ``K7M-4QX9``, to say on the phone); ``secret_sha256`` is the
    lower-case hex SHA-256 of the secret that it was made with: of REST's token, or of the one in
    the citizen's cookie and private link. ``link_sha256`` is that of the latter always, and blank
    in sessions from before it was there, which have one secret for both. So a link opens no REST,
    and a token no page (:func:`opened_by_link`, :func:`opened_by_token`).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    reference = models.CharField(max_length=12, unique=True)
    secret_sha256 = models.CharField(max_length=64, unique=True)
    link_sha256 = models.CharField(max_length=64, blank=True, default="", db_default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["link_sha256"], name="session_link")]

    def __str__(self) -> str:
        return self.reference


def opened_by_link(digest: str) -> models.Q:
    """Return what makes a session the one of a cookie or a private link."""
    of_both = models.Q(link_sha256="", secret_sha256=digest)
    return models.Q(link_sha256=digest) | of_both


def opened_by_token(digest: str) -> models.Q:
    """Return what makes a session the one of a token of REST."""
    return models.Q(secret_sha256=digest) & ~models.Q(link_sha256=digest)


class Turn(models.Model):
    """One citizen message and all that came of it.

    ``text`` is the message as sent: evidence offsets count its code points. ``risks`` are the flags
    of the screen, and what classify added to them, as :class:`ieim.pipeline.message.risk.RiskDict`.
    ``language`` is what the message seems to be written in (ISO 639-1), empty where that cannot be
    told; ``situation`` is one of :data:`ieim.pipeline.knowledge.CIRCUMSTANCES`, or None. ``lease``
    names the worker run that may write to the turn until ``leased_until``.
    ``resumed`` says that a person's decision set it going again: the session's next question does
    not wait for it. ``hold_waived`` says that a person let the held reply go out.
    ``said_safe_at`` is when the citizen said below its help lines that they are safe.
    ``release_number`` is the release that it is answered from: the live one of when it came, or,
    once somebody has had a newer one asked, that one. Then ``first_release`` is the one before,
    and ``renewed_at`` the moment; both are None for most.

    In memory only: ``release`` as :func:`conversations.turns.languages.written_release` read it,
    and ``audit_head``, that of the session's chain as this object's last event left it.
    """

    release: Release | None = None
    audit_head: AuditHead | None = None

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="turns")
    number = models.PositiveIntegerField()
    text = models.TextField()
    state = models.CharField(
        max_length=16,
        choices=[(state.value, state.value) for state in TurnState],
        default=TurnState.QUEUED.value,
    )
    release_number = models.PositiveIntegerField()
    risks = models.JSONField(default=list, blank=True)
    language = models.CharField(max_length=8, blank=True)
    # SQLite rewrites a table to add a column with a default, which the table's triggers refuse.
    # Null: with a default SQLite would build the table anew, without its triggers.
    situation = models.CharField(max_length=16, null=True)  # noqa: DJ001
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    queued_at = models.DateTimeField()
    lease = models.UUIDField(null=True, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    retry_at = models.DateTimeField(null=True, blank=True)
    unavailable_since = models.DateTimeField(null=True, blank=True)
    runs = models.PositiveSmallIntegerField(default=0)
    resumed = models.BooleanField(default=False)
    hold_waived = models.BooleanField(default=False)
    said_safe_at = models.DateTimeField(null=True, blank=True)
    first_release = models.PositiveIntegerField(null=True, blank=True)
    renewed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["session_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="turn_number_once"),
            models.UniqueConstraint(
                fields=["session"],
                condition=Q(state__in=sorted(s.value for s in PENDING_TURN_STATES), resumed=False),
                name="one_pending_turn_a_session",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "queued_at"], name="turn_state_queued"),
            models.Index(fields=["created_at"], name="turn_day"),
        ]

    def __str__(self) -> str:
        return f"{self.session_id} turn {self.number}"

    @property
    def chosen_services(self) -> tuple[Key, ...]:
        """Agency and key of each option that its citizen has chosen."""
        return self.choice.services if hasattr(self, "choice") else ()


class Stage(models.Model):
    """One step of a turn with one contract.

    ``output`` is the answer that passed (or was put in its place), ``state_merge`` the slice that
    goes into ``cached_state``. ``findings`` are what stopped it, or made it a fallback.
    ``result`` is that of a triage contract (``ieim/pipeline/results.py``), or what is shown in
    place of a free text. ``round`` counts a person's retries from 1.
    """

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="stages")
    contract = models.CharField(max_length=64)
    order = models.PositiveSmallIntegerField()
    status = models.CharField(
        max_length=16,
        choices=[(status.value, status.value) for status in StageStatus],
        default=StageStatus.PENDING.value,
    )
    round = models.PositiveSmallIntegerField(default=1)
    output = models.JSONField(null=True, encoder=DecimalEncoder, decoder=DecimalDecoder)
    state_merge = models.JSONField(null=True, encoder=DecimalEncoder, decoder=DecimalDecoder)
    findings = models.JSONField(default=list)
    result = models.JSONField(null=True, encoder=DecimalEncoder, decoder=DecimalDecoder)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["turn_id", "order"]
        constraints = [
            models.UniqueConstraint(fields=["turn", "contract"], name="stage_once_a_turn")
        ]

    def __str__(self) -> str:
        return f"{self.contract} ({self.status})"


class Attempt(models.Model):
    """One model call for a stage: an immutable artifact.

    ``asked`` is the per-call JSON as it was sent (UTF-8, compressed by zlib); the hashes stand for
    the persona and the directive before it. ``raw`` is the model's answer as bytes (UTF-8 with lone
    surrogates let through), because a database's text type refuses some of what a broken server
    can say. ``response_id`` is kept even of a failed attempt: within a session it may not come
    again. ``cached_tokens`` are those that a prefix cache had; ``tokens`` is what budgets count.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="attempts")
    round = models.PositiveSmallIntegerField(default=1)
    number = models.PositiveSmallIntegerField()
    model = models.CharField(max_length=200)
    temperature = models.DecimalField(max_digits=4, decimal_places=2)
    request_sha256 = models.CharField(max_length=64)
    contract_sha256 = models.CharField(max_length=64)
    prompt_sha256 = models.CharField(max_length=64)
    request_bytes = models.PositiveIntegerField()
    asked = models.BinaryField(default=b"")
    raw = models.BinaryField()
    finish_reason = models.CharField(max_length=64, blank=True)
    refusal = models.BinaryField(default=b"")
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    cached_tokens = models.PositiveIntegerField(null=True)
    tokens = models.PositiveIntegerField(default=0)
    duration_ms = models.PositiveIntegerField()
    findings = models.JSONField(default=list)
    response_id = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["stage_id", "round", "number"]
        constraints = [
            models.UniqueConstraint(fields=["stage", "round", "number"], name="attempt_once")
        ]
        indexes = [models.Index(fields=["created_at"], name="attempt_day")]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.stage_id}"

    @property
    def raw_text(self) -> str:
        """The answer as text for people; what is not UTF-8 shows as replacement characters."""
        return bytes(self.raw).decode("utf-8", "replace")

    @property
    def asked_text(self) -> str:
        """The per-call JSON as it was sent; empty where it was not kept."""
        return zlib.decompress(bytes(self.asked)).decode() if self.asked else ""


class EvidenceSpan(models.Model):
    """Where in the citizen's own text a stage's evidence stands.

    ``start`` and ``end`` are half-open offsets in Unicode code points into ``Turn.text``;
    ``snippet_sha256`` is lower-case hex over the UTF-8 of that slice. Those of an answer that
    another one has replaced do not ``stand`` any more; they stay, and are in ``recorded``.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="spans")
    path = models.CharField(max_length=500)
    source = models.CharField(max_length=32)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()
    snippet_sha256 = models.CharField(max_length=64)
    occurrences = models.PositiveIntegerField()
    stands = models.BooleanField(default=True)

    objects = CurrentManager["EvidenceSpan"]()
    recorded = models.Manager["EvidenceSpan"]()

    class Meta:
        ordering = ["stage_id", "start", "end"]

    def __str__(self) -> str:
        return f"{self.start}:{self.end} of {self.source}"


class ReplyOrigin(models.TextChoices):
    """Whose words a reply is."""

    MODEL = "model", "answered by the pipeline, in a model's words"
    INDEX = "index", "answered by the pipeline, in the words of the service index"
    GUIDANCE = "guidance", "answered by the pipeline, with a text of the administration's"
    RETOLD = "retold", "the same as index, before 0.3"
    MODEL_APPROVED = "model_approved", "answered by the pipeline, approved by a person"
    CITIZEN_CHOICE = "citizen_choice", "chosen by the citizen"
    STAFF_OVERRIDE = "staff_override", "answered by the pipeline, corrected by a person"
    STAFF = "staff", "written by a person"


class Reply(models.Model):
    """What the citizen is shown at the end of a turn: one a turn, by the database's own rule.

    ``body`` is :class:`ieim.pipeline.reply.reply.Reply` as JSON. ``marked`` are the half-open code
    point offsets of the citizen's own words that led to the answer.
    """

    turn = models.OneToOneField(Turn, on_delete=models.CASCADE, related_name="reply")
    origin = models.CharField(max_length=16, choices=ReplyOrigin.choices)
    body = models.JSONField()
    marked = models.JSONField(default=list)
    model = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="reply_day")]

    def __str__(self) -> str:
        return f"reply to {self.turn_id}"

    @property
    def useful(self) -> bool | None:
        """What the citizen says of it; None while they have said nothing."""
        return self.rating.useful if hasattr(self, "rating") else None


class ClientTurn(models.Model):
    """The name that a client gave to its message: the same name in a session is the same turn."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="client_turns")
    turn = models.OneToOneField(Turn, on_delete=models.CASCADE, related_name="client_turn")
    client_id = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "client_id"], name="client_id_once_a_session"
            )
        ]

    def __str__(self) -> str:
        return f"{self.client_id} of {self.session_id}"


class Citation(models.Model):
    """A service that a reply was made from; written with the reply, gone with it.

    ``service_sha256`` names the version: the digest of the service's content as in
    :func:`conversations.citations.version`, whatever the release.
    """

    reply = models.ForeignKey(
        "conversations.Reply", on_delete=models.CASCADE, related_name="citations"
    )
    agency = models.CharField(max_length=ID_LIMIT)
    service = models.CharField(max_length=ID_LIMIT)
    service_sha256 = models.CharField(max_length=64)

    class Meta:
        indexes = [
            models.Index(fields=["agency", "service", "service_sha256"], name="citation_of_service")
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["reply", "agency", "service"], name="citation_once_a_reply"
            )
        ]

    def __str__(self) -> str:
        return f"{self.agency}/{self.service} in {self.reply_id}"


class CorrectionNotice(models.Model):
    """A correction as it was written and confirmed: once, for many answers.

    It goes to the answers made from ``agency``'s ``service`` until it was written: of the version
    ``service_sha256`` (blank: of any), never of ``other_than_sha256`` (blank: of none), and of
    ``turns`` only (UUIDs as text; None: of all), which were ``total`` at that moment. ``sent_at``
    is None until all that are still there have it; ``sent``, ``repeated`` (had these words already)
    and ``gone`` (erased meanwhile) then add up to ``total``.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    agency = models.CharField(max_length=ID_LIMIT)
    service = models.CharField(max_length=ID_LIMIT)
    service_sha256 = models.CharField(max_length=64, blank=True)
    other_than_sha256 = models.CharField(max_length=64, blank=True, default="")
    turns = models.JSONField(null=True)
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64)
    total = models.PositiveIntegerField()
    sent = models.PositiveIntegerField(default=0)
    repeated = models.PositiveIntegerField(default=0)
    gone = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    sent_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["agency", "service", "-created_at"], name="correction_of_service")
        ]

    def __str__(self) -> str:
        return f"correction of {self.agency}/{self.service}"


class Correction(AppendOnlyModel):
    """A correction under the answer that it corrects, in the words of its ``notice``.

    Never changed; gone when its session is erased. The same words come once to a turn.
    """

    session = models.ForeignKey(
        "conversations.Session", on_delete=models.CASCADE, related_name="corrections"
    )
    turn = models.ForeignKey(
        "conversations.Turn", on_delete=models.CASCADE, related_name="corrections"
    )
    notice = models.ForeignKey(
        CorrectionNotice, on_delete=models.PROTECT, related_name="corrections"
    )
    text_sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["turn", "text_sha256"], name="correction_once_a_turn")
        ]

    def __str__(self) -> str:
        return f"correction of {self.turn_id}"


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


class Tick(models.Model):
    """That a citizen has seen to one service of a reply over several; gone with the reply.

    A note of their own: nobody else decides anything by it, and no event vouches for it.
    """

    reply = models.ForeignKey("conversations.Reply", on_delete=models.CASCADE, related_name="ticks")
    service = models.CharField(max_length=2 * ID_LIMIT + 1)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["reply", "service"], name="tick_once")]

    def __str__(self) -> str:
        return f"{self.service}: {self.reply_id}"


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


class Artifact(AppendOnlyModel):
    """A prompt or a schema, stored when it was first used.

    ``sha256`` is the lower-case hex digest of ``content``: of a prompt persona and directive with
    one NUL between them (UTF-8), of a schema its RFC 8785 bytes.
    """

    sha256 = models.CharField(max_length=64, primary_key=True)
    content = models.BinaryField()

    def __str__(self) -> str:
        return self.sha256


class Unused(models.Model):
    """A call that was made ahead of its stage, and whose answer nobody needed.

    Of the answer nothing is kept but what it cost: ``tokens`` as of an attempt. The server's own
    counts are null where it gave none, or where the turn did not wait for the answer.
    """

    turn = models.ForeignKey("conversations.Turn", on_delete=models.CASCADE, related_name="unused")
    contract = models.CharField(max_length=64)
    request_sha256 = models.CharField(max_length=64)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    tokens = models.PositiveIntegerField()
    duration_ms = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["created_at"], name="unused_day")]

    def __str__(self) -> str:
        return f"{self.contract}, in vain"


class Delay(models.Model):
    """That a turn takes longer than usual, and since when: the citizen has been told."""

    turn = models.OneToOneField(
        "conversations.Turn", on_delete=models.CASCADE, primary_key=True, related_name="delay"
    )
    since = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.turn_id} since {self.since}"


class Seat(models.Model):
    """One of the calls that the model server may have at once, of all processes together.

    ``holder`` is the process that has it, ``until`` when it is free again whatever becomes of that.
    """

    number = models.PositiveIntegerField(primary_key=True)
    holder = models.UUIDField(null=True)
    until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"seat {self.number}"
