"""Sessions in the database by digests of their keys: who reads the tables opens none of them."""

from __future__ import annotations

import hashlib
from typing import Any

from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.utils import timezone

LENGTH = 40
"""Characters of a digest, all that the columns of Django and allauth hold; a key has 32."""


def digest(key: str) -> str:
    """Return the first 160 bits of a key's SHA-256, in hex; a key is random, so none is found."""
    return hashlib.sha256(key.encode()).hexdigest()[:LENGTH]


class SessionStore(DatabaseStore):
    """Django's store; keys are digested on their way to the table."""

    key_salt = "django.contrib.sessions.SessionStore"  # its own is the name of each class

    # Of the database's own, the asynchronous ones would store keys as they are.
    aload, asave, acreate = SessionBase.aload, SessionBase.asave, SessionBase.acreate
    aexists, adelete = SessionBase.aexists, SessionBase.adelete

    def stored(self, key: str) -> str:
        """Return a key as the table has it."""
        return digest(key)

    def _get_session_from_db(self) -> Any:
        key = self.stored(self.session_key or "")
        row = self.model.objects.filter(session_key=key, expire_date__gt=timezone.now()).first()
        if row is None:
            self._session_key = None
        return row

    def exists(self, session_key: str) -> bool:
        return super().exists(self.stored(session_key))

    def create_model_instance(self, data: Any) -> Any:
        row = super().create_model_instance(data)
        row.session_key = self.stored(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key:
            super().delete(self.stored(key))


class StoredSessions(SessionStore):
    """The same sessions by what the table has, for the application's own rows of them."""

    def stored(self, key: str) -> str:
        return key
