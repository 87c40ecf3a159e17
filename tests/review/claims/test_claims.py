from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from conversations.models import Turn
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from ieim.people.models import User
from ieim.people.roles import Role
from review import claims
from review.claims import ClaimRefused, ClaimTaken
from review.models import Action, Decision, ReviewItem
from review.services import open_item
from review.states import ReviewState
from tests.review.conftest import make_turn
from tests.review.people import belong, person

pytestmark = pytest.mark.both_databases

MINUTE = timedelta(minutes=1)


@pytest.fixture
def item(turn: Turn) -> ReviewItem:
    return open_item(turn_id=turn.pk, stage="reply", codes=["schema"])


@pytest.fixture
def eva(db: None) -> User:
    return person("eva", name="Eva Maro")


@pytest.fixture
def ben(db: None) -> User:
    return person("ben")


@pytest.fixture
def sofia(db: None) -> User:
    return person("sofia", Role.SUPERVISOR)


def run_out(item: ReviewItem) -> None:
    ReviewItem.objects.filter(pk=item.pk).update(claimed_until=timezone.now() - MINUTE)


def propose(item: ReviewItem, author: User) -> Decision:
    """Store a decision that waits for a second person."""
    ReviewItem.objects.filter(pk=item.pk).update(
        state=ReviewState.SECOND_OPINION.value, claimed_by=None, claimed_until=None
    )
    return Decision.objects.create(item=item, actor=author, action=Action.RETRY, reason="why")


def as_stored(item: ReviewItem) -> tuple[str, str | None, int]:
    item.refresh_from_db()
    holder = item.claimed_by.username if item.claimed_by else None
    return item.state, holder, item.version


def test_it_claims_with_an_audit_event(item: ReviewItem, eva: User) -> None:
    before = timezone.now()
    claimed = claims.claim(item_id=item.pk, actor=eva)

    assert as_stored(item) == ("claimed", "eva", 2)
    assert claimed.version == 2
    assert item.claimed_until is not None
    assert item.claimed_until - before >= 15 * MINUTE
    event = AuditEvent.objects.filter(chain=item.turn.session_id).order_by("seq").last()
    assert event is not None
    assert (event.kind, event.actor) == ("review.claimed", "staff:eva")
    expected = {"item": str(item.pk), "turn": str(item.turn_id), "version": 2}
    assert json.loads(event.payload) == expected
    assert verify(item.turn.session_id).ok


def test_it_tells_who_has_it_and_until_when(item: ReviewItem, eva: User, ben: User) -> None:
    result = claims.claim(item_id=item.pk, actor=eva)

    for attempt in (claims.claim, claims.renew, claims.release):
        with pytest.raises(ClaimTaken, match="Eva Maro has this item until") as taken:
            attempt(item_id=item.pk, actor=ben)
        assert (taken.value.by, taken.value.until) == ("Eva Maro", result.claimed_until)
    assert as_stored(item) == ("claimed", "eva", 2)


def test_a_claim_of_ones_own_is_renewed(item: ReviewItem, eva: User) -> None:
    claims.claim(item_id=item.pk, actor=eva)
    soon = timezone.now() + MINUTE
    for again in (claims.renew, claims.claim):
        ReviewItem.objects.filter(pk=item.pk).update(claimed_until=soon)
        again(item_id=item.pk, actor=eva)
        # The version stays: an open page's form must not become stale by being open.
        assert as_stored(item) == ("claimed", "eva", 2)
        assert item.claimed_until is not None
        assert item.claimed_until > soon
    assert AuditEvent.objects.filter(kind="review.claimed").count() == 1


def test_a_claim_that_ran_out_is_free(item: ReviewItem, eva: User, ben: User) -> None:
    claims.claim(item_id=item.pk, actor=eva)
    run_out(item)
    assert not ReviewItem.objects.get().holder(timezone.now())

    claims.claim(item_id=item.pk, actor=ben)

    assert as_stored(item) == ("claimed", "ben", 3)
    with pytest.raises(ClaimTaken, match="Ben"):
        claims.renew(item_id=item.pk, actor=eva)


def test_a_claim_that_ran_out_comes_back_while_it_is_free(item: ReviewItem, eva: User) -> None:
    claims.claim(item_id=item.pk, actor=eva)
    run_out(item)
    claims.renew(item_id=item.pk, actor=eva)
    assert as_stored(item) == ("claimed", "eva", 2)
    assert item.holder(timezone.now()) == eva


def test_it_gives_back(item: ReviewItem, eva: User, ben: User) -> None:
    claims.claim(item_id=item.pk, actor=eva)
    claims.release(item_id=item.pk, actor=eva)
    assert as_stored(item) == ("open", None, 3)
    assert item.claimed_until is None
    with pytest.raises(ClaimRefused, match="do not have this item"):
        claims.release(item_id=item.pk, actor=eva)
    with pytest.raises(ClaimRefused, match="do not have this item"):
        claims.renew(item_id=item.pk, actor=ben)
    assert AuditEvent.objects.filter(kind="review.released", actor="staff:eva").count() == 1


def test_a_supervisor_takes_over(item: ReviewItem, eva: User, ben: User, sofia: User) -> None:
    claims.claim(item_id=item.pk, actor=eva)
    with pytest.raises(PermissionDenied):
        claims.take_over(item_id=item.pk, actor=ben)
    claims.take_over(item_id=item.pk, actor=sofia)
    assert as_stored(item) == ("claimed", "sofia", 3)
    assert AuditEvent.objects.filter(kind="review.taken_over", actor="staff:sofia").exists()


def test_a_supervisor_assigns_until_it_is_due(
    item: ReviewItem, eva: User, ben: User, sofia: User
) -> None:
    claims.claim(item_id=item.pk, actor=ben)
    due = timezone.now() + timedelta(days=2)
    ReviewItem.objects.filter(pk=item.pk).update(due_at=due)

    claims.assign(item_id=item.pk, to=eva, actor=sofia)

    assert as_stored(item) == ("claimed", "eva", 3)
    assert item.claimed_until == due
    claims.renew(item_id=item.pk, actor=eva)
    item.refresh_from_db()
    assert item.claimed_until == due
    event = AuditEvent.objects.get(kind="review.assigned")
    assert (event.actor, json.loads(event.payload)["to"]) == ("staff:sofia", "eva")


def test_it_assigns_to_nobody_who_may_not_have_it(item: ReviewItem, sofia: User) -> None:
    belong(item, "housing")
    reader, stranger = person("rita", Role.AUDITOR), person("sid", Role.CASEWORKER, "vehicles")
    with pytest.raises(ClaimRefused, match="Rita may not decide"):
        claims.assign(item_id=item.pk, to=reader, actor=sofia)
    with pytest.raises(ClaimRefused, match="Sid does not work for"):
        claims.assign(item_id=item.pk, to=stranger, actor=sofia)
    assert as_stored(item) == ("open", None, 1)


def test_a_decided_item_cannot_be_had(item: ReviewItem, eva: User, sofia: User) -> None:
    ReviewItem.objects.filter(pk=item.pk).update(state=ReviewState.DECIDED.value)
    for attempt in (claims.claim, claims.renew, claims.release, claims.take_over):
        with pytest.raises(ClaimRefused, match="decided already"):
            attempt(item_id=item.pk, actor=sofia)


def test_the_second_person_is_not_the_first(item: ReviewItem, eva: User, ben: User) -> None:
    propose(item, eva)
    with pytest.raises(ClaimRefused, match="decided this item yourself"):
        claims.claim(item_id=item.pk, actor=eva)

    claims.claim(item_id=item.pk, actor=ben)
    assert as_stored(item) == ("claimed", "ben", 2)
    # What waits for a second person still does when that person gives the item back.
    claims.release(item_id=item.pk, actor=ben)
    assert as_stored(item) == ("second_opinion", None, 3)


def test_a_second_opinion_takes_its_permission(item: ReviewItem, eva: User, ben: User) -> None:
    propose(item, eva)
    group = ben.groups.get()
    group.permissions.remove(group.permissions.get(codename="second_reviewitem"))
    with pytest.raises(ClaimRefused, match="may not give a second opinion"):
        claims.claim(item_id=item.pk, actor=ben)


@pytest.mark.parametrize("attempt", [claims.claim, claims.renew, claims.release])
def test_it_takes_permission_and_scope(item: ReviewItem, attempt: Callable[..., Any]) -> None:
    with pytest.raises(PermissionDenied):
        attempt(item_id=item.pk, actor=person("rita", Role.AUDITOR))
    belong(item, "housing")
    with pytest.raises(ReviewItem.DoesNotExist):
        attempt(item_id=item.pk, actor=person("sid", Role.CASEWORKER, "vehicles"))
    assert as_stored(item) == ("open", None, 1)


def test_one_of_a_hundred_gets_it_and_the_others_are_told_who(
    in_threads: Callable[[list[Callable[[], str]]], list[str]],
) -> None:
    item = open_item(turn_id=make_turn().pk, stage="reply", codes=["schema"])
    people = [person(f"user{n}") for n in range(100)]

    def race(actor: User) -> str:
        try:
            claims.claim(item_id=item.pk, actor=actor)
        except ClaimTaken as taken:
            return f"taken by {taken.by}"
        return actor.username

    records = []
    for start in range(0, 100, 10):
        records += in_threads([partial(race, actor) for actor in people[start : start + 10]])
