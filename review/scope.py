"""Which agencies an item belongs to, and which items a user sees.

Agencies that were found together answer together: each keeps its part in the turn to the end,
whatever a person corrects or hands over afterwards. A single agency gives the item away by handing
it over.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator
from uuid import UUID

from django.db.models import Q, QuerySet

from ieim.audit.audited import Discrepancy, Fault
from ieim.audit.comparing import of_store
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.topology import AWAITED
from review import facets
from review.models import SIGN, AgencySet, ReviewItem, SetMember
from review.states import UNDECIDED


def sets_with(ids: Collection[str]) -> list[int]:
    """Return the keys of the sets that have at least one of these agencies."""
    members = SetMember.objects.filter(agency__in=ids)
    return list(members.values_list("set_id", flat=True).distinct())


def agency_set(ids: Collection[str]) -> AgencySet | None:
    """Return the set of exactly these agencies, None for none."""
    unique = sorted(set(ids))
    if not unique:
        return None
    digest = _digest(unique)
    found, new = AgencySet.objects.get_or_create(digest=digest, defaults={"ids": unique})
    if new:
        SetMember.objects.bulk_create(SetMember(set=found, agency=agency) for agency in unique)
    return found


def set_faults() -> Iterator[Discrepancy]:
    """Yield the sets that are not what their digest says, or whose members are others."""
    sets = AgencySet.objects.prefetch_related("members").order_by("pk")
    for found in sets.iterator(chunk_size=100):
        members = sorted(member.agency for member in found.members.all())
        if found.ids != members or found.digest != _digest(members):
            yield from of_store("agency_set", [str(found.pk)], Fault.CHANGED)


def _digest(ids: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()


def agencies_of_item(item: ReviewItem) -> frozenset[str]:
    """Return the ids of the agencies that an item belongs to at present."""
    found = facets.detected_agencies(item.turn_id)
    current = [item.agency] if item.agency else found
    return agencies_together(item.turn_id).union(current)


def agencies_together(turn_id: UUID) -> frozenset[str]:
    """Return the ids of the agencies that answer a turn together; none where only one does."""
    sets = [frozenset(facets.detected_agencies(turn_id)), *_of_items(turn_id)]
    return frozenset[str]().union(*(each for each in sets if len(each) > 1))


def agencies_ever(turn_id: UUID) -> frozenset[str]:
    """Return the ids of the agencies that were found for a turn or had one of its items."""
    return frozenset(facets.detected_agencies(turn_id)).union(*_of_items(turn_id))


def refresh_agencies(turn_id: UUID) -> None:
    """Update the agencies of a turn's undecided items from the present findings.

    Runs inside the caller's transaction, which holds the turn's row.
    """
    found = facets.detected_agencies(turn_id)
    undecided = ReviewItem.objects.filter(turn=turn_id, state__in=[s.value for s in UNDECIDED])
    for item in undecided.order_by("pk"):
        before = (item.agency, item.agencies_id)
        if len(found) == 1:
            # A person may have handed the item to another agency meanwhile: theirs stays.
            item.agency = item.agency or found[0]
        belongs = agency_set(agencies_of_item(item))
        if before != (item.agency, belongs and belongs.pk):
            ReviewItem.objects.filter(pk=item.pk).update(agency=item.agency, agencies=belongs)


def _of_items(turn_id: UUID) -> list[frozenset[str]]:
    """Return the sets of the items that a turn's answer waited for, decided or not."""
    items = ReviewItem.objects.filter(turn=turn_id, stage__in=AWAITED)
    sets = items.exclude(agencies=None).values_list("agencies__ids", flat=True)
    return [frozenset(ids) for ids in sets]


TRIAGE = "review.triage_reviewitem"


def visible(user: User) -> QuerySet[ReviewItem]:
    """Return the items that a user may see, and work on as far as their role goes."""
    return ReviewItem.objects.filter(_condition(user))


def sees(user: User, item: ReviewItem) -> bool:
    """Whether an item is among those that :func:`visible` returns."""
    return visible(user).filter(pk=item.pk).exists()


def _condition(user: User) -> Q:
    """Return what makes an item theirs: one of its agencies, that it has none, or a crisis.

    Whoever works for every agency sees all; what has no agency yet takes a role that says so.
    """
    scope = agencies_of(user)
    if scope is None:
        return Q()
    theirs = Q(agencies__in=sets_with(scope))
    if user.has_perm(TRIAGE):
        theirs |= Q(agencies=None)
    if scope:
        # A life may be at stake: whoever sees it first acts, whatever agency was guessed.
        theirs |= Q(rank__lte=SIGN)
    return theirs
