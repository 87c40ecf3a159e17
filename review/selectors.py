"""Reads: who sees what, and the queue page by page."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import islice
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AbstractUser, AnonymousUser
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet, Subquery

from conversations.models import Stage
from conversations.services import REPLY
from ieim.knowledge.scope import agencies_of
from ieim.pipeline.topology import ANSWERING
from review import searching
from review.known import AGENCY_STAGE
from review.models import Decision, ReviewItem
from review.searching import Filters
from review.second import PROPOSALS
from review.states import UNDECIDED, ReviewState

User = AbstractBaseUser | AnonymousUser
Key = tuple[datetime, UUID]
"""Where an item stands in a list: the moment that sorts it, and its id."""

PAGE_SIZE = 25
COUNTED = 100
"""Nobody needs to know how many there are beyond this."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class UnknownPage(ValueError):
    """An address of a page that cannot be read."""


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list; ``previous`` and ``next`` are what :func:`page` takes, empty at an end."""

    items: tuple[ReviewItem, ...]
    previous: str
    next: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A list: its branches (each a walk along an index) and what sorts them."""

    branches: tuple[QuerySet[ReviewItem], ...]
    column: str = "due_at"
    newest_first: bool = False


def visible(user: User) -> QuerySet[ReviewItem]:
    """Return the items that a user may see: of their agencies, and of none yet."""
    agencies = agencies_of(user)
    items = ReviewItem.objects.all()
    return items if agencies is None else items.filter(agency__in=["", *sorted(agencies)])


def is_held(item: ReviewItem, now: datetime) -> bool:
    """Whether somebody has a claim on the item that has not run out."""
    claimed = item.state == ReviewState.CLAIMED.value and item.claimed_by_id is not None
    return claimed and item.claimed_until is not None and item.claimed_until > now


def name_of(user: AbstractUser | None) -> str:
    """Return a colleague's name for a sentence."""
    return (user.get_full_name() or user.get_username()) if user else "Somebody"


def listing(user: User, filters: Filters, now: datetime) -> Listing:
    """Return the list that an address names, within what the user may see."""
    items = visible(user).filter(searching.condition(filters, now))
    items = searching.found(items, filters.q)
    match filters.tab:
        case "mine":
            mine = items.filter(claimed_by=user.pk, claimed_until__gt=now)
            return Listing((_in_state(mine, ReviewState.CLAIMED),))
        case "second":
            return Listing(
                (_in_state(items, ReviewState.SECOND_OPINION), _claimed(items, second=True))
            )
        case "done":
            return Listing((_in_state(items, ReviewState.DECIDED),), "decided_at", True)
        case _:
            return Listing((_in_state(items, ReviewState.OPEN), _claimed(items, second=False)))


def page(listed: Listing, *, after: str = "", before: str = "", size: int = PAGE_SIZE) -> Page:
    """Return the items after (or before) a place in a list; raises :class:`UnknownPage`.

    Whatever the page, an index leads to its first item: no page is slower than the first.
    """
    backwards = bool(before)
    keys = _keys(listed, before or after, backwards=backwards, size=size + 1)
    more = len(keys) > size
    keys = keys[:size]
    if backwards:
        keys.reverse()
    found = _rows([pk for _, pk in keys])
    # An item may be erased between the two queries.
    items = tuple(found[pk] for _, pk in keys if pk in found)
    has_previous, has_next = (more, True) if backwards else (bool(after), more)
    return Page(
        items,
        place(keys[0]) if keys and has_previous else "",
        place(keys[-1]) if keys and has_next else "",
    )


def keys_between(listed: Listing, *, after: str, until: str, size: int = PAGE_SIZE) -> list[UUID]:
    """Return the ids of the items that stand after one place and not after another, in order.

    At most twice a page: beyond that a page has to be loaded again anyway.
    """
    keys = _keys(listed, after, backwards=False, size=2 * size)
    if not until:
        return [pk for _, pk in keys]
    end = _parse(until)
    return [key[1] for key in keys if not _beyond(key, end, listed.newest_first)]


def counts(user: User, now: datetime) -> dict[str, int]:
    """Return how many items each of the lists of work has, counted up to :data:`COUNTED`."""
    counted = {}
    for tab in ("open", "mine", "second"):
        branches = listing(user, Filters(tab=tab), now).branches
        each = (branch.order_by()[:COUNTED].count() for branch in branches)
        counted[tab] = min(COUNTED, sum(each))
    return counted


def place(key: Key) -> str:
    """Return a place in a list as it stands in an address."""
    return f"{(key[0] - _EPOCH) // timedelta(microseconds=1)}-{key[1].hex}"


def place_of(item: ReviewItem, listed: Listing) -> str:
    """Return where an item stands in a list."""
    return place((getattr(item, listed.column), item.pk))


def rows(ids: Iterable[UUID], user: User) -> list[ReviewItem]:
    """Return items as a queue's rows need them, those that the user may see, in no order."""
    wanted = visible(user).filter(pk__in=list(ids))
    return list(wanted.select_related("claimed_by", "turn"))


def _in_state(items: QuerySet[ReviewItem], state: ReviewState) -> QuerySet[ReviewItem]:
    return items.filter(state=state.value)


def _claimed(items: QuerySet[ReviewItem], *, second: bool) -> QuerySet[ReviewItem]:
    """Return the claimed items whose decision waits for others, or those where none does."""
    answered = Exists(Decision.objects.filter(about=OuterRef("pk")))
    proposals = Decision.objects.filter(item=OuterRef("pk"), action__in=sorted(PROPOSALS))
    last = proposals.order_by("-created_at", "-id").annotate(answered=answered)
    claimed = _in_state(items, ReviewState.CLAIMED).alias(
        answered=Subquery(last.values("answered")[:1])
    )
    if second:
        return claimed.filter(answered=False)
    return claimed.filter(Q(answered__isnull=True) | Q(answered=True))


def _keys(listed: Listing, at: str, *, backwards: bool, size: int) -> list[Key]:
    """Return up to ``size`` keys from a place on, in the direction asked for."""
    column, falling = listed.column, listed.newest_first != backwards
    sign, side = ("-", "lt") if falling else ("", "gt")
    beyond = Q()
    if at:
        moment, pk = _parse(at)
        # The first condition lets the index begin at the place, the second leaves out its equals.
        beyond = Q(**{f"{column}__{side}e": moment}) & (
            Q(**{f"{column}__{side}": moment}) | Q(**{f"pk__{side}": pk})
        )
    walks: list[list[Key]] = [
        list(
            branch.filter(beyond)
            .order_by(f"{sign}{column}", f"{sign}pk")
            .values_list(column, "pk")[:size]
        )
        for branch in listed.branches
    ]
    return list(islice(merge(*walks, reverse=falling), size))


def _beyond(key: Key, end: Key, falling: bool) -> bool:
    return key < end if falling else key > end


def _parse(at: str) -> Key:
    moment, _, pk = at.partition("-")
    try:
        return _EPOCH + timedelta(microseconds=int(moment)), UUID(pk)
    except (ValueError, OverflowError) as error:
        raise UnknownPage(at) from error


def _rows(ids: list[UUID]) -> dict[UUID, ReviewItem]:
    found = Stage.objects.filter(contract=AGENCY_STAGE).only("turn_id", "contract", "state_merge")
    items = (
        ReviewItem.objects.filter(pk__in=ids)
        .select_related("turn__session", "claimed_by")
        .prefetch_related("flags", Prefetch("turn__stages", queryset=found))
    )
    return {item.pk: item for item in items}


def due_of_turns(*, turn_ids: Collection[UUID]) -> dict[UUID, datetime]:
    """Return by when the items that hold back an answer should be decided, by turn."""
    waiting = ReviewItem.objects.filter(
        turn__in=turn_ids, stage__in=[*ANSWERING, REPLY], state__in=[s.value for s in UNDECIDED]
    )
    return dict(waiting.order_by("due_at").values_list("turn_id", "due_at"))
