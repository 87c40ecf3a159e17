"""What this app needs of the apps above it, wired by ``ieim.config``.

``conversations`` never imports ``review``; a fail-closed stage still opens its review item in the
same transaction as its own result.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Due:
    """By ``when`` a person should have decided, and the finding codes for which one has to."""

    when: datetime
    reasons: tuple[str, ...]


class OpenReview(Protocol):
    """Open a review item for a stage (or ``reply``) of a turn; idempotent while it is open."""

    def __call__(self, *, turn_id: UUID, stage: str, codes: Sequence[str]) -> object: ...


class CountReviews(Protocol):
    """Say how many review items a session has, decided or not."""

    def __call__(self, *, session_id: UUID) -> int: ...


class EraseReviews(Protocol):
    """Delete the review items of a session with every decision on them."""

    def __call__(self, *, session_id: UUID) -> None: ...


class ReviewsDue(Protocol):
    """Say by when a person should have decided, and why, by turn id; only for answers that wait.

    ``at`` asks for those that waited at that time.
    """

    def __call__(
        self, *, turn_ids: Collection[UUID], at: datetime | None = None
    ) -> Mapping[UUID, Due]: ...


class WithdrawReviews(Protocol):
    """End the undecided review items of a turn that its citizen does not want answered any more."""

    def __call__(self, *, turn_id: UUID) -> None: ...


class ReviewsSettle(Protocol):
    """Bring a turn's review items up to date before its reply leaves.

    Returns the codes of what holds it back, none for most.
    """

    def __call__(self, *, turn_id: UUID, by_person: bool) -> Sequence[str]: ...


_NO_ERASURE = "no erasure port is wired; call conversations.ports.wire_erasure at start"

_open_review: OpenReview | None = None
_count_reviews: CountReviews | None = None
_erase_reviews: EraseReviews | None = None
_reviews_due: ReviewsDue | None = None
_settle_reviews: ReviewsSettle | None = None
_withdraw_reviews: WithdrawReviews | None = None


def wire_review(port: OpenReview) -> None:
    """Set the port, once at start."""
    global _open_review
    _open_review = port


def wire_erasure(count: CountReviews, erase: EraseReviews) -> None:
    """Set the ports, once at start."""
    global _count_reviews, _erase_reviews
    _count_reviews, _erase_reviews = count, erase


def wire_due(port: ReviewsDue) -> None:
    """Set the port, once at start."""
    global _reviews_due
    _reviews_due = port


def wire_settling(port: ReviewsSettle) -> None:
    """Set the port, once at start."""
    global _settle_reviews
    _settle_reviews = port


def wire_withdrawing(port: WithdrawReviews) -> None:
    """Set the port, once at start."""
    global _withdraw_reviews
    _withdraw_reviews = port


def open_review(*, turn_id: UUID, stage: str, codes: Sequence[str]) -> None:
    """Open a review item through the wired port.

    Raises RuntimeError when nothing is wired: a turn that needs a person must not end in silence.
    """
    if _open_review is None:
        raise RuntimeError("no review port is wired; call conversations.ports.wire_review at start")
    _open_review(turn_id=turn_id, stage=stage, codes=codes)


def count_reviews(*, session_id: UUID) -> int:
    """Return how many review items a session has; raises RuntimeError as :func:`erase_reviews`."""
    if _count_reviews is None:
        raise RuntimeError(_NO_ERASURE)
    return _count_reviews(session_id=session_id)


def erase_reviews(*, session_id: UUID) -> None:
    """Delete a session's review items through the wired port.

    Raises RuntimeError when nothing is wired: an erased session must not stay in the queue.
    """
    if _erase_reviews is None:
        raise RuntimeError(_NO_ERASURE)
    _erase_reviews(session_id=session_id)


def reviews_due(*, turn_ids: Collection[UUID], at: datetime | None = None) -> Mapping[UUID, Due]:
    """Return by when a person should have decided, and why, through the wired port.

    ``at`` asks for what waited then. Raises RuntimeError when nothing is wired: a citizen who waits
    must be told until when.
    """
    if _reviews_due is None:
        raise RuntimeError("no due port is wired; call conversations.ports.wire_due at start")
    return _reviews_due(turn_ids=turn_ids, at=at)


def settle_reviews(*, turn_id: UUID, by_person: bool) -> Sequence[str]:
    """Return what holds a reply back that is about to leave, through the wired port.

    ``by_person`` says that a person had a hand in it. Raises RuntimeError when nothing is wired: a
    reply must not leave unsigned.
    """
    if _settle_reviews is None:
        raise RuntimeError(
            "no settling port is wired; call conversations.ports.wire_settling at start"
        )
    return _settle_reviews(turn_id=turn_id, by_person=by_person)


def withdraw_reviews(*, turn_id: UUID) -> None:
    """End a turn's undecided review items through the wired port.

    Raises RuntimeError when nothing is wired: nobody must work on what nobody wants.
    """
    if _withdraw_reviews is None:
        raise RuntimeError(
            "no withdrawing port is wired; call conversations.ports.wire_withdrawing at start"
        )
    _withdraw_reviews(turn_id=turn_id)
