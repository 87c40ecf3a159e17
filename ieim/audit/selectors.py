"""Reads of the record: events by kind, actor, chain and time, newest first, and how it stands.

Every list is a walk along an index from a place in it: how many events there are and how far on the
place is changes nothing. Nothing is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet

from ieim.audit.checkpoints import KIND, SEALED
from ieim.audit.models import SYSTEM_CHAIN, AuditCheckpoint, AuditEvent

VERIFIED: Final = "audit.verified"
"""The kind of the event of a verification: what was looked at, and whether it holds."""
EXPORTED: Final = "audit.exported"
"""The kind of the event of a download of events."""
OF_SEALS: Final = (KIND, SEALED)
"""The kinds of which each seal leaves one: two every five minutes, however little happens."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class UnknownPlace(ValueError):
    """A place in a list that cannot be read."""


@dataclass(frozen=True, slots=True)
class Search:
    """What events are looked for; what is empty or None does not matter.

    ``actors`` are any of these; ``naming`` is an id that the payload has, which no index knows: it
    goes with a ``chain`` or a ``kind``. From ``since`` on, and before ``until``.
    """

    kind: str = ""
    actors: Sequence[str] | None = None
    chain: UUID | None = None
    naming: Sequence[str] = ()
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list; ``previous`` and ``next`` are places for :func:`page`, empty at an end."""

    events: tuple[AuditEvent, ...]
    previous: str = ""
    next: str = ""


def search(wanted: Search) -> QuerySet[AuditEvent]:
    """Return the events that are looked for, in no order; those of seals only where their kind or
    chain is."""
    found = AuditEvent.objects.order_by()
    if wanted.kind:
        found = found.filter(kind=wanted.kind)
    elif wanted.chain is None:
        found = found.exclude(kind__in=OF_SEALS)
    if wanted.actors is not None:
        # One is an equality, along which its index is sorted by time.
        one = len(wanted.actors) == 1
        found = found.filter(Q(actor=wanted.actors[0]) if one else Q(actor__in=wanted.actors))
    if wanted.chain is not None:
        found = found.filter(chain=wanted.chain)
    if wanted.naming:
        named = Q()
        for each in wanted.naming:
            named |= Q(payload__contains=each)
        found = found.filter(named)
    if wanted.since is not None:
        found = found.filter(at__gte=wanted.since)
    if wanted.until is not None:
        found = found.filter(at__lt=wanted.until)
    return found


def page(wanted: Search, *, after: str = "", before: str = "", size: int) -> Page:
    """Return events newest first, after a place (older) or before it; raises UnknownPlace."""
    backwards = bool(before)
    found, sign = search(wanted), "" if backwards else "-"
    if at := before or after:
        moment, pk = _parse(at)
        side = "gt" if backwards else "lt"
        # The first condition lets the index begin at the place, the second leaves out its equals.
        beyond = Q(**{f"at__{side}": moment}) | Q(**{f"pk__{side}": pk})
        found = found.filter(beyond, **{f"at__{side}e": moment})
    events = list(found.order_by(f"{sign}at", f"{sign}pk")[: size + 1])
    return _page(events, size, backwards, bool(after), _place)


def chain(of: UUID, *, after: str = "", before: str = "", size: int) -> Page:
    """Return a chain's events in their order, after a number or before it; raises UnknownPlace."""
    backwards = bool(before)
    found = AuditEvent.objects.filter(chain=of)
    if at := before or after:
        if not at.isdecimal() or len(at) > 18:
            raise UnknownPlace(at)
        found = found.filter(**{"seq__lt" if backwards else "seq__gt": int(at)})
    events = list(found.order_by("-seq" if backwards else "seq")[: size + 1])
    return _page(events, size, backwards, bool(after), lambda event: str(event.seq))


def _page(
    events: list[AuditEvent],
    size: int,
    backwards: bool,
    began: bool,
    place: Callable[[AuditEvent], str],
) -> Page:
    more = len(events) > size
    events = events[:size]
    if backwards:
        events.reverse()
    has_previous, has_next = (more, True) if backwards else (began, more)
    return Page(
        tuple(events),
        place(events[0]) if events and has_previous else "",
        place(events[-1]) if events and has_next else "",
    )


def _place(event: AuditEvent) -> str:
    return f"{(event.at - _EPOCH) // timedelta(microseconds=1)}-{event.pk}"


def _parse(at: str) -> tuple[datetime, int]:
    try:
        moment, pk = at.split("-")
        if not (pk.isdecimal() and len(pk) < 19):
            raise UnknownPlace(at)
        return _EPOCH + timedelta(microseconds=int(moment)), int(pk)
    except (ValueError, OverflowError) as error:
        raise UnknownPlace(at) from error


def kinds() -> list[str]:
    """Return the kinds that there are, sorted."""
    return _each("kind")


def actors() -> list[str]:
    """Return who has done something, sorted."""
    return _each("actor")


def _each(column: str) -> list[str]:
    """Return a column's values, from one to the next along its index: DISTINCT reads every row."""
    with connection.cursor() as cursor:
        cursor.execute(_EACH.format(column=column))
        return [value for (value,) in cursor.fetchall()]


_EACH = """
    WITH RECURSIVE found (value) AS (
        SELECT min({column}) FROM audit_auditevent
        UNION ALL
        SELECT (SELECT min({column}) FROM audit_auditevent WHERE {column} > found.value)
        FROM found WHERE found.value IS NOT NULL
    )
    SELECT value FROM found WHERE value IS NOT NULL
"""


def last_verification() -> AuditEvent | None:
    """Return the event of the verification that was recorded last."""
    # Not by time, which whoever adds an event sets as they like.
    return AuditEvent.objects.filter(chain=SYSTEM_CHAIN, kind=VERIFIED).order_by("-seq").first()


def last_checkpoint() -> AuditCheckpoint | None:
    """Return the newest checkpoint: one is taken for each seal."""
    return AuditCheckpoint.objects.first()
