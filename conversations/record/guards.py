"""Triggers by which the database refuses changes and deletions of conversations.

:data:`GUARDS` is the whole table: a column that it does not name never changes. Rows are deleted,
and a turn's words are emptied, only once the session's last audit event is its erasure, which
itself stays.

SQLite alters a table by building a new one, and the triggers go with the old: a later migration
that alters one of these tables ends with :func:`guard` again, on PostgreSQL too, so that new
columns are guarded. ``tests/conversations/record/test_guards.py`` notices where that was forgotten.
"""

from __future__ import annotations

from django.db.migrations.operations import RunPython

from ieim.audit.services import ERASED
from ieim.audit.triggers import Guard, ended_by, guarded

_PENDING = "('queued', 'running', 'awaiting_model')"
_OF_TURN = "SELECT session_id FROM conversations_turn WHERE id = OLD.turn_id"
_OF_STAGE = (
    "SELECT t.session_id FROM conversations_turn t "
    "JOIN conversations_stage s ON s.turn_id = t.id WHERE s.id = OLD.stage_id"
)
_OF_REPLY = (
    "SELECT t.session_id FROM conversations_turn t "
    "JOIN conversations_reply r ON r.turn_id = t.id WHERE r.id = OLD.reply_id"
)

GUARDS = {
    guard.table: guard
    for guard in (
        Guard(
            "conversations_turn",
            keys=[["id"], ["session_id", "number"]],
            taken_if=(
                f"NOT NEW.resumed AND NEW.state IN {_PENDING} "
                f"AND session_id = NEW.session_id AND NOT resumed AND state IN {_PENDING}"
            ),
            may_change=(
                # Its state and the worker at it; risk flags, to which triage adds.
                *("state", "updated_at", "queued_at", "lease", "leased_until", "retry_at"),
                *("unavailable_since", "runs", "resumed", "hold_waived", "risks"),
                *("said_safe_at", "situation", "release_number", "first_release", "renewed_at"),
            ),
            erased_if=ended_by(ERASED, "OLD.session_id"),
            blank={"text": "''", "language": "''"},
        ),
        Guard(
            "conversations_attempt",
            keys=[["stage_id", "round", "number"]],
            erased_if=ended_by(ERASED, _OF_STAGE),
        ),
        Guard(
            "conversations_evidencespan",
            may_change=("stands",),
            update_if="OLD.stands AND NOT NEW.stands",
            erased_if=ended_by(ERASED, _OF_STAGE),
        ),
        Guard(
            "conversations_reply",
            keys=[["turn_id"]],
            erased_if=ended_by(ERASED, _OF_TURN),
        ),
        Guard(
            "conversations_citation",
            keys=[["reply_id", "agency", "service"]],
            erased_if=ended_by(ERASED, _OF_REPLY),
        ),
        Guard(
            "conversations_correction",
            keys=[["turn_id", "text_sha256"]],
            erased_if=ended_by(ERASED, "OLD.session_id"),
        ),
        Guard("conversations_artifact", keys=[["sha256"]]),
    )
}


def guard(table: str) -> RunPython:
    """Return the migration operation that guards a table; it can be repeated."""
    return guarded(GUARDS[table])
