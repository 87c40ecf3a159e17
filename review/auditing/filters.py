"""What an auditor looks for: read from an address, and made a search of the record."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import date, datetime, time, timedelta
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext

from conversations.models import Turn
from ieim.audit import selectors
from ieim.audit.models import AuditHead
from ieim.audit.selectors import Search
from review.queue.filters import BadAddress, session_of

LONGEST: Final = 160
"""Characters of one field; no actor is longer."""
MOST_DAYS: Final = 366
"""Days of one download; export_audit writes more."""


@dataclass(frozen=True, slots=True)
class Filters:
    """The address as it was typed; what is empty does not matter."""

    about: str = ""
    kind: str = ""
    who: str = ""
    first: str = ""
    last: str = ""

    @classmethod
    def parse(cls, params: Mapping[str, str]) -> Filters:
        """Read an address; raises :class:`BadAddress` for what nobody could have typed."""
        given = {each.name: params.get(each.name, "").strip() for each in fields(cls)}
        for name, value in given.items():
            if len(value) > LONGEST or not value.isprintable():
                raise BadAddress(gettext("This cannot be read. Type it anew."), name)
        return cls(**given)

    @property
    def query(self) -> str:
        """The address's query string."""
        return urlencode({name: value for name, value in asdict(self).items() if value})

    @property
    def only_about(self) -> bool:
        """Whether a conversation is asked for and nothing else: its timeline answers that."""
        return bool(self.about) and not (self.kind or self.who or self.first or self.last)

    def search(self) -> Search:
        """Return what is looked for; raises :class:`BadAddress`."""
        since, until = period(self.first, self.last)
        chain, naming = about(self.about) if self.about else (None, ())
        return Search(
            kind=self.kind,
            actors=_actors(self.who) if self.who else None,
            chain=chain,
            naming=naming,
            since=since,
            until=until,
        )


def about(typed: str) -> tuple[UUID, tuple[str, ...]]:
    """Return the chain that was meant, and the message or item whose events alone were.

    Raises :class:`BadAddress` where nothing is recorded of it.
    """
    if (session := session_of(typed)) is not None:
        return session.pk, ()
    with suppress(ValueError):
        pk = UUID(typed)
        turns = Turn.objects.filter(Q(pk=pk) | Q(review_items=pk))
        if (chain := turns.values_list("session_id", flat=True).first()) is not None:
            return chain, (str(pk),)
        if AuditHead.objects.filter(pk=pk).exists():
            return pk, ()
    raise BadAddress(
        gettext(
            "Nothing is recorded under this. Type a citizen’s reference, such as K7M-4QX9, or "
            "the whole id of a session, a message or an item."
        ),
        "about",
    )


def period(
    first: str, last: str, fields: tuple[str, str] = ("first", "last")
) -> tuple[datetime | None, datetime | None]:
    """Return the moment that a first day begins and that a last one is over, None for none.

    Raises :class:`BadAddress` of one of the ``fields``.
    """
    begins, ends = _day(first, fields[0]), _day(last, fields[1])
    if begins and ends and begins > ends:
        raise BadAddress(gettext("The first day is after the last day. Swap the two."), fields[0])
    return (
        _midnight(begins) if begins else None,
        _midnight(ends + timedelta(days=1)) if ends else None,
    )


def whole_period(first: str, last: str) -> tuple[datetime, datetime]:
    """Return the period of a download, which has both its days; raises :class:`BadAddress`."""
    since, until = period(first, last, ("from", "to"))
    if since is None or until is None:
        missing = "to" if since else "from"
        raise BadAddress(gettext("Enter the first and the last day of the download."), missing)
    if until - since > timedelta(days=MOST_DAYS, hours=2):
        message = gettext(
            "That is more than {number} days. Choose fewer, or use manage.py export_audit."
        )
        raise BadAddress(message.format(number=MOST_DAYS), "from")
    return since, until


def _day(typed: str, field: str) -> date | None:
    if not typed:
        return None
    try:
        found = date.fromisoformat(typed)
    except ValueError:
        found = None
    # Not every time zone has a midnight at the ends of what a date can be.
    if found is None or not 2000 <= found.year <= 9000:
        raise BadAddress(gettext("This is not a date. Write it as 2026-01-31."), field)
    return found


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def _actors(typed: str) -> list[str]:
    """Return the actors that a name is of: the person's, and of programs that acted for them."""
    if typed in ("citizen", "system"):
        return [typed]
    name = typed if typed.startswith("staff:") else f"staff:{typed}"
    found = [each for each in selectors.actors() if each == name or each.startswith(f"{name}/")]
    if not found:
        raise BadAddress(
            gettext("Nobody of this name is in the record. Type a user name, citizen or system."),
            "who",
        )
    return found
