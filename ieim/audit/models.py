"""Audit events, the heads of their chains, and checkpoints over all heads.

All but the heads is append-only: the models refuse, and so do triggers in the database (see
:mod:`ieim.audit.triggers`), which also let a head only move forward by one.
"""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar
from uuid import UUID

from django.db import models

SYSTEM_CHAIN = UUID("00000000-0000-8000-8000-000000000001")
"""The chain of events that belong to no session, such as publications. A fixed UUID of version 8
(RFC 9562: for a project's own use), so no session's random one can ever be the same."""

PEOPLE_CHAIN = UUID("00000000-0000-8000-8000-000000000002")
"""The chain of staff: logins, and changes of accounts, roles and agency scopes. Apart from the
system's, because who logs in must not wait for an import or a publication to end."""

VECTORS_CHAIN = UUID("00000000-0000-8000-8000-000000000003")
"""The chain of the vectors that the search compares: made in batches, while others publish."""


class AppendOnlyError(RuntimeError):
    """Something tried to change or remove what is only ever added to."""


_M = TypeVar("_M", bound=models.Model)


class CurrentManager(models.Manager[_M]):
    """Selects the current rows of an append-only model, without those that others replace."""

    def get_queryset(self) -> models.QuerySet[_M]:
        """Return the current rows."""
        return super().get_queryset().filter(stands=True)


class AppendOnlyModel(models.Model):
    """A row that is written once."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert the row; raise :class:`AppendOnlyError` when it is already stored."""
        if not self._state.adding:
            raise AppendOnlyError(f"{self._meta.verbose_name} {self.pk} is stored for good")
        super().save(*args, **{**kwargs, "force_insert": True})

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise :class:`AppendOnlyError`."""
        raise AppendOnlyError(f"{self._meta.verbose_name} {self.pk} is stored for good")


class AuditEvent(AppendOnlyModel):
    """One event of the record, chained to the previous one.

    ``hash`` is the lower-case hex SHA-256 of the RFC 8785 bytes (JSON Canonicalization Scheme,
    UTF-8, no newline) of one JSON object with exactly these seven members:

    - ``chain``: the chain's UUID, 36 characters, lower case, with hyphens
    - ``seq``: a number, 1 for the chain's first event, then one more each
    - ``kind``: such as ``"turn.received"``
    - ``actor``: ``"citizen"``, ``"system"`` or ``"staff:<username>"``, with ``/<prefix>`` of the
      token behind it where a program acted for them
    - ``at``: ``YYYY-MM-DDTHH:MM:SS.ffffffZ``, always six decimals, always UTC
    - ``payload``: the object whose canonical text the column ``payload`` holds
    - ``prev_hash``: the ``hash`` of the chain's event before, 64 zeros for the first

    The members are sorted by RFC 8785 to actor, at, chain, kind, payload, prev_hash, seq; since
    the column ``payload`` is canonical already, those bytes contain its text unchanged. Database
    columns ``chain`` and ``at`` have the database's own forms of the same UUID and instant.

    ``payload`` carries ids, codes, digests and counts, never a citizen's words.

    Of a session, whose content may go (:func:`ieim.audit.services.empty`), two members are others:
    ``at`` is the day (``YYYY-MM-DD``), and ``payload`` the text of ``digest``, the lower-case hex
    SHA-256 of the concatenated texts of the column ``salt`` (64 random hex digits), the instant as
    above, and the payload. Once it is emptied the salt is too, the payload is ``{}`` and the time
    the day's first: what was there cannot be found by trying, and the chain still holds. In other
    chains, and in events of before, both columns are empty.
    """

    chain = models.UUIDField()
    seq = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=64)
    actor = models.CharField(max_length=160)
    at = models.DateTimeField()
    payload = models.TextField()
    salt = models.CharField(max_length=64, default="", db_default="")
    digest = models.CharField(max_length=64, default="", db_default="")
    prev_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["chain", "seq"], name="audit_event_once"),
        ]
        indexes = [
            models.Index(fields=["at", "id"], name="audit_event_at"),
            models.Index(fields=["kind", "at", "id"], name="audit_event_kind_at"),
            models.Index(fields=["actor", "at", "id"], name="audit_event_actor_at"),
        ]

    def __str__(self) -> str:
        return f"{self.chain}/{self.seq} {self.kind}"


EMPTIED = models.Q(salt="") & ~models.Q(digest="")
"""The events of which an erasure has left kind, actor and day."""


class AuditHead(models.Model):
    """The last event of a chain. Its row is locked while the next one is written.

    With ``key`` (32 random bytes) the digests of a session's rows are made, so that nobody who
    reads the events can find a citizen's words by trying: without it they say nothing. It stands
    beside the events, not in them, and is destroyed when the session is erased. Empty for what is
    never erased.
    """

    chain = models.UUIDField(primary_key=True)
    seq = models.PositiveBigIntegerField()
    hash = models.CharField(max_length=64)
    key = models.BinaryField(default=b"", db_default=b"")

    def __str__(self) -> str:
        return f"{self.chain}/{self.seq}"


class AuditCheckpoint(AppendOnlyModel):
    """A digest over all heads at one moment, for an operator to keep somewhere else.

    ``digest`` is the lower-case hex SHA-256 over one line a chain, in ascending order of ``chain``:
    the RFC 8785 bytes of the array ``[chain, seq, hash]`` (chain in the form of
    :class:`AuditEvent`) and one newline (0x0A). The checkpoint is itself an event of the system
    chain (``audit.checkpoint``), written after the digest was taken.
    """

    number = models.PositiveIntegerField(primary_key=True)
    at = models.DateTimeField()
    chains = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)

    class Meta:
        ordering = ["-number"]

    def __str__(self) -> str:
        return f"checkpoint {self.number}"


class CheckpointHead(AppendOnlyModel):
    """A head as a checkpoint found it, stored only when it has moved since the previous checkpoint.

    One row a chain rather than one packed blob: "which of these are no longer in the record" is
    then one indexed anti-join at any size, and because only moved heads are stored, the table grows
    with what happened, not with chains times checkpoints. A chain's head at checkpoint *n* is its
    row with the greatest ``seq`` among checkpoints up to *n*.
    """

    checkpoint = models.ForeignKey(AuditCheckpoint, on_delete=models.PROTECT, related_name="heads")
    chain = models.UUIDField()
    seq = models.PositiveBigIntegerField()
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain", "seq"], name="audit_checkpoint_head_once"),
        ]

    def __str__(self) -> str:
        return f"{self.chain}/{self.seq} at checkpoint {self.checkpoint_id}"
