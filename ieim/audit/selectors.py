"""Reads of the record: events by kind, actor, chain and time, newest first.

Every list is a walk along an index from a cursor, the place of its last event: how many events
there are changes nothing. Nothing is counted.
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
"""The kind of the event of a verification, with its outcome."""
EXPORTED: Final = "audit.exported"
"""The kind of the event of a download of events."""
SEAL_KINDS: Final = (KIND, SEALED)
"""The kinds of the two events of each seal, which come every five minutes."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class InvalidCursor(ValueError):
    """A place in a list that cannot be read."""


@dataclass(frozen=True, slots=True)
class Search:
    """The criteria of a search; empty ones and None do not count.

    ``actors`` are alternatives, and so are the ids of ``naming``, one of which the payload has to
    contain: no index knows it, so it goes with a ``chain`` or a ``kind``. ``since`` is included,
    ``until`` is not.
    """

    kind: str = ""
    actors: Sequence[str] | None = None
    chain: UUID | None = None
    naming: Sequence[str] = ()
    since: datetime | None = None
    until: datetime | None = None

    def events(self) -> QuerySet[AuditEvent]:
        """Return the matching events; those of seals only where their kind or chain is named."""
        events = AuditEvent.objects.order_by()
        if self.kind:
            events = events.filter(kind=self.kind)
        elif self.chain is None:
            events = events.exclude(kind__in=SEAL_KINDS)
        if self.actors is not None:
            # A single one is an equality, along which its index is sorted by time.
            is_one = len(self.actors) == 1
            events = events.filter(
                **{"actor": self.actors[0]} if is_one else {"actor__in": self.actors}
            )
        if self.chain is not None:
            events = events.filter(chain=self.chain)
        if self.naming:
            events = events.filter(
                Q(*(("payload__contains", id_) for id_ in self.naming), _connector=Q.OR)
            )
        if self.since is not None:
            events = events.filter(at__gte=self.since)
        if self.until is not None:
            events = events.filter(at__lt=self.until)
        return events


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list; ``previous`` and ``next`` are cursors, empty at an end."""

    events: tuple[AuditEvent, ...]
    previous: str = ""
    next: str = ""


def search_page(search: Search, *, after: str = "", before: str = "", size: int) -> Page:
    """Return matching events, newest first, after a cursor (older) or before it.

    Raises:
        InvalidCursor: a cursor cannot be read.
    """
    events = search.events()
    if cursor := before or after:
        cursor_time, pk = _parse(cursor)
        side = "gt" if before else "lt"
        # The first condition lets the index begin at the cursor, the second leaves out its equals.
        beyond = Q(**{f"at__{side}": cursor_time}) | Q(**{f"pk__{side}": pk})
        events = events.filter(beyond, **{f"at__{side}e": cursor_time})
    return _page(events.order_by("-at", "-pk"), after, before, size, _cursor)


def chain_page(chain: UUID, *, after: str = "", before: str = "", size: int) -> Page:
    """Return a chain's events in their order, after a number or before it.

    Raises:
        InvalidCursor: the number cannot be read.
    """
    events = AuditEvent.objects.filter(chain=chain)
    if cursor := before or after:
        if not cursor.isdecimal() or len(cursor) > 18:
            raise InvalidCursor(cursor)
        events = events.filter(**{"seq__lt" if before else "seq__gt": int(cursor)})
    return _page(events.order_by("seq"), after, before, size, lambda event: str(event.seq))


def _page(
    events: QuerySet[AuditEvent],
    after: str,
    before: str,
    size: int,
    cursor: Callable[[AuditEvent], str],
) -> Page:
    rows = list((events.reverse() if before else events)[: size + 1])
    has_more = len(rows) > size
    rows = rows[:size]
    if before:
        rows.reverse()
    has_previous, has_next = (has_more, True) if before else (bool(after), has_more)
    return Page(
        tuple(rows),
        cursor(rows[0]) if rows and has_previous else "",
        cursor(rows[-1]) if rows and has_next else "",
    )


def _cursor(event: AuditEvent) -> str:
    return f"{(event.at - _EPOCH) // timedelta(microseconds=1)}-{event.pk}"


def _parse(cursor: str) -> tuple[datetime, int]:
    try:
        microseconds, pk = cursor.split("-")
        if pk.isdecimal() and len(pk) < 19:
            return _EPOCH + timedelta(microseconds=int(microseconds)), int(pk)
    except (ValueError, OverflowError) as error:
        raise InvalidCursor(cursor) from error
    raise InvalidCursor(cursor)


def kinds() -> list[str]:
    """Return the kinds of all events, sorted."""
    return _distinct("kind")


def actors() -> list[str]:
    """Return the actors of all events, sorted."""
    return _distinct("actor")


def _distinct(column: str) -> list[str]:
    """Return a column's values, from one to the next along its index: DISTINCT reads every row."""
    with connection.cursor() as cursor:
        cursor.execute(_DISTINCT.format(column=column))
        return [value for (value,) in cursor.fetchall()]


_DISTINCT = """
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
