"""Lists as walks along indexes: where an item stands in one, and what stands after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import islice
from uuid import UUID

from django.db.models import Q, QuerySet

from conversations.models import Session
from review.models import ReviewItem

Key = tuple[int, datetime, UUID]
"""Where an item stands in a list: its rank (0 in a list without), its moment, and its id."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class UnknownPage(ValueError):
    """An address of a page that cannot be read."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A list: its branches (each a walk along an index) and what sorts them.

    What is most urgent comes first, then what is due first; with ``done`` what was decided last.
    ``session`` is the conversation whose reference was searched for: then the list has its items in
    whatever state.
    """

    branches: tuple[QuerySet[ReviewItem], ...]
    done: bool = False
    session: Session | None = None

    @property
    def column(self) -> str:
        """The moment that sorts it."""
        return "decided_at" if self.done else "due_at"

    def beyond(self, key: Key, end: Key) -> bool:
        """Whether a key stands after another in the list."""
        return key < end if self.done else key > end


def place(key: Key) -> str:
    """Return a place in a list as it stands in an address; a rank of 0 is left out."""
    rank, moment, pk = key
    return f"{f'{rank}-' if rank else ''}{(moment - _EPOCH) // timedelta(microseconds=1)}-{pk.hex}"


def keys(listed: Listing, at: str = "", *, backwards: bool = False, size: int) -> list[Key]:
    """Return up to ``size`` keys from a place on, in the direction asked for.

    Raises :class:`UnknownPage`. However far on the place is, an index leads to it.
    """
    falling = listed.done != backwards
    sign = "-" if falling else ""
    rank = [] if listed.done else [f"{sign}rank"]
    order = [*rank, f"{sign}{listed.column}", f"{sign}pk"]
    parts = list(_beyond(listed, parse(at), falling)) if at else [Q()]
    walks: list[list[Key]] = [
        [
            (0 if listed.done else found, moment, pk)
            for found, moment, pk in branch.filter(part)
            .order_by(*order)
            .values_list("rank", listed.column, "pk")[:size]
        ]
        for branch in listed.branches
        for part in parts
    ]
    return list(islice(merge(*walks, reverse=falling), size))


def _beyond(listed: Listing, at: Key, falling: bool) -> Iterator[Q]:
    """Yield what stands after a place, in parts that an index has the beginning of each of."""
    rank, moment, pk = at
    side, column = "lt" if falling else "gt", listed.column
    # The first condition lets the index begin at the place, the second leaves out its equals.
    same = Q(**{f"{column}__{side}e": moment}) & (
        Q(**{f"{column}__{side}": moment}) | Q(**{f"pk__{side}": pk})
    )
    if listed.done:
        yield same
    else:
        yield Q(rank=rank) & same
        yield Q(**{f"rank__{side}": rank})


def parse(at: str) -> Key:
    """Read a place; raises :class:`UnknownPage`."""
    try:
        *rank, moment, pk = at.split("-", 2)
        return int(*rank), _EPOCH + timedelta(microseconds=int(moment)), UUID(pk)
    except (ValueError, OverflowError) as error:
        raise UnknownPage(at) from error
