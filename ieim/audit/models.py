"""Audit events, the heads of their chains, and checkpoints over all heads.

All tables but that of the heads are append-only: the models refuse changes, and so do triggers in
the database (see :mod:`ieim.audit.triggers`), which let a head only move forward by one.
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
    """A stored row of an append-only table was to be changed or deleted."""


_M = TypeVar("_M", bound=models.Model)


class CurrentManager(models.Manager[_M]):
    """Manager of the current rows of an append-only model, without replaced ones."""

    def get_queryset(self) -> models.QuerySet[_M]:
        """Return the current rows."""
        return super().get_queryset().filter(stands=True)


class AppendOnlyModel(models.Model):
    """A model whose rows are written once."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert the row; raises :class:`AppendOnlyError` when it is already stored."""
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

    An event of a session can be emptied (:func:`ieim.audit.services.empty`), so two of its members
    differ: ``at`` is the day (``YYYY-MM-DD``), and ``payload`` the text of ``digest``, the
    lower-case hex SHA-256 of the concatenated texts of the column ``salt`` (64 random hex digits),
    the instant as above, and the payload. Emptying it clears the salt, and leaves the payload
    ``{}`` and the first moment of the day: its content cannot be found by trying, and the chain
    still holds. In other chains, and in events of before 0.3, both columns are empty.
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
"""The events that an erasure has emptied, but for kind, actor and day."""


class AuditHead(models.Model):
    """The last event of a chain. Its row is locked while the next one is written.

    ``key`` (32 random bytes) keys the digests of a session's rows, so that nobody who reads the
    events can find a citizen's words by trying. It is destroyed when the session is erased, and
    empty in chains that are never erased.
    """

    chain = models.UUIDField(primary_key=True)
    seq = models.PositiveBigIntegerField()
    hash = models.CharField(max_length=64)
    key = models.BinaryField(default=b"", db_default=b"")

    def __str__(self) -> str:
        return f"{self.chain}/{self.seq}"


class AuditCheckpoint(AppendOnlyModel):
    """A digest over all heads at one moment, for an operator to keep elsewhere.

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
    """A head at a checkpoint, stored only when it has moved since the previous checkpoint.

    With a row a chain, the heads that are no longer in the record are found by one indexed
    anti-join, and the table grows with the events, not with chains times checkpoints. A chain's
    head at checkpoint *n* is its row with the greatest ``seq`` among checkpoints up to *n*.
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
