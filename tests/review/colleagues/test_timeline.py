"""A conversation in order of time: what was said, opened, decided and noted, each with who."""

from __future__ import annotations

import pytest

from ieim.audit.models import AuditEvent
from ieim.people.models import User
from ieim.people.roles import Role
from review.colleagues.services import add_note
from review.models import Action
from tests.fixtures import VISA
from tests.review import desk
from tests.review.people import browser, person
from tests.review.reviewing import Reviewer, path_of

pytestmark = pytest.mark.usefixtures("published")


@pytest.fixture
def eva(published: None) -> User:
    return person("eva", Role.CASEWORKER, name="Eva Ek")


def test_everything_is_in_one_list_in_order_of_time(eva: User) -> None:
    item = desk.the_item(desk.ask(VISA, {"service_select_v1": desk.BAD}, secret="a"))
    add_note(item_id=item.pk, actor=eva, text="I call them.")
    desk.taken_and_decided(item, eva, Action.WRITE, text="Please come.", sources=[])
    desk.ask("Where is it?", {}, secret="a")
    entries = Reviewer(eva).get(f"{path_of(item)}timeline/").json()
    assert [entry["at"] for entry in entries] == sorted(entry["at"] for entry in entries)
    assert [(entry["who"], entry["by"]) for entry in entries][:5] == [
        ("citizen", ""),
        ("note", ""),
        ("colleague", "Eva Ek"),
        ("decision", "Eva Ek"),
        ("staff", ""),
    ]
    texts = [entry["text"] for entry in entries]
    assert texts[0] == VISA
    assert texts[2] == "I call them."
    assert texts[3].endswith(desk.REASON)
    assert "Please come." in texts[4]
    assert "Where is it?" in texts[5:]
    client = browser(eva)
    whole = client.get(f"/review/{item.pk}/timeline/").content.decode()
    part = client.get(f"/review/{item.pk}/timeline/", headers={"HX-Request": "true"})
    assert part.content.decode().strip() in whole
    words = desk.words(part.content.decode())
    shown = ["Citizen", "Item for a person:", "Note by Eva Ek", "Decision by Eva Ek", "Staff"]
    places = [words.index(each) for each in shown]
    assert places == sorted(places)


def test_reading_it_is_recorded_and_is_for_who_sees_the_item(eva: User) -> None:
    item = desk.the_item(desk.ask(VISA, {"service_select_v1": desk.BAD}))
    stranger = person("ola", Role.CASEWORKER, "tax")
    assert browser(stranger).get(f"/review/{item.pk}/timeline/").status_code == 404
    assert Reviewer(stranger).get(f"{path_of(item)}timeline/").status_code == 404
    browser(eva).get(f"/review/{item.pk}/timeline/")
    read = AuditEvent.objects.filter(chain=item.turn.session_id, kind="review.read")
    assert [event.actor for event in read] == ["staff:eva"]
