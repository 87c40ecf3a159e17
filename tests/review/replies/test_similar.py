"""Similar decided cases: which are shown to whom, and what of them is used again."""

from __future__ import annotations

import json
import time

import pytest

from conversations.turns import erasing
from ieim.audit.models import PEOPLE_CHAIN, AuditEvent
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.search.embedders import CheckedEmbedder
from review.models import Action, ReviewItem
from review.replies import similar
from review.replies.models import MessageVector
from tests.embedders import Ideas
from tests.review import desk
from tests.review.desk import BAD
from tests.review.people import belong, browser, person
from tests.review.reviewing import Reviewer, path_of

pytestmark = pytest.mark.usefixtures("published")
SCRIPT = {"category_select_v1": BAD}
EXTEND, CHECK = "immigration.extend-tourist-visa", "immigration.check-visa-application"


@pytest.fixture
def eva(published: None) -> User:
    return person("eva", Role.CASEWORKER, "immigration")


@pytest.fixture(autouse=True)
def ideas(monkeypatch: pytest.MonkeyPatch) -> Ideas:
    """An embedder without a model."""
    embedder = Ideas()
    checked = CheckedEmbedder(embedder, clock=time.monotonic)
    monkeypatch.setattr(similar, "configured_embedder", lambda: checked)
    return embedder


def stopped(text: str) -> ReviewItem:
    return desk.the_item(desk.ask(text, SCRIPT))


def decided(text: str, by: User, reply: str, *, service: str = "") -> ReviewItem:
    item = belong(stopped(text), "immigration")
    sources = [{"agency": "immigration", "service": service}] if service else []
    # Confirmed, whatever the reply states.
    desk.taken_and_decided(item, by, Action.WRITE, text=reply, sources=sources, confirmed=True)
    return item


def test_a_reply_about_another_service_is_not_similar(eva: User) -> None:
    text = "How do I extend my tourist visa please?"
    near = decided(text, eva, "Use the form.", service=EXTEND)
    decided(text, eva, "Ask for a licence.", service=CHECK)
    item = stopped("How can I extend my tourist visa?")
    assert [case.item for case in similar.similar_cases(item, eva)] == [near]


def test_the_nearest_are_shown_with_what_was_sent_and_by_whom(eva: User) -> None:
    near = decided("How do I extend my tourist visa please?", eva, "Use the extension form.")
    decided("Somebody took my wages, whom do I tell?", eva, "Tell the police.")
    item = desk.take(stopped("How can I extend my tourist visa?"), eva)
    html = browser(eva).get(f"/review/{item.pk}/similar/").content.decode()
    assert "How do I extend my tourist visa please?" in html
    assert "Use the extension form." in html
    assert "Decided by Eva" in html
    assert "my wages" not in html
    (case,) = Reviewer(eva).get(f"{path_of(item)}similar/").json()["items"]
    assert (case["item"], case["sent"], case["decided_by"]) == (
        str(near.pk),
        "Use the extension form.",
        "eva",
    )
    listed = AuditEvent.objects.get(chain=PEOPLE_CHAIN, kind="review.listed")
    assert json.loads(listed.payload) == {"items": [str(near.pk)]}


def test_a_case_out_of_sight_is_neither_shown_nor_used(eva: User) -> None:
    root = desk.person("root", *desk.ALL)
    near = decided("How do I extend my tourist visa please?", root, "Use the form.")
    ReviewItem.objects.filter(pk=near.pk).update(agencies=None, agency="")
    item = desk.take(stopped("How can I extend my tourist visa?"), eva)
    assert similar.similar_cases(item, eva) == []
    page = browser(eva)
    assert page.post(f"/review/{item.pk}/insert/", {"insert": f"case-{near.pk}"}).status_code == 404
    assert page.post(f"/review/{item.pk}/insert/", {"insert": f"case-{item.pk}"}).status_code == 404
    assert Reviewer(eva).get(f"{path_of(near)}similar/").status_code == 404


def test_its_text_goes_into_the_reply_without_the_others_data(eva: User) -> None:
    near = decided(
        "How do I extend my tourist visa? Write to ann.miller@example.org",
        eva,
        "We wrote to ann.miller@example.org.",
    )
    item = desk.take(stopped("How can I extend my tourist visa?"), eva)
    asked = {"insert": f"case-{near.pk}"}
    html = browser(eva).post(f"/review/{item.pk}/insert/", asked).content.decode()
    box = html.partition('id="write-text"')[2].partition("</textarea>")[0]
    assert box.endswith("\nWe wrote to {email}.")


def test_its_vector_is_made_once_and_goes_with_the_conversation(eva: User, ideas: Ideas) -> None:
    near = decided("How do I extend my tourist visa please?", eva, "Use the form.")
    item = stopped("How can I extend my tourist visa?")
    for _ in range(2):
        assert [case.item for case in similar.similar_cases(item, eva)] == [near]
    assert ideas.asked == [item.turn.text, near.turn.text, item.turn.text]
    ideas.down = True
    assert similar.similar_cases(item, eva) == []
    assert MessageVector.objects.get().item_id == near.pk
    erasing.erase_session(session_id=near.turn.session_id)
    assert not MessageVector.objects.exists()
