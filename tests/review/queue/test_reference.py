"""The citizen's reference finds the item and the conversation, wherever they are."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from conversations.models import Session
from conversations.turns import erasing
from ieim.people.models import User
from ieim.people.roles import Role
from review.models import ReviewItem
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import BAD, the_item
from tests.review.people import browser, person
from tests.review.reviewing import Reviewer
from tests.selection import sample

pytestmark = pytest.mark.usefixtures("published")

QUEUE = reverse("review:queue")
AUDIT = reverse("audit:events")


@pytest.fixture
def eva(published: None) -> User:
    return person("eva")


@pytest.fixture
def item(published: None) -> ReviewItem:
    item = the_item(desk.ask(VISA, {"category_select_v1": BAD}))
    Session.objects.filter(pk=item.turn.session_id).update(reference="K7M-4QX9")
    the_item(desk.ask(VISA, {"category_select_v1": BAD}))
    return item


def references(user: User, typed: str, **params: str) -> list[str]:
    """What the queue and REST find, which is the same."""
    text = browser(user).get(QUEUE, {"q": typed, **params}).content.decode()
    matches = re.findall(r'id="row-([0-9a-f-]+)"', text)
    listed = [result["id"] for result in Reviewer(user).get(q=typed, **params).json()["items"]]
    assert matches == listed
    return matches


@pytest.mark.parametrize(
    "typed",
    sample(
        ["K7M-4QX9", "k7m-4qx9", "K7M4QX9", "k7m4qx9", " K7M-4QX9  ", "k7M 4qX9", "K7M–4QX9"],
        keep=2,
    ),
)
def test_however_it_is_written(item: ReviewItem, eva: User, typed: str) -> None:
    assert references(eva, typed) == [str(item.pk)]


@pytest.mark.whole
@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("open", "Open"),
        ("claimed", "Open"),
        ("second_opinion", "Waiting for a second opinion"),
        ("decided", "Done"),
    ],
)
@pytest.mark.parametrize("params", [{}, {"tab": "done"}, {"tab": "mine", "agency": "housing"}])
def test_in_every_state_and_list(
    item: ReviewItem, eva: User, state: str, message: str, params: dict[str, str]
) -> None:
    decided = timezone.now() if state == "decided" else None
    colleague = person("colleague") if state == "claimed" else None
    later = timezone.now() + timedelta(hours=1) if colleague else None
    ReviewItem.objects.filter(pk=item.pk).update(
        state=state, decided_at=decided, claimed_by=colleague, claimed_until=later
    )
    assert references(eva, "k7m4qx9", **params) == [str(item.pk)]
    text = browser(eva).get(QUEUE, {"q": "k7m4qx9", **params}).content.decode()
    assert f"In “{message}”" in text
    assert "The conversation K7M-4QX9 began on" in text


def test_only_for_those_who_may_see_the_item(item: ReviewItem) -> None:
    ben = person("ben", Role.CASEWORKER, "housing")
    assert references(ben, "K7M-4QX9") == []
    text = browser(ben).get(QUEUE, {"q": "K7M-4QX9"}).content.decode()
    assert "The conversation K7M-4QX9 is with another agency." in text
    assert VISA not in text
    session = Reviewer(ben).get(q="K7M-4QX9").json()["session"]
    assert (session["elsewhere"], session["state"], session["messages"]) == (True, "", 0)


def test_a_conversation_that_no_person_had_to_see(eva: User) -> None:
    turn = desk.ask(VISA, {})
    Session.objects.filter(pk=turn.session_id).update(reference="PAS-SAGE")
    assert references(eva, "passage") == []
    text = browser(eva).get(QUEUE, {"q": "passage"}).content.decode()
    assert "has 1 message. Its last one: answered." in text
    assert "None of its messages has come to a person." in text
    session = Reviewer(eva).get(q="passage").json()["session"]
    assert (session["reference"], session["state"], session["messages"]) == (
        "PAS-SAGE",
        "answered",
        1,
    )


def test_what_only_looks_like_one_is_a_word(eva: User) -> None:
    item = the_item(desk.ask(f"{VISA} for my passage", {"category_select_v1": BAD}))
    assert references(eva, "passage") == [str(item.pk)]
    assert Reviewer(eva).get(q="passage").json()["session"] is None


def test_of_an_erased_conversation_nothing_is_left_but_that(item: ReviewItem, eva: User) -> None:
    erasing.erase_session(session_id=item.turn.session_id)
    assert references(eva, "K7M-4QX9") == []
    text = browser(eva).get(QUEUE, {"q": "K7M-4QX9"}).content.decode()
    assert "and was erased." in text


@pytest.mark.parametrize("agencies", [(), ("housing",)])
def test_an_auditor_gets_from_a_reference_to_what_is_recorded(
    item: ReviewItem, agencies: tuple[str, ...]
) -> None:
    client = browser(person("ada", Role.AUDITOR, *agencies))
    text = client.get(QUEUE, {"q": "k7m4qx9"}).content.decode()
    link = re.search(r'href="([^"]+)">See what is recorded of it', text)
    assert link is not None
    for address in (link[1], f"{AUDIT}?about=k7m4qx9", f"{AUDIT}?about={item.turn.session_id}"):
        response = client.get(address, follow=True)
        assert "What happened to K7M-4QX9" in response.content.decode()
        rows = response.context["page"]["rows"]
        assert {row["event"].chain for row in rows} == {item.turn.session_id}


def test_who_may_not_read_the_record_is_not_led_there(item: ReviewItem, eva: User) -> None:
    assert "recorded of it" not in browser(eva).get(QUEUE, {"q": "k7m4qx9"}).content.decode()


def test_one_without_a_message_is_not_called_erased(eva: User) -> None:
    session = Session.objects.create(secret_sha256="0" * 64, reference="K7M-4QX9")
    text = browser(eva).get(QUEUE, {"q": session.reference}).content.decode()
    assert "has no message yet." in text
