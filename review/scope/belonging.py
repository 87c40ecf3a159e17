"""Whose an item is: the agencies found for its turn, and the one that it was handed to.

Several agencies that were found together answer together: each keeps its part in the turn to the
end, whatever a person corrects or hands over afterwards. A single agency gives the item away by
handing it over.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from uuid import UUID

from ieim.pipeline.topology import AWAITED
from review.models import AgencySet, ReviewItem, SetMember
from review.scope import known
from review.states import UNDECIDED


def sets_with(ids: Collection[str]) -> list[int]:
    """Return the keys of the sets that have at least one of these agencies."""
    members = SetMember.objects.filter(agency__in=ids)
    return list(members.values_list("set_id", flat=True).distinct())


def set_of(ids: Collection[str]) -> AgencySet | None:
    """Return the set of exactly these agencies, None for none."""
    wanted = sorted(set(ids))
    if not wanted:
        return None
    digest = hashlib.sha256("\n".join(wanted).encode()).hexdigest()
    found, new = AgencySet.objects.get_or_create(digest=digest, defaults={"ids": wanted})
    if new:
        SetMember.objects.bulk_create(SetMember(set=found, agency=agency) for agency in wanted)
    return found


def of_item(item: ReviewItem) -> frozenset[str]:
    """Return the ids of the agencies that an item belongs to, as things stand now."""
    found = known.found(item.turn_id)
    own = [item.agency] if item.agency else found
    return together(item.turn_id).union(own)


def together(turn_id: UUID) -> frozenset[str]:
    """Return the ids of the agencies that answer a turn together; none where only one does."""
    sets = [frozenset(known.found(turn_id)), *_of_items(turn_id)]
    return frozenset[str]().union(*(each for each in sets if len(each) > 1))


def ever(turn_id: UUID) -> frozenset[str]:
    """Return the ids of the agencies that were found for a turn or had one of its items."""
    return frozenset(known.found(turn_id)).union(*_of_items(turn_id))


def refresh(turn_id: UUID) -> None:
    """Let the undecided items of a turn belong to whom they should, now that more is known.

    Runs inside the caller's transaction, which holds the turn's row.
    """
    found = known.found(turn_id)
    undecided = ReviewItem.objects.filter(turn=turn_id, state__in=[s.value for s in UNDECIDED])
    for item in undecided.order_by("pk"):
        before = (item.agency, item.agencies_id)
        if len(found) == 1:
            # A person may have handed the item to another agency meanwhile: theirs stays.
            item.agency = item.agency or found[0]
        belongs = set_of(of_item(item))
        if before != (item.agency, belongs and belongs.pk):
            ReviewItem.objects.filter(pk=item.pk).update(agency=item.agency, agencies=belongs)


def _of_items(turn_id: UUID) -> list[frozenset[str]]:
    """Return the sets of the items that a turn's answer waited for, decided or not."""
    items = ReviewItem.objects.filter(turn=turn_id, stage__in=AWAITED)
    sets = items.exclude(agencies=None).values_list("agencies__ids", flat=True)
    return [frozenset(ids) for ids in sets]
