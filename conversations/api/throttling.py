"""How often a client may ask: sessions by address, messages by session."""

from __future__ import annotations

import logging
from typing import Any, cast

from django.conf import settings
from rest_framework.throttling import SimpleRateThrottle

from conversations.models import Session

logger = logging.getLogger(__name__)


class _Rate(SimpleRateThrottle):
    """A rate of the settings, read when it is needed; None is no limit."""

    def get_rate(self) -> str | None:
        """Return the rate, such as ``60/hour``."""
        rates = cast("dict[str, str | None]", settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"])
        return rates[str(self.scope)]

    def allow_request(self, request: Any, view: Any) -> bool:
        """Whether one more is allowed now. A cache that cannot be reached allows it, and is logged:
        the limit guards against too much, and an outage of the cache must not be an outage."""
        if request.method not in ("POST", None):
            return True
        try:
            return super().allow_request(request, view)
        except Exception:
            logger.exception("The cache cannot be reached: nothing is limited")
            return True


class NewSessions(_Rate):
    """How many sessions one address may make."""

    scope = "sessions"

    def get_cache_key(self, request: Any, view: Any) -> str:
        """Return the key of the address."""
        return f"ieim.rate.sessions.{self.get_ident(request)}"


class Messages(_Rate):
    """How many messages one session may send, by REST and by socket together."""

    scope = "turns"

    def get_cache_key(self, request: Any, view: Any) -> str | None:
        """Return the key of the session; None (no limit) for a request that will be refused."""
        session = request.auth
        return f"ieim.rate.turns.{session.pk.hex}" if isinstance(session, Session) else None


class _Message:
    """What :class:`Messages` looks at of a request, for a message that came by socket."""

    method = None

    def __init__(self, session: Session) -> None:
        self.auth = session


def wait_for_message(session: Session) -> float | None:
    """Count a message of ``session``; returns None, or the seconds to wait when it is too much."""
    rate = Messages()
    if rate.allow_request(_Message(session), None):
        return None
    return rate.wait() or 1.0
