"""How many sessions one address may make by REST. Messages are counted where they are taken."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from conversations.turns import limits
from ieim.people import addresses


class NewSessions(BaseThrottle):
    """Asks :mod:`conversations.turns.limits`."""

    seconds: int | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        """Count one more; whether it is allowed."""
        self.seconds = limits.take("sessions", addresses.of_request(request))
        return self.seconds is None

    def wait(self) -> float | None:
        """Return the seconds to wait."""
        return self.seconds
