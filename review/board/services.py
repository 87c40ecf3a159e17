"""Writes: absences, sharing items out by load, and giving back what somebody holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from itertools import islice
from uuid import UUID

from django.core.cache import cache
from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext

from conversations.models import Takeover
from ieim.audit import services as audit
from ieim.people.models import User
from review import claims, scope
from review.board import selectors
from review.board.models import Absence, SharedItem
from review.deciding import locking, permitted, signing
from review.models import ReviewItem
from review.queue.filters import held_by, is_away
from review.queue.selectors import OF_TRIAGE
from review.queue.services import MAX_ITEMS, NotDone
from review.states import ReviewState

LONGEST_ABSENCE = timedelta(days=366)
Plan = list[tuple[ReviewItem, User]]


def colleague(username: str, actor: User) -> User:
    """Return the actor, or for a lead somebody of their team; raises ``User.DoesNotExist``."""
    if username == actor.get_username():
        return actor
    members = selectors.team(actor) if actor.has_perm(locking.SUPERVISE) else []
    for member in members:
        if member.get_username() == username:
            return member
    raise User.DoesNotExist


@transaction.atomic
def set_absence(*, username: str, until: date | None, actor: User) -> User:
    """Set the day on which somebody is back, or that they are present (None).

    Raises:
        NotDone: for a day that is not after today, or is more than a year away.
        User.DoesNotExist: for somebody else than :func:`colleague` returns.
    """
    who, today = colleague(username, actor), timezone.localdate()
    if until is None:
        Absence.objects.filter(user=who).delete()
    elif not today < until <= today + LONGEST_ABSENCE:
        raise NotDone(gettext("Choose a day after today, within the next year."))
    else:
        moment = timezone.make_aware(datetime.combine(until, time()))
        Absence.objects.update_or_create(user=who, defaults={"until": moment})
    payload = {"account": username, "until": until.isoformat() if until else ""}
    audit.record_system(kind="review.absence", payload=payload, actor=actor.actor)
    return who


def give_back(*, username: str, actor: User) -> int:
    """Give back what somebody holds, as far as the actor sees it; return how many items.

    Raises ``User.DoesNotExist`` as :func:`set_absence` does.
    """
    who = colleague(username, actor)
    held = scope.visible(actor).filter(held_by(Q(claimed_by=who), timezone.now()))
    return _give_back(held.values_list("pk", flat=True), who, actor)


def release_stale_claims(*, now: datetime) -> None:
    """Give back what people hold who may not decide it any more, once a minute: their account is
    off, or has lost the right or the agency."""
    if not cache.add("board.stale_claims", "1", timeout=60):
        return
    held = ReviewItem.objects.filter(held_by(Q(), now))
    for user in User.objects.filter(pk__in=held.values("claimed_by")):
        left = held.filter(claimed_by=user)
        if user.has_perm(locking.DECIDE):
            left = left.exclude(pk__in=scope.visible(user).values("pk"))
        _give_back(left.values_list("pk", flat=True), user, None)


def _give_back(ids: Iterable[UUID], who: User, actor: User | None) -> int:
    """Give back those of some items that ``who`` holds; return how many."""
    count = 0
    for pk in ids:
        with suppress(ReviewItem.DoesNotExist), transaction.atomic():  # it may have been erased
            item = locking.locked(pk)
            if item.holder(timezone.now()) == who:
                claims.give_back(item, actor)
                count += 1
    return count


def plan(*, number: int, actor: User) -> Plan:
    """Return who would get the free items that are due first: present people who may have each,
    of those who read its language who holds least first.

    Raises :class:`NotDone` for a number that is not within 1 and :data:`MAX_ITEMS`.
    """
    if not 1 <= number <= MAX_ITEMS:
        raise NotDone(gettext("Share out 1 to {number} items.").format(number=MAX_ITEMS))
    now = timezone.now()
    waiting = (ReviewState.OPEN, ReviewState.SECOND_OPINION)
    ran_out = Q(state=ReviewState.CLAIMED) & ~held_by(Q(), now)
    free = scope.visible(actor).filter(Q(state__in=waiting) | ran_out, ~is_away(now))
    free = free.exclude(OF_TRIAGE).select_related("turn").order_by("due_at", "pk")
    candidates = free.prefetch_related("decisions__answers")[: number + MAX_ITEMS]
    # Nobody is to hold what waits for a signature: it would be closed to those who have to sign.
    shareable = (item for item in candidates if not _waits_for_signatures(item))
    items = list(islice(shareable, number))
    away = selectors.absences(now)
    people = [user for user in selectors.team(actor) if user.pk not in away]
    ids = [item.pk for item in items]
    sees = {
        user.pk: set(scope.visible(user).filter(pk__in=ids).values_list("pk", flat=True))
        for user in people
    }
    held = ReviewItem.objects.filter(held_by(Q(), now)).order_by().values_list("claimed_by")
    loads = Counter(dict(held.annotate(total=Count("pk"))))
    result: Plan = []
    for item in items:
        proposal = permitted.opinion_wanted(item)
        able = [
            user
            for user in people
            if item.pk in sees[user.pk] and not claims.opinion_problem(proposal, user)
        ]
        if able:
            to = min(able, key=lambda user: (not _reads(user, item.language), loads[user.pk]))
            loads[to.pk] += 1
            result.append((item, to))
    return result


def _waits_for_signatures(item: ReviewItem) -> bool:
    proposal = signing.proposal_of(item)
    return proposal is not None and signing.waits_for_signatures(item, proposal)


def _reads(user: User, language: str) -> bool:
    """Whether somebody reads a language, as far as they have said which they read."""
    return not (language and user.languages) or language in user.languages


def share_out(*, number: int, actor: User) -> Counter[User]:
    """Assign the items of :func:`plan`; return how many each person got.

    What somebody has claimed or changed meanwhile is left to them. Raises as :func:`plan`, and
    :class:`NotDone` where nothing can be shared out.
    """
    given: Counter[User] = Counter()
    now = timezone.now()
    for planned, to in plan(number=number, actor=actor):
        with transaction.atomic():
            try:
                before = locking.locked(planned.pk)
                # Who renews a claim that ran out has it again, in the same version.
                if before.version != planned.version or before.holder(timezone.now()):
                    continue
                item = claims.assign(item_id=planned.pk, to=to, actor=actor)
            except (claims.ClaimRefused, ReviewItem.DoesNotExist):
                continue
            if not given:  # there is one to undo: the last
                SharedItem.objects.filter(by=actor).delete()
            values = {"by": actor, "to": to, "at": now, "version": item.version}
            SharedItem.objects.update_or_create(item=item, defaults=values)
            given[to] += 1
    if not given:
        raise NotDone(gettext("There is nothing to share out, or nobody present may have it."))
    return given


def undo_share(*, actor: User) -> int:
    """Give back what the actor shared out last, still sees, and nobody has touched; return how many
    items."""
    count = 0
    for shared in SharedItem.objects.filter(by=actor).select_related("to"):
        with suppress(ReviewItem.DoesNotExist), transaction.atomic():  # it may have been erased
            item = locking.locked(shared.item_id)
            opened = selectors.seen([item], since=shared.at).get(item.pk, set())
            is_touched = item.version != shared.version or shared.to.actor in opened
            is_talking = Takeover.objects.filter(item=item.pk, ended_at=None).exists()
            if not is_touched and not is_talking and scope.sees(actor, item):
                claims.give_back(item, actor)
                count += 1
            shared.delete()
    return count
