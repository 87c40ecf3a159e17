"""Whose an item is: everybody who works for one of its agencies, and nobody else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.urls import reverse

from ieim.people.models import AgencyScope, User
from ieim.people.roles import Role
from review import claims, deciding
from review import scope as reach
from review.deciding import Action
from review.models import AgencySet, Batch, ReviewItem
from review.services import open_item, refresh_before_reply
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import BABY, BAD, REASON, taken_and_decided, the_item
from tests.review.people import belong, browser, person
from tests.review.reviewing import Reviewer
from tests.selection import sample

pytestmark = pytest.mark.usefixtures("published")
BOTH = ("civil-registry", "social-support")
QUEUE = reverse("review:queue")


def someone(name: str, role: Role, *agencies: str) -> User:
    """A member of staff of these agencies, maybe of none."""
    user = person(name, role, *agencies)
    if not agencies:
        AgencyScope.objects.filter(user=user).delete()
    return user


@pytest.fixture
def item() -> ReviewItem:
    """An item of two agencies."""
    return the_item(desk.ask(BABY, {"service_select_v1": BAD}))


def names(item: ReviewItem) -> list[str]:
    return list(ReviewItem.objects.get(pk=item.pk).agency_ids)


PEOPLE = pytest.mark.parametrize(
    ("role", "agencies", "of_two", "of_none"),
    sample(
        [
            (Role.CASEWORKER, ["civil-registry"], True, False),
            (Role.CASEWORKER, ["revenue", "social-support"], True, False),
            (Role.CASEWORKER, ["revenue"], False, False),
            (Role.CASEWORKER, [], False, False),
            (Role.CASEWORKER, ["*"], True, True),
            (Role.SUPERVISOR, ["civil-registry"], True, True),
            (Role.SUPERVISOR, ["revenue"], False, True),
            (Role.SUPERVISOR, [], False, True),
            (Role.AUDITOR, ["social-support"], True, False),
            (Role.AUDITOR, [], False, False),
        ],
        keep=7,
    ),
)


@PEOPLE
def test_a_page_is_for_who_works_for_one_of_the_agencies(
    item: ReviewItem, role: Role, agencies: Sequence[str], of_two: bool, of_none: bool
) -> None:
    nobodys = the_item(desk.ask(VISA, {"judgement_v1": BAD}))
    client = browser(someone("eva", role, *agencies))
    for result, seen in ((item, of_two), (nobodys, of_none)):
        address = reverse("review:item", args=[result.pk])
        assert client.get(address).status_code == (200 if seen else 404)
        assert (f"row-{result.pk}" in client.get(QUEUE).content.decode()) is seen
        if role is not Role.AUDITOR:
            for name in ("claim", "renew", "preview", "decide", "check", "sign", "release"):
                answer = client.post(reverse(f"review:{name}", args=[result.pk]))
                assert (answer.status_code != 404) is seen, name


@pytest.mark.parametrize("agencies", [["revenue"], []])
def test_no_write_of_another_agencys_staff_gets_through(
    item: ReviewItem, agencies: Sequence[str]
) -> None:
    eva, ben = someone("eva", Role.SUPERVISOR, *agencies), person("ben", Role.CASEWORKER, BOTH[0])
    made = taken_and_decided(item, ben, Action.WRITE, text="Please come.", sources=[])
    stored = ReviewItem.objects.get(pk=item.pk)
    writes: list[Any] = [
        lambda: claims.claim(item_id=item.pk, actor=eva),
        lambda: claims.take_over(item_id=item.pk, actor=eva),
        lambda: claims.assign(item_id=item.pk, to=ben, actor=eva),
        lambda: desk.decide(item, eva, Action.DISMISS),
        lambda: deciding.preview(item_id=item.pk, actor=eva, action=Action.ASK, payload={}),
        lambda: deciding.sign(
            item_id=item.pk, actor=eva, version=stored.version, agency=BOTH[1], reason=REASON
        ),
        lambda: deciding.undo(decision_id=made.pk, actor=eva, reason=REASON),
    ]
    for write in writes:
        with pytest.raises((ReviewItem.DoesNotExist, type(made).DoesNotExist, PermissionDenied)):
            write()
    assert not any(allowed == "" for allowed in deciding.may(item, eva).values())
    form = {"action": "dismiss", "item": [str(item.pk)], "reason": REASON, "confirm": "yes"}
    assert browser(eva).post(reverse("review:batch"), form).status_code == 303
    assert not Batch.objects.exists()
    with pytest.raises(claims.ClaimRefused, match="does not work for"):
        claims.assign(item_id=item.pk, to=eva, actor=person("root", Role.SUPERVISOR))
    again = ReviewItem.objects.get(pk=item.pk)
    assert (again.version, again.state) == (stored.version, "second_opinion")


def test_an_item_belongs_to_what_is_found_later_too() -> None:
    """Triage may stop before an agency is known; whoever works for it gets its item as well."""
    turn = desk.ask(BABY, {"classify": BAD})
    (item,) = ReviewItem.objects.filter(turn=turn)
    belong(item)
    assert (turn.state, names(item)) == ("answered", [])
    refresh_before_reply(turn_id=turn.pk, by_person=False)
    assert names(item) == [*BOTH]
    open_item(turn_id=turn.pk, stage="extract", codes=["schema"])
    assert AgencySet.objects.get().members.count() == 2


def test_the_one_agency_gives_an_item_away_and_gets_it_back() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    item, eva = the_item(turn), desk.person("eva", agencies=["immigration"])
    handed = taken_and_decided(item, eva, Action.HAND_OVER, agency="revenue")
    assert (names(item), reach.sees(eva, item)) == (["revenue"], False)
    assert reach.sees(desk.person("ben", agencies=["revenue"]), item)
    open_item(turn_id=turn.pk, stage=item.stage, codes=[])
    assert names(item) == ["revenue"]
    deciding.undo(decision_id=handed.pk, actor=eva, reason=REASON)
    assert (names(item), the_item(turn).agency) == (["immigration"], "immigration")


def test_several_agencies_keep_an_item_that_one_hands_over(item: ReviewItem) -> None:
    eva = desk.person("eva", agencies=BOTH[:1])
    handed = taken_and_decided(item, eva, Action.HAND_OVER, agency="revenue")
    assert names(item) == [BOTH[0], "revenue", BOTH[1]]
    assert deciding.missing_signatures(item) == (BOTH[0], "revenue", BOTH[1])
    for client in (browser(desk.person("cid", agencies=["revenue"])), browser(eva)):
        text = client.get(reverse("review:item", args=[item.pk])).content.decode()
        assert "Tarrow Revenue Office (with National Civil Registry, Social Support Fund)" in text
        assert "Tarrow Revenue Office (with" in client.get(QUEUE).content.decode()
    deciding.undo(decision_id=handed.pk, actor=eva, reason=REASON)
    assert (the_item(item.turn).agency, names(item)) == ("", [*BOTH])


def test_a_filter_finds_what_an_agency_has_a_part_in(item: ReviewItem) -> None:
    client = Reviewer(desk.person("eva"))
    for agency, result in ((BOTH[0], True), (BOTH[1], True), ("revenue", False)):
        rows = client.get(agency=agency).json()["items"]
        assert [row["id"] for row in rows] == ([str(item.pk)] if result else [])
    name = {"name": "Ours", "query": f"agency={BOTH[1]}"}
    page = browser(person("ben", Role.CASEWORKER, BOTH[0]))
    page.post(reverse("review:save_view"), name)
    assert f"row-{item.pk}" in page.get(f"{QUEUE}?{name['query']}").content.decode()


def test_who_has_no_agency_yet_is_told_why_the_list_is_empty(item: ReviewItem) -> None:
    text = "No agency is set for you yet"
    ida = someone("ida", Role.CASEWORKER)
    page = browser(ida).get(QUEUE).content.decode()
    assert text in page
    assert str(item.pk) not in page
    for scope in (["housing"], ["*"]):
        member = someone(f"of-{scope[0].strip('*')}", Role.CASEWORKER, *scope)
        assert text not in browser(member).get(QUEUE).content.decode()
