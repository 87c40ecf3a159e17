"""What this app needs of the apps above it, wired by ``ieim.config``.

``conversations`` never imports ``review``; a fail-closed stage still opens its review item in the
same transaction as its own result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID


class OpenReview(Protocol):
    """Open a review item for a stage (or ``reply``) of a turn; idempotent while it is open."""

    def __call__(self, *, turn_id: UUID, stage: str, codes: Sequence[str]) -> object: ...


_open_review: OpenReview | None = None


def wire_review(port: OpenReview) -> None:
    """Set the port, once at start."""
    global _open_review
    _open_review = port


def open_review(*, turn_id: UUID, stage: str, codes: Sequence[str]) -> None:
    """Open a review item through the wired port.

    Raises RuntimeError when nothing is wired: a turn that needs a person must not end in silence.
    """
    if _open_review is None:
        raise RuntimeError("no review port is wired; call conversations.ports.wire_review at start")
    _open_review(turn_id=turn_id, stage=stage, codes=codes)
