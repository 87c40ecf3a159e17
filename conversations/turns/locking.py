"""How sessions are locked: everywhere alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from conversations.models import Session


def locked(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """Return ``sessions`` locked until the transaction ends.

    Their keys stay free: PostgreSQL shares a session's at the commit of whoever wrote one of its
    turns twice, and a run that holds its turn must not wait for who locks the session first and
    the turns next.
    """
    return sessions.select_for_update(no_key=True)
