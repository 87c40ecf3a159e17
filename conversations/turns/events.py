"""Audit events of turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conversations.models import Turn
from ieim.audit import services as audit
from ieim.audit.canonical import Row


def record(
    turn: Turn,
    kind: str,
    payload: Mapping[str, Any],
    *,
    actor: str = "system",
    rows: Sequence[Row] = (),
) -> None:
    """Audit an event of a turn in its session's chain; the payload names the turn as well.

    Who has the turn writes most of its events: each begins where the one before ended.
    """
    named = {"turn": str(turn.pk), **payload}
    if turn.audit_head is None:
        turn.audit_head = audit.lock_head(turn.session_id)
    audit.record(
        chain=turn.session_id,
        kind=kind,
        actor=actor,
        payload=named,
        rows=rows,
        head=turn.audit_head,
    )
