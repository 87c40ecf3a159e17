"""States of turns and stages: enums, transition tables, pure functions.

``docs/states.md`` is generated from this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class TurnState(StrEnum):
    """Where a citizen's message stands."""

    QUEUED = "queued"
    """Stored and audited; a worker has not taken it yet."""
    RUNNING = "running"
    """A worker holds its lease and runs the stages."""
    ANSWERED = "answered"
    """One reply is stored; the citizen can read it."""
    ASKING = "asking"
    """The pipeline does not know: the citizen is asked to choose from a few services."""
    NEEDS_REVIEW = "needs_review"
    """A stage failed closed or a reply is held; a person decides."""
    AWAITING_MODEL = "awaiting_model"
    """The model could not be reached; the turn is tried again later."""
    WITH_PERSON = "with_person"
    """Meant for the caseworker who has the conversation: the pipeline never answers it."""
    CLOSED = "closed"
    """Dismissed, erased or expired: nothing more will happen."""


class StageStatus(StrEnum):
    """Where one stage of a turn stands."""

    PENDING = "pending"
    """Known, not started."""
    RUNNING = "running"
    """A model call for it is under way or about to be."""
    PASSED = "passed"
    """An attempt went through the gate."""
    FALLBACK = "fallback"
    """Both attempts failed in their wording alone: the administration's text or the service list
    answers in place of the model's."""
    NEEDS_REVIEW = "needs_review"
    """Both attempts failed, or the model refused; a person decides."""
    APPROVED = "approved"
    """A person accepted the answer with its waivable findings."""
    OVERRIDDEN = "overridden"
    """A person put another answer in its place; it went through the same gate."""
    CHOSEN = "chosen"
    """The citizen chose; the result was made from the release and went through the same gate."""


TURN_TRANSITIONS: Mapping[TurnState, frozenset[TurnState]] = {
    TurnState.QUEUED: frozenset({TurnState.RUNNING, TurnState.WITH_PERSON, TurnState.CLOSED}),
    TurnState.RUNNING: frozenset(
        {
            TurnState.QUEUED,
            TurnState.ANSWERED,
            TurnState.ASKING,
            TurnState.NEEDS_REVIEW,
            TurnState.AWAITING_MODEL,
            TurnState.WITH_PERSON,
            TurnState.CLOSED,
        }
    ),
    TurnState.AWAITING_MODEL: frozenset(
        {TurnState.RUNNING, TurnState.NEEDS_REVIEW, TurnState.WITH_PERSON, TurnState.CLOSED}
    ),
    TurnState.ASKING: frozenset(
        {TurnState.RUNNING, TurnState.NEEDS_REVIEW, TurnState.WITH_PERSON, TurnState.CLOSED}
    ),
    TurnState.NEEDS_REVIEW: frozenset({TurnState.RUNNING, TurnState.CLOSED}),
    TurnState.ANSWERED: frozenset({TurnState.CLOSED}),
    TurnState.WITH_PERSON: frozenset({TurnState.CLOSED}),
    TurnState.CLOSED: frozenset({TurnState.NEEDS_REVIEW}),
}
"""``running → queued`` is the sweeper's: the worker that held the lease is gone. ``closed →
needs_review`` undoes a dismissal of which the citizen was told nothing. ``→ with_person``: somebody
has taken the conversation over."""

STAGE_TRANSITIONS: Mapping[StageStatus, frozenset[StageStatus]] = {
    StageStatus.PENDING: frozenset(
        {StageStatus.RUNNING, StageStatus.CHOSEN, StageStatus.OVERRIDDEN}
    ),
    StageStatus.RUNNING: frozenset(
        {StageStatus.PASSED, StageStatus.FALLBACK, StageStatus.NEEDS_REVIEW}
    ),
    StageStatus.NEEDS_REVIEW: frozenset(
        {
            StageStatus.APPROVED,
            StageStatus.OVERRIDDEN,
            StageStatus.CHOSEN,
            StageStatus.RUNNING,
            StageStatus.PENDING,
        }
    ),
    **dict.fromkeys(
        (StageStatus.PASSED, StageStatus.FALLBACK),
        frozenset({StageStatus.OVERRIDDEN, StageStatus.CHOSEN, StageStatus.PENDING}),
    ),
    StageStatus.APPROVED: frozenset({StageStatus.OVERRIDDEN, StageStatus.PENDING}),
    StageStatus.OVERRIDDEN: frozenset({StageStatus.OVERRIDDEN, StageStatus.PENDING}),
    StageStatus.CHOSEN: frozenset({StageStatus.OVERRIDDEN, StageStatus.PENDING}),
}
"""Back to ``pending``: somebody decided an earlier stage, on whose answer this one stood. A citizen
who chooses a service of another agency puts another answer in the place of a model's. A done
stage is ``overridden`` by a person who finds the fault there."""

PENDING_TURN_STATES: frozenset[TurnState] = frozenset(
    {TurnState.QUEUED, TurnState.RUNNING, TurnState.AWAITING_MODEL}
)
"""States in which a session's next question has to wait for this one."""

DECIDED_STAGE_STATUSES: frozenset[StageStatus] = frozenset(
    {StageStatus.APPROVED, StageStatus.OVERRIDDEN, StageStatus.CHOSEN}
)
"""Statuses that somebody's decision gave: a person's, or the citizen's own."""

DONE_STAGE_STATUSES: frozenset[StageStatus] = frozenset(
    {StageStatus.PASSED, StageStatus.FALLBACK} | DECIDED_STAGE_STATUSES
)
"""Statuses after which the pipeline goes on past the stage."""


class IllegalTransition(Exception):
    """A state change that the table does not allow."""


def require_turn(current: TurnState, new: TurnState) -> None:
    """Raise :class:`IllegalTransition` unless a turn in ``current`` may become ``new``."""
    if new not in TURN_TRANSITIONS[current]:
        raise IllegalTransition(f"a turn that is {current.value} cannot become {new.value}")


def require_stage(current: StageStatus, new: StageStatus) -> None:
    """Raise :class:`IllegalTransition` unless a stage in ``current`` may become ``new``."""
    if new not in STAGE_TRANSITIONS[current]:
        raise IllegalTransition(f"a stage that is {current.value} cannot become {new.value}")
