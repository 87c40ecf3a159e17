"""What a page shows of requests for a person and of takeovers, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from conversations.person.models import LineKind


@dataclass(frozen=True, slots=True)
class RequestView:
    """A request for a person; never with the contact. ``about`` is the number of a turn or None."""

    state: str
    way: str
    about: int | None
    wanted_from: datetime | None
    wanted_until: datetime | None


@dataclass(frozen=True, slots=True)
class LineView:
    """A line of a takeover: ``joined``, ``said`` or ``left``; ``text`` is of ``said`` alone.

    ``how`` says of ``left`` why: ``handed_back``, ``silence`` and so on. ``read``: when they
    left, a message of danger still waited, so that a person reads what follows.
    """

    id: str
    kind: str
    text: str
    at: datetime
    how: str = ""
    read: bool = False

    @property
    def told(self) -> str:
        """What a screen reader says of it."""
        if self.kind == LineKind.SAID.value:
            return _("A person wrote: {text}").format(text=self.text)
        if self.kind == LineKind.JOINED.value:
            return _("A person has joined. The assistant is silent.")
        if self.read:
            return _(
                "The person has left. A person reads what you write from here on, and answers it. "
                "The assistant answers only what is clearly about a service."
            )
        return _("The person has left. The assistant answers again.")
