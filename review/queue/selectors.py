"""Reads: the queue page by page, within what somebody may see.

Lists are walks along indexes: no page is slower than the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import islice
from uuid import UUID

from django.db import models
from django.db.models import (
    Exists,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    prefetch_related_objects,
)
from django.utils.translation import gettext

from conversations.models import Session, Turn
from conversations.ports import Due
from conversations.turns.locking import is_erased
from ieim.people.models import User
from ieim.pipeline.topology import AWAITED
from review.deciding.signing import PROPOSALS
from review.models import REFUSED, SIGN, Decision, Priority, ReviewItem, SetMember
from review.queue.filters import NO_AGENCY, ItemFilter, is_away, session_of
from review.scope import visible
from review.states import UNDECIDED, ReviewState

Key = tuple[int, datetime, UUID]
"""The position of an item in a list: its rank (0 in a list without), its moment, and its id."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class UnknownPage(ValueError):
    """An address of a page that cannot be read."""

    def __str__(self) -> str:
        return gettext("There is no such page of the list.")


@dataclass(frozen=True, slots=True)
class Listing:
    """A list: its branches, each of which one index leads through in order.

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

    def is_beyond(self, key: Key, end: Key) -> bool:
        """Whether a key stands after another in the list."""
        return key < end if self.done else key > end


def encode(key: Key) -> str:
    """Return a position in a list as addresses have it; a rank of 0 is left out."""
    rank, moment, pk = key
    return f"{f'{rank}-' if rank else ''}{(moment - _EPOCH) // timedelta(microseconds=1)}-{pk.hex}"


def decode(position: str) -> Key:
    """Read a position; raises :class:`UnknownPage`."""
    try:
        *rank, moment, pk = position.split("-", 2)
        return int(*rank), _EPOCH + timedelta(microseconds=int(moment)), UUID(pk)
    except (ValueError, OverflowError) as error:
        raise UnknownPage from error


def keys(listed: Listing, position: str = "", *, backwards: bool = False, size: int) -> list[Key]:
    """Return up to ``size`` keys after a position, or before it with ``backwards``.

    Raises :class:`UnknownPage`.
    """
    descending = listed.done != backwards
    sign = "-" if descending else ""
    columns = [listed.column, "pk"] if listed.done else ["rank", listed.column, "pk"]
    conditions = list(_beyond(listed, decode(position), descending)) if position else [Q()]
    walks: list[list[Key]] = [
        [
            (0 if listed.done else rank, moment, pk)
            for rank, moment, pk in branch.filter(condition)
            .order_by(*(f"{sign}{column}" for column in columns))
            .values_list("rank", listed.column, "pk")[:size]
        ]
        for branch in listed.branches
        for condition in conditions
    ]
    return list(islice(merge(*walks, reverse=descending), size))


def _beyond(listed: Listing, key: Key, descending: bool) -> Iterator[Q]:
    """Yield the conditions for keys after a key, each of which an index can start from."""
    rank, moment, pk = key
    side, column = "lt" if descending else "gt", listed.column
    # The first condition lets the index begin at the key, the second leaves out its equals.
    same = Q(**{f"{column}__{side}e": moment}) & (
        Q(**{f"{column}__{side}": moment}) | Q(**{f"pk__{side}": pk})
    )
    if listed.done:
        yield same
    else:
        yield Q(rank=rank) & same
        yield Q(**{f"rank__{side}": rank})


PAGE_SIZE = 25
SENT_WITHIN = timedelta(minutes=2)
"""So long after its delay a decision has taken effect, where the workers run."""
COUNTED = 100
"""So many items in crisis are counted."""


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list; ``previous`` and ``next`` are what :func:`page` takes, empty at an end."""

    items: tuple[ReviewItem, ...]
    previous: str
    next: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """The state of the conversation that a reference names, without a word of the citizen's.

    ``elsewhere`` says that it has items, and none that the user may see: then, and where it was
    ``erased``, the rest is empty. ``state`` is that of its last message.
    """

    reference: str
    started_at: datetime
    messages: int
    state: str
    elsewhere: bool
    erased: bool


@dataclass(frozen=True, slots=True)
class Count:
    """The number of items of a list, and the keys of those in crisis, :data:`COUNTED` at most."""

    items: int
    crises: tuple[Key, ...]


def listing(
    user: User,
    filters: ItemFilter,
    now: datetime,
    *,
    within: QuerySet[ReviewItem] | None = None,
) -> Listing:
    """Return the list that an address names, ``within`` what the user may see: for several lists
    that is asked for once.

    A conversation's reference leads to all of its items, whatever list and filters are on.
    """
    values, within = filters.values, visible(user) if within is None else within
    if (session := session_of(values.get("q", ""))) is not None:
        return Listing((within.filter(turn__session=session),), session=session)
    items = filters.filter_queryset(within)
    if values["tab"] in ("open", "triage") and not values.get("snoozed"):
        items = items.filter(~is_away(now))
    match values["tab"]:
        case "mine":
            user_claims = items.filter(claimed_by=user.pk, claimed_until__gt=now)
            return Listing((user_claims.filter(state=ReviewState.CLAIMED),))
        case "second":
            waiting = items.filter(state=ReviewState.SECOND_OPINION)
            # On its way within seconds; it is here only where it should have gone out by now.
            late = now - SENT_WITHIN
            sending = items.filter(state=ReviewState.SENDING, takes_effect_at__lte=late)
            return Listing((waiting, sending, _claimed(items, second=True)))
        case "done":
            # Named although every decided one has it: the index begins with those that have none.
            dated = items.filter(decided_at__isnull=False)
            return Listing((dated.filter(state=ReviewState.DECIDED),), done=True)
        case "triage":
            unanswered = items.filter(OF_TRIAGE)
            states = (ReviewState.OPEN, ReviewState.CLAIMED)
            return Listing(tuple(unanswered.filter(state=state) for state in states))
        case _:
            items = items.exclude(OF_TRIAGE)
            claimed = _claimed(items, second=False)
            if not values.get("held"):
                claimed = claimed.filter(_not_of_others(user, now))
            return Listing((items.filter(state=ReviewState.OPEN), claimed))


def page(listed: Listing, *, after: str = "", before: str = "", size: int = PAGE_SIZE) -> Page:
    """Return the items after (or before) a position in a list; raises :class:`UnknownPage`."""
    backwards = bool(before)
    page_keys = keys(listed, before or after, backwards=backwards, size=size + 1)
    has_more = len(page_keys) > size
    page_keys = page_keys[:size]
    if backwards:
        page_keys.reverse()
    records = Decision.objects.filter(item=OuterRef("pk")).order_by("-created_at", "-id")
    items = ReviewItem.objects.select_related("turn__session", "claimed_by", "agencies")
    items = items.annotate(last_action=Subquery(records.values("action")[:1]))
    by_id = items.prefetch_related("flags", "batch_entries").in_bulk([pk for *_, pk in page_keys])
    has_previous, has_next = (has_more, True) if backwards else (bool(after), has_more)
    return Page(
        # An item may be erased between the two queries.
        _with_decisions(by_id[pk] for *_, pk in page_keys if pk in by_id),
        encode(page_keys[0]) if page_keys and has_previous else "",
        encode(page_keys[-1]) if page_keys and has_next else "",
    )


def keys_between(listed: Listing, *, after: str, until: str) -> list[UUID]:
    """Return the ids of the items after one position and not after another, in order.

    At most twice a page: beyond that a page has to be loaded again anyway.
    """
    page_keys = keys(listed, after, size=2 * PAGE_SIZE)
    end = decode(until) if until else None
    return [key[2] for key in page_keys if end is None or not listed.is_beyond(key, end)]


def counts(user: User, now: datetime, *tabs: str) -> dict[str, Count]:
    """Return how much there is in lists of work, in all of them where none is named."""
    within = visible(user)
    return {
        tab: _count(listing(user, ItemFilter({"tab": tab}), now, within=within).branches)
        for tab in tabs or ("open", "mine", "second", "triage")
    }


def totals(lists: Sequence[Listing]) -> list[int]:
    """Return how many items each list has, in one query for all."""
    numbers = [
        branch.order_by().values(of=models.Value(n)).annotate(total=models.Count("pk"))
        for n, listed in enumerate(lists)
        for branch in listed.branches
    ]
    total: Counter[int] = Counter()
    if numbers:
        for row in numbers[0].union(*numbers[1:], all=True):
            total[row["of"]] += row["total"]
    return [total[n] for n in range(len(lists))]


def conversation(user: User, session: Session) -> Conversation:
    """Return the state of a conversation, for somebody who has its reference."""
    items = ReviewItem.objects.filter(turn__session=session)
    elsewhere = items.exists() and not visible(user).filter(turn__session=session).exists()
    hidden = elsewhere or is_erased(session)
    turns = session.turns.none() if hidden else session.turns.order_by("number")
    states = list(turns.values_list("state", flat=True))
    return Conversation(
        reference=session.reference,
        started_at=session.created_at,
        messages=len(states),
        state=states[-1] if states else "",
        elsewhere=elsewhere,
        erased=is_erased(session),
    )


def dangers_of(turns: QuerySet[Turn]) -> int:
    """Return how many of some turns have an undecided item that is in crisis."""
    undecided = ReviewItem.objects.filter(state__in=[state.value for state in UNDECIDED])
    return undecided.filter(turn__in=turns, rank__lte=SIGN).values("turn").distinct().count()


def _count(branches: Collection[QuerySet[ReviewItem]]) -> Count:
    columns = ("rank", "due_at", "pk")
    # In order: those in crisis come first. The first row says how many there are in all.
    total = models.Window(models.Count("pk"))
    walks = [
        list(
            branch.annotate(total=total).order_by(*columns).values_list(*columns, "total")[:COUNTED]
        )
        for branch in branches
    ]
    crises = sorted(row[:3] for walk in walks for row in walk if row[0] <= SIGN)
    return Count(sum(walk[0][3] for walk in walks if walk), tuple(crises[:COUNTED]))


OF_TRIAGE = Q(priority=Priority.LOW, rank__gt=REFUSED)
"""What only triage failed at, and shows no danger: nobody waits for it."""
FACETS = ("stage", "reason", "urgency", "language")


def facets(listed: Listing) -> dict[str, Counter[str]]:
    """Return how many items of a list have which value, by the name of the filter."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in (*FACETS, "agency", "flag")}
    sets: Counter[int | None] = Counter()
    for branch in listed.branches:
        unordered = branch.order_by()
        for row in unordered.values(*FACETS, "agencies").annotate(total=models.Count("pk")):
            sets[row["agencies"]] += row["total"]
            for name in FACETS:
                counts[name][row[name]] += row["total"]
        flags = unordered.filter(flags__code__isnull=False).values_list("flags__code")
        for code, total in flags.annotate(total=models.Count("pk")):
            counts["flag"][code] += total
    if without := sets.pop(None, 0):
        counts["agency"][NO_AGENCY] = without
    for member in SetMember.objects.filter(set__in=list(sets)):
        counts["agency"][member.agency] += sets[member.set_id]
    return counts


def rows(ids: Iterable[UUID], user: User) -> tuple[ReviewItem, ...]:
    """Return items as a queue's rows need them, those that the user may see, in no order."""
    items = visible(user).filter(pk__in=list(ids))
    return _with_decisions(items.select_related("claimed_by", "turn__session"))


def _with_decisions(items: Iterable[ReviewItem]) -> tuple[ReviewItem, ...]:
    """Return items, those that are decided, or wait for a second person, with their records: one
    query, none where none is."""
    result = tuple(items)
    records = Prefetch("decisions", Decision.objects.select_related("actor"))
    waiting = ReviewState.SECOND_OPINION.value
    decided = [item for item in result if item.decided_at or item.state == waiting]
    prefetch_related_objects(decided, records)
    return result


def _not_of_others(user: User, now: datetime) -> Q:
    """Return the condition on claimed items that a user can go on with."""
    ran_out = Q(claimed_until=None) | Q(claimed_until__lte=now)
    return Q(claimed_by=None) | Q(claimed_by=user.pk) | ran_out


def _claimed(items: QuerySet[ReviewItem], *, second: bool) -> QuerySet[ReviewItem]:
    """Return the claimed items whose decision waits for others, or those where none does."""
    answered = Exists(Decision.objects.filter(about=OuterRef("pk")))
    proposals = Decision.objects.filter(item=OuterRef("pk"), action__in=sorted(PROPOSALS))
    last = proposals.order_by("-created_at", "-id").annotate(answered=answered)
    claimed = items.filter(state=ReviewState.CLAIMED)
    claimed = claimed.alias(answered=Subquery(last.values("answered")[:1]))
    if second:
        return claimed.filter(answered=False)
    return claimed.filter(Q(answered__isnull=True) | Q(answered=True))


def due_of_turns(*, turn_ids: Collection[UUID], at: datetime | None = None) -> dict[UUID, Due]:
    """Return by when the items that hold back an answer should be decided, and why, by turn.

    ``at`` asks for those that were undecided at that time: what is decided stays so.
    """
    waiting = ReviewItem.objects.filter(turn__in=turn_ids, stage__in=AWAITED)
    if at is None:
        waiting = waiting.filter(state__in=[state.value for state in UNDECIDED])
    else:
        later = Q(decided_at=None) | Q(decided_at__gt=at)
        waiting = waiting.filter(later, opened_at__lte=at)
    rows = waiting.order_by("due_at").values_list("turn_id", "due_at", "reasons")
    return {turn: Due(when, tuple(reasons)) for turn, when, reasons in rows}
