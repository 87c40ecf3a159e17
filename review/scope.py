"""The agencies that an item belongs to, and the items that a user sees.

Agencies that were detected together answer together: each keeps its part in the turn to the end,
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
from ieim.people.models import EVERY_AGENCY, User
from ieim.people.scope import agencies_of
from ieim.pipeline.topology import AWAITED
from review import facets
from review.models import SIGN, AgencySet, Decision, ReviewItem, SetMember, SignOff
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
    result, created = AgencySet.objects.get_or_create(digest=digest, defaults={"ids": unique})
    if created:
        SetMember.objects.bulk_create(SetMember(set=result, agency=agency) for agency in unique)
    return result


def set_faults() -> Iterator[Discrepancy]:
    """Yield the sets that are not what their digest says, or whose members are others."""
    sets = AgencySet.objects.prefetch_related("members").order_by("pk")
    for current in sets.iterator(chunk_size=100):
        members = sorted(member.agency for member in current.members.all())
        if current.ids != members or current.digest != _digest(members):
            yield from of_store("agency_set", [str(current.pk)], Fault.CHANGED)


def _digest(ids: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()


def agencies_of_item(item: ReviewItem) -> frozenset[str]:
    """Return the ids of the agencies that an item belongs to at present."""
    current = [item.agency] if item.agency else facets.detected_agencies(item.turn_id)
    return agencies_together(item.turn_id).union(current)


def agencies_together(turn_id: UUID) -> frozenset[str]:
    """Return the ids of the agencies that answer a turn together; none where only one does."""
    sets = [frozenset(facets.detected_agencies(turn_id)), *_of_items(turn_id)]
    return frozenset[str]().union(*(ids for ids in sets if len(ids) > 1))


def agencies_ever(turn_id: UUID) -> frozenset[str]:
    """Return the ids of the agencies that were detected for a turn or had one of its items."""
    return frozenset(facets.detected_agencies(turn_id)).union(*_of_items(turn_id))


def refresh_agencies(turn_id: UUID) -> None:
    """Update the agencies of a turn's undecided items from those detected now.

    Runs inside the caller's transaction, which holds the turn's row.
    """
    undecided = ReviewItem.objects.filter(turn=turn_id, state__in=[s.value for s in UNDECIDED])
    items = list(undecided.order_by("pk"))
    detected = facets.detected_agencies(turn_id) if items else ()
    for item in items:
        before = (item.agency, item.agencies_id)
        if len(detected) == 1:
            # A person may have handed the item to another agency meanwhile: theirs stays.
            item.agency = item.agency or detected[0]
        belongs = agency_set(agencies_of_item(item))
        if before != (item.agency, belongs and belongs.pk):
            ReviewItem.objects.filter(pk=item.pk).update(agency=item.agency, agencies=belongs)


def _of_items(turn_id: UUID) -> list[frozenset[str]]:
    """Return the sets of the items that a turn's answer waited for, decided or not."""
    items = ReviewItem.objects.filter(turn=turn_id, stage__in=AWAITED)
    sets = items.exclude(agencies=None).values_list("agencies__ids", flat=True)
    return [frozenset(ids) for ids in sets]


SEE = "review.view_reviewitem"
TRIAGE = "review.triage_reviewitem"
_BACKEND = "django.contrib.auth.backends.ModelBackend"


def visible(user: User) -> QuerySet[ReviewItem]:
    """Return the items that a user may see, and work on as far as their role goes."""
    return ReviewItem.objects.filter(_condition(user))


def sees(user: User, item: ReviewItem) -> bool:
    """Whether an item is among those that :func:`visible` returns."""
    return visible(user).filter(pk=item.pk).exists()


def viewers(item: ReviewItem) -> QuerySet[User]:
    """Return the active users who may see an item, by name: the reverse of :func:`visible`."""
    scoped = Q(agency_scopes__agency__in=[EVERY_AGENCY, *item.agency_ids]) | Q(is_superuser=True)
    if item.rank <= SIGN and item.state in UNDECIDED:
        scoped |= Q(agency_scopes__isnull=False)
    elif item.rank <= SIGN:
        actors = Q(pk__in=item.decisions.values("actor"))
        actors |= Q(pk__in=SignOff.recorded.filter(item=item).values("by"))
        scoped |= Q(actors, agency_scopes__isnull=False)
    if item.agencies_id is None:
        triaging = User.objects.with_perm(TRIAGE, backend=_BACKEND)
        scoped |= Q(pk__in=triaging.values("pk"))
    users = User.objects.with_perm(SEE, backend=_BACKEND).filter(scoped)
    return users.distinct().order_by("username")


def _condition(user: User) -> Q:
    """Return the condition: one of the user's agencies, no agency yet, or a crisis until it is
    decided, then for whoever decided on it or signed.

    A user of every agency sees all; items without an agency need a right of their own.
    """
    scope = agencies_of(user)
    if scope is None:
        return Q()
    condition = Q(agencies__in=sets_with(scope))
    if user.has_perm(TRIAGE):
        condition |= Q(agencies=None)
    if scope:
        # A life may be at stake: whoever sees it first acts, whatever agency was guessed.
        # Lists are read once and only where needed; SQLite would search them anew for each row.
        decided = Decision.objects.filter(actor=user.pk).values("item")
        signed = SignOff.recorded.filter(by=user.pk).values("item")
        involved = Q(state__in=UNDECIDED) | Q(pk__in=decided) | Q(pk__in=signed)
        condition |= Q(involved, rank__lte=SIGN)
    return condition
