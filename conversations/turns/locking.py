"""How sessions are locked, everywhere alike, and what is raised of what is not in one."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from conversations.models import ERASED_MARK, Session


class NotInSession(Exception):
    """A turn is not the session's, or there is nothing of the kind at it; nothing was changed.

    ``detail`` says so to programs, with a 404.
    """

    detail: str


def locked(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """Return ``sessions`` locked until the transaction ends.

    Their keys stay free: PostgreSQL shares a session's at the commit of whoever wrote one of its
    turns twice, and a run that holds its turn must not wait for who locks the session first and
    the turns next.
    """
    return sessions.select_for_update(no_key=True)


def is_erased(session: Session) -> bool:
    """Whether nothing is left of a session but its place."""
    return session.secret_sha256.startswith(ERASED_MARK)


def locked_session(session_id: UUID) -> Session:
    """Return a session, locked as by :func:`locked`: erasing holds the same row, so that nothing is
    written after it. Raises ``Session.DoesNotExist``, also for one that was erased."""
    session = locked(Session.objects.all()).get(pk=session_id)
    if is_erased(session):
        raise Session.DoesNotExist(str(session_id))
    return session
