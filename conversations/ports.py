"""What this app needs of the apps above it, wired by ``ieim.config``.

``conversations`` never imports ``review``; a stage that fails closed still opens its review item in
the same transaction as its own result.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from django.db.models import QuerySet


@dataclass(frozen=True, slots=True)
class Due:
    """By ``when`` a person should have decided, and the finding codes for which one has to."""

    when: datetime
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided about a ``step`` of a turn (a contract's id, ``reply``, ``person``)."""

    turn_id: UUID
    step: str
    action: str
    at: datetime


class Reviews(Protocol):
    """The review items of turns."""

    def open(self, *, turn_id: UUID, stage: str, codes: Sequence[str]) -> object:
        """Open an item for a stage (or ``reply``) of a turn; idempotent while it is open."""

    def count(self, *, session_id: UUID) -> int:
        """Return how many items a session has, decided or not."""

    def erase(self, *, session_id: UUID) -> None:
        """Delete the items of a session with every decision on them."""

    def decisions(self, *, session_id: UUID) -> Sequence[Decision]:
        """Return what persons decided in a session, without who."""

    def decided_sessions(self) -> QuerySet[Any]:
        """Return the ids of the sessions in which a person decided something, as a query."""

    def decided_turns(self) -> QuerySet[Any]:
        """Return the ids of the turns about which a person decided and of which nothing is
        undecided, as a query."""

    def due(self, *, turn_ids: Collection[UUID], at: datetime | None = None) -> Mapping[UUID, Due]:
        """Return by when a person should have decided, and why, by turn; ``at``: who waited then.

        Only for answers that wait.
        """

    def refresh(self, *, turn_id: UUID, codes: Sequence[str]) -> None:
        """Bring the undecided items of a turn up to date with its triage; ``codes`` are reasons
        that are new to those for which somebody waits."""

    def withdraw(self, *, turn_id: UUID) -> None:
        """End the undecided items of a turn that its citizen does not want answered any more."""

    def refresh_before_reply(self, *, turn_id: UUID, by_person: bool) -> Sequence[str]:
        """Bring the items of a turn up to date before its reply leaves.

        Returns the codes of what holds it back, none for most. ``by_person``: one had a hand in it.
        """


_reviews: Reviews | None = None


def wire(reviews: Reviews) -> None:
    """Set the implementation, once at start."""
    global _reviews
    _reviews = reviews


def reviews() -> Reviews:
    """Return what is wired.

    Raises RuntimeError where nothing is: a turn that needs a person must not end in silence, an
    erased session not stay in the queue, a reply not leave unsigned.
    """
    if _reviews is None:
        raise RuntimeError("no reviews are wired; call conversations.ports.wire at start")
    return _reviews
