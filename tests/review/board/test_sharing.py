"""Sharing out: by load, to those present who may have an item; and taking it back."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from threading import Barrier, Thread
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from conversations.models import Takeover
from ieim.audit.models import AuditEvent
from ieim.people.models import AgencyScope, User
from ieim.people.roles import Role
from review import claims, scope
from review.board import services
from review.deciding import locking
from review.models import Action, Decision, ReviewItem
from review.queue.services import NotDone
from review.reading import record_read
from tests.review.board.conftest import OURS, THEIRS, Make
from tests.review.desk import take
from tests.review.people import browser, person


def holders() -> Counter[str]:
    return Counter(
        ReviewItem.objects.filter(state="claimed").values_list("claimed_by__username", flat=True)
    )


def test_what_is_due_first_goes_to_whoever_holds_least(
    make: Make, lead: User, eva: User, max_: User
) -> None:
    for _ in range(3):
        take(make(), lead)
    late, first, second = make(minutes=900), make(minutes=10), make(minutes=20)
    make(THEIRS)
    services.share_out(number=2, actor=lead)
    got = ReviewItem.objects.filter(pk__in=[first.pk, second.pk])
    assert {item.claimed_by for item in got} == {eva}
    assert ReviewItem.objects.get(pk=late.pk).state == "open"
    assert holders() == {"lead": 3, "eva": 2}


def test_a_language_goes_to_who_reads_it_and_what_is_put_away_stays(
    make: Make, lead: User, eva: User
) -> None:
    User.objects.filter(pk=lead.pk).update(languages=["fr"])
    User.objects.filter(pk=eva.pk).update(languages=["de"])
    for _ in range(2):
        take(make(), eva)
    german, away = make(minutes=10), make(minutes=5)
    ReviewItem.objects.filter(pk=german.pk).update(language="de")
    later = timezone.now() + timedelta(hours=3)
    ReviewItem.objects.filter(pk=away.pk).update(snoozed_at=timezone.now(), snoozed_until=later)
    services.share_out(number=9, actor=lead)
    assert ReviewItem.objects.get(pk=german.pk).claimed_by == eva
    assert ReviewItem.objects.get(pk=away.pk).state == "open"


def test_who_is_absent_gets_nothing_and_gives_back_what_they_hold(
    make: Make, lead: User, eva: User
) -> None:
    take(make(), eva)
    item, http = make(), browser(lead)
    until = timezone.localdate() + timedelta(days=2)
    http.post(reverse("review:absence"), {"account": "eva", "do": "set", "until": until})
    with pytest.raises(claims.ClaimRefused, match="absent until"):
        claims.assign(item_id=item.pk, to=eva, actor=lead)
    http.post(reverse("review:absence"), {"account": "eva", "do": "give_back"})
    services.share_out(number=9, actor=lead)
    assert holders() == {"lead": 2}
    http.post(reverse("review:absence"), {"account": "eva", "do": "end"})
    claims.assign(item_id=item.pk, to=eva, actor=lead)


def test_nobody_sets_a_stranger_or_a_day_that_is_over(lead: User, eva: User, max_: User) -> None:
    with pytest.raises(NotDone):
        services.set_absence(username="eva", until=timezone.localdate(), actor=eva)
    body = {"do": "set", "until": timezone.localdate() + timedelta(days=2)}
    for actor, account in ((eva, "lead"), (lead, "max"), (lead, "nobody")):
        response = browser(actor).post(reverse("review:absence"), {**body, "account": account})
        assert response.status_code == 404
    page = browser(eva).post(reverse("review:absence"), {"do": "set", "until": "0"}, follow=True)
    assert "Enter a day" in page.content.decode()


def test_a_second_opinion_does_not_go_to_its_author(make: Make, lead: User, eva: User) -> None:
    item = make(needs_second=True)
    Decision.objects.create(item=item, actor=eva, action=Action.APPROVE, reason="It fits.")
    ReviewItem.objects.filter(pk=item.pk).update(state="second_opinion")
    assert [to for _, to in services.plan(number=1, actor=lead)] == [lead]


def test_what_waits_for_a_signature_is_left_to_those_who_sign(
    make: Make, lead: User, eva: User
) -> None:
    together, other = make(minutes=5), make()
    Decision.objects.create(
        item=together, actor=eva, action=Action.WRITE, reason="It fits.", output={"text": "Come."}
    )
    agencies = scope.agency_set([OURS, THEIRS])
    ReviewItem.objects.filter(pk=together.pk).update(state="second_opinion", agencies=agencies)
    assert [item for item, _ in services.plan(number=1, actor=lead)] == [other]


def test_planning_for_more_items_asks_no_more(
    make: Make, lead: User, eva: User, django_assert_max_num_queries: Any
) -> None:
    make()
    with CaptureQueriesContext(connection) as of_one:
        services.plan(number=9, actor=lead)
    for _ in range(3):
        make()
    with django_assert_max_num_queries(len(of_one)):
        assert len(services.plan(number=9, actor=lead)) == 4


def test_who_renews_a_claim_that_ran_out_keeps_it(
    make: Make, lead: User, eva: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = take(make(), eva)
    ReviewItem.objects.update(claimed_until=timezone.now())
    planned = services.plan(number=1, actor=lead)
    claims.renew(item_id=item.pk, actor=eva)
    monkeypatch.setattr(services, "plan", lambda **_: [(item, lead) for item, _ in planned])
    with pytest.raises(NotDone):
        services.share_out(number=1, actor=lead)
    assert holders() == {"eva": 1}


@pytest.fixture
def shared(make: Make, lead: User, eva: User) -> list[ReviewItem]:
    """Three items that the lead has shared out to a colleague who had read one before."""
    services.set_absence(
        username="lead", until=timezone.localdate() + timedelta(days=1), actor=lead
    )
    items = [make() for _ in range(3)]
    record_read(items[0], eva)
    services.share_out(number=3, actor=lead)
    return items


def test_taking_back_leaves_what_somebody_has_opened_or_talks_about(
    shared: list[ReviewItem], lead: User, eva: User
) -> None:
    opened, talked, untouched = shared
    record_read(opened, eva)
    now = timezone.now()
    Takeover.objects.create(
        session=talked.turn.session, item=talked.pk, by=eva, since=now, silent_at=now
    )
    assert services.undo_share(actor=lead) == 1
    assert holders() == {"eva": 2}
    assert ReviewItem.objects.get(pk=untouched.pk).state == "open"
    assert services.undo_share(actor=lead) == 0


def test_taking_back_leaves_what_the_lead_no_longer_sees(
    shared: list[ReviewItem], lead: User
) -> None:
    AgencyScope.objects.filter(user=lead).update(agency=THEIRS)
    assert services.undo_share(actor=lead) == 0
    assert holders() == {"eva": 3}


@pytest.mark.parametrize("undo", [True, False])
def test_an_item_that_is_erased_meanwhile_is_passed_over(
    shared: list[ReviewItem], lead: User, monkeypatch: pytest.MonkeyPatch, undo: bool
) -> None:
    locked = locking.locked

    def locked_late(pk: UUID) -> ReviewItem:
        ReviewItem.objects.filter(pk=shared[0].pk).delete()
        return locked(pk)

    monkeypatch.setattr(locking, "locked", locked_late)
    if undo:
        assert services.undo_share(actor=lead) == 2
    else:
        assert services.give_back(username="eva", actor=lead) == 2


@pytest.mark.parametrize("change", ["off", "moved", "role"])
def test_what_somebody_holds_who_may_not_decide_it_any_more_is_free_again(
    make: Make, lead: User, eva: User, max_: User, change: str
) -> None:
    claims.assign(item_id=make().pk, to=eva, actor=lead)
    take(make(THEIRS), max_)
    if change == "off":
        User.objects.filter(pk=eva.pk).update(is_active=False)
    elif change == "moved":
        AgencyScope.objects.filter(user=eva).update(agency=THEIRS)
    else:
        eva.groups.clear()
    services.release_stale_claims(now=timezone.now())
    assert holders() == {"max": 1}
    assert AuditEvent.objects.get(kind="review.released").actor == "system"


def test_taking_back_has_what_the_lead_got_themselves(make: Make, lead: User) -> None:
    make()
    services.share_out(number=1, actor=lead)
    assert services.undo_share(actor=lead) == 1
    assert holders() == {}


def test_the_preview_says_who_gets_how_many_and_changes_nothing(
    make: Make, lead: User, eva: User
) -> None:
    make()
    make()
    page = browser(lead).get(reverse("review:board"), {"number": "2"}).content.decode()
    assert "<li>Eva : 1</li>" in page or "<li>Eva: 1</li>" in page
    assert holders() == {}
    page = browser(lead).get(reverse("review:board"), {"number": "none"}).content.decode()
    assert "Share out 1 to 100 items." in page


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_two_leads_at_once_give_no_item_twice(make: Make, lead: User, eva: User) -> None:
    other = person("other", Role.SUPERVISOR, OURS)
    for _ in range(12):
        make()
    together, given = Barrier(2), []

    def share(actor: User) -> None:
        together.wait()
        try:
            given.append(services.share_out(number=12, actor=actor).total())
        except NotDone:
            given.append(0)
        finally:
            connection.close()

    threads = [Thread(target=share, args=(actor,)) for actor in (lead, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(given) == 12
    assert set(ReviewItem.objects.values_list("version", flat=True)) == {2}
