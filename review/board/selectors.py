"""Reads of the board, within what the lead may see."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from ieim.audit.models import AuditEvent
from ieim.knowledge import selectors as knowledge
from ieim.people.models import EVERY_AGENCY, AgencyScope, User
from ieim.people.scope import agencies_of
from review import reading
from review.board.models import Absence
from review.deciding import locking
from review.metrics.statistics import statistics_by_person
from review.models import SIGN, TAKEN_BACK, Action, Decision, ReviewItem
from review.queue import presenters
from review.queue.filters import AGES, SOON, ItemFilter, held_by
from review.queue.selectors import COUNTED, listing
from review.scope import visible
from review.states import UNDECIDED, ReviewState

ACTIVE = timedelta(minutes=10)
HELD = {"held": "1"}
"""The filters of the list that the board counts: *Open* with what colleagues work on."""
_SHOWN = ("agency", "reason", "language")
_SEEN = (reading.READ, "review.claimed", "review.taken_over")


@dataclass(frozen=True, slots=True)
class Bar:
    """A number of items, and the query string of the list that has them."""

    words: str
    number: int
    query: str


@dataclass(frozen=True, slots=True)
class Worker:
    """A colleague: until when they are absent (None when present), whether they did something
    within :data:`ACTIVE`, how many items they hold and which of them in crisis, and their decisions
    of today (``median`` seconds)."""

    user: User
    absent_until: datetime | None
    active: bool
    held: Bar
    crises: Sequence[ReviewItem]
    done: Bar
    median: float | None
    outcomes: tuple[tuple[str, int], ...]


def team(user: User) -> list[User]:
    """Return who decides items of the user's agencies, by name."""
    backend = "django.contrib.auth.backends.ModelBackend"
    users = User.objects.with_perm(locking.DECIDE, backend=backend, include_superusers=False)
    agencies = agencies_of(user)
    if agencies is not None:
        scopes = AgencyScope.objects.filter(user=OuterRef("pk"))
        users = users.filter(Exists(scopes.filter(agency__in=[*agencies, EVERY_AGENCY])))
    return sorted(users.distinct(), key=lambda member: member.display_name)


def absences(now: datetime) -> dict[int, datetime]:
    """Return until when people are absent, by key."""
    return dict(Absence.objects.filter(until__gt=now).values_list("user_id", "until"))


def seen(items: Collection[ReviewItem], *, since: datetime | None = None) -> dict[UUID, set[str]]:
    """Return who has opened or claimed items (actors) since they were last assigned to somebody, by
    item; ``turn`` is loaded of each."""
    events = AuditEvent.objects.filter(chain__in={item.turn.session_id for item in items})
    kinds = [*_SEEN, locking.ASSIGNED]
    events = events.filter(kind__in=kinds, **({"at__gte": since} if since else {}))
    by_item: dict[UUID, set[str]] = {}
    for kind, payload, actor in events.order_by("seq").values_list("kind", "payload", "actor"):
        if item_id := json.loads(payload).get("item"):
            actors = by_item.setdefault(UUID(item_id), set())
            if kind == locking.ASSIGNED:
                actors.clear()
            else:
                actors.add(actor)
    return by_item


def unattended_dangers(items: QuerySet[ReviewItem], now: datetime) -> list[ReviewItem]:
    """Return the items in crisis that nobody works on, the oldest first: free ones, those that wait
    for a second person, and those whose holder has not opened them yet."""
    undecided = items.filter(state__in=UNDECIDED - {ReviewState.SENDING}, rank__lte=SIGN)
    loaded = undecided.select_related("turn__session", "claimed_by")
    waiting = list(loaded.order_by("rank", "opened_at")[:COUNTED])
    known = seen(waiting)

    def is_attended(item: ReviewItem) -> bool:
        holder = item.holder(now)
        return holder is not None and holder.actor in known.get(item.pk, ())

    return [item for item in waiting if not is_attended(item)]


def dangers(user: User, now: datetime) -> list[tuple[ReviewItem, User | None]]:
    """Return the dangers within what a user sees that nobody works on, each with who has it."""
    return [(item, item.holder(now)) for item in unattended_dangers(visible(user), now)]


def crises_held(user: User, now: datetime) -> dict[int, list[ReviewItem]]:
    """Return the items in crisis within what a user sees that somebody holds, by who holds them."""
    held = visible(user).filter(held_by(Q(), now), rank__lte=SIGN)
    by_holder: dict[int, list[ReviewItem]] = {}
    for item in held.select_related("turn__session", "claimed_by").order_by("rank", "due_at"):
        if item.claimed_by is not None:
            by_holder.setdefault(item.claimed_by.pk, []).append(item)
    return by_holder


def board(user: User, now: datetime) -> dict[str, object]:
    """Return the board: the dangers that nobody works on, each with who has it, totals, tables of
    bars, and people."""
    filters = ItemFilter(HELD)
    listed = listing(user, filters, now)
    release = knowledge.current_release()

    def number(condition: Q) -> int:
        return sum(branch.filter(condition).count() for branch in listed.branches)

    selects = {select["name"]: select for select in presenters.selects(filters, listed, release)}
    holders: Counter[str] = Counter()
    for branch in listed.branches:
        rows = branch.filter(held_by(Q(), now)).values_list("claimed_by__username")
        holders.update(dict(rows.annotate(total=Count("pk"))))
    ages = [
        Bar(
            chip.words,
            number(Q(opened_at__lt=now - AGES[chip.value])),
            filters.with_changes(age=chip.value),
        )
        for chip in selects["age"]["choices"]
    ]
    return {
        "dangers": dangers(user, now),
        "overdue": Bar("", number(Q(due_at__lt=now)), filters.with_changes(overdue="1")),
        "soon": Bar(
            "", number(Q(due_at__gte=now, due_at__lt=now + SOON)), filters.with_changes(soon="1")
        ),
        "open": Bar("", number(Q()), filters.query),
        "tables": [
            {"name": selects["age"]["label"], "bars": ages},
            *(
                # A chip has what a bar has.
                {"name": selects[name]["label"], "bars": selects[name]["choices"]}
                for name in _SHOWN
            ),
        ],
        "people": _workers(user, now, filters, holders),
    }


def _workers(
    user: User, now: datetime, filters: ItemFilter, holders: Mapping[str, int]
) -> list[Worker]:
    members, away, crises = team(user), absences(now), crises_held(user, now)
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    decisions = Decision.objects.filter(
        created_at__gte=midnight, actor__in=members, item__in=visible(user)
    ).exclude(TAKEN_BACK)
    columns = decisions.order_by().values("actor_id", "action", "seconds")
    rows: list[dict[str, Any]] = [{**row} for row in columns.annotate(total=Count("pk"))]
    by_person = statistics_by_person(rows)
    outcomes: dict[int, Counter[str]] = {}
    for row in rows:
        of_person = outcomes.setdefault(row["actor_id"], Counter())
        of_person[str(Action(row["action"]).label)] += row["total"]
    actors = AuditEvent.objects.filter(
        at__gte=now - ACTIVE, actor__in=[member.actor for member in members]
    )
    active = set(actors.order_by().values_list("actor", flat=True).distinct())
    result = []
    for member in members:
        name, statistics = member.get_username(), by_person.get(member.pk)
        result.append(
            Worker(
                user=member,
                absent_until=away.get(member.pk),
                active=member.actor in active,
                held=Bar("", holders.get(name, 0), filters.with_changes(person=name)),
                crises=crises.get(member.pk, ()),
                done=Bar(
                    "",
                    statistics.decisions if statistics else 0,
                    ItemFilter({"tab": "done", "person": name}).query,
                ),
                median=statistics.median if statistics else None,
                outcomes=tuple(outcomes.get(member.pk, Counter()).most_common()),
            )
        )
    return result
