"""Saved replies: who keeps which, what is inserted, and what stops a gap from being sent."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from conversations.models import Line
from ieim.audit.models import PEOPLE_CHAIN, AuditEvent
from ieim.people.models import User
from ieim.people.roles import Role
from review import talking
from review.models import ReviewItem
from review.replies import placeholders
from review.replies.models import SavedReply
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import BAD
from tests.review.people import browser, person
from tests.review.reviewing import Reviewer, path_of

PAGE = "/review/replies/"
REST = "/api/v1/review/replies/"
SERVICE = {"agency": "immigration", "service": "immigration.extend-tourist-visa"}
FILLED = "Fee of Extend a tourist visa: "

pytestmark = pytest.mark.usefixtures("published")


@pytest.fixture
def eva(published: None) -> User:
    return person("eva", Role.CASEWORKER, "immigration")


@pytest.fixture
def item(published: None, eva: User) -> ReviewItem:
    return desk.take(desk.the_item(desk.ask(VISA, {"category_select_v1": BAD})), eva)


def stored(**values: Any) -> SavedReply:
    row = {"title": "Fee", "language": "en", "text": "Fee of {service.name}: {service.fee}"}
    return SavedReply.objects.create(**{**row, "agency": "immigration", **values})


def form(**values: str) -> dict[str, str]:
    return {"title": "Fee", "language": "en", "agency": "immigration", "text": "Pay.", **values}


def test_a_text_is_kept_changed_and_deleted_and_the_record_has_no_word_of_it(eva: User) -> None:
    page = browser(eva)
    assert page.post(PAGE, form(text="Pay {service.fee}.")).status_code == 302
    reply = SavedReply.objects.get()
    assert "Never" in page.get(PAGE).content.decode()
    assert "Pay {service.fee}." in page.get(f"{PAGE}?reply={reply.pk}").content.decode()
    page.post(PAGE, form(text="Pay at once.", reply=str(reply.pk)))
    assert SavedReply.objects.get().text == "Pay at once."
    page.post(PAGE, {"reply": str(reply.pk), "delete": "yes"})
    assert not SavedReply.objects.exists()
    events = AuditEvent.objects.filter(chain=PEOPLE_CHAIN, kind__startswith="review.reply")
    assert [event.kind for event in events.order_by("seq")] == [
        *("review.reply_saved", "review.reply_saved", "review.reply_deleted")
    ]
    assert not any("Pay" in event.payload for event in events)


def test_a_text_that_a_colleague_has_changed_or_deleted_is_not_overwritten(eva: User) -> None:
    reply, page = stored(), browser(eva)
    seen = re.search('name="seen" value="([0-9a-f]+)"', text_of(page, reply))
    SavedReply.objects.filter(pk=reply.pk).update(text="Theirs.")
    typed = form(text="Mine.", reply=str(reply.pk), seen=seen[1] if seen else "")
    refused = page.post(PAGE, typed)
    assert refused.status_code == 422
    assert {"Theirs.", "Mine."} <= set(re.findall(r"Theirs\.|Mine\.", refused.content.decode()))
    assert SavedReply.objects.get().text == "Theirs."
    SavedReply.objects.all().delete()
    gone = page.post(PAGE, typed)
    assert (gone.status_code, "Mine." in gone.content.decode()) == (422, True)


def text_of(page: Any, reply: SavedReply) -> str:
    return str(page.get(f"{PAGE}?reply={reply.pk}").content.decode())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"text": "It costs {service.prize}."}, "There is no placeholder {service.prize}."),
        ({"text": " "}, "Give the text a title"),
        ({"title": "x" * 81}, "A title has at most 80 characters"),
        ({"language": "xx"}, "Choose a language and an agency"),
        ({"agency": "social-support"}, "Choose a language and an agency"),
        ({"agency": ""}, "Choose a language and an agency"),
        ({"text": "a\0b"}, "a character that cannot be shown"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_what_was_typed(
    eva: User, values: dict[str, str], message: str
) -> None:
    response = browser(eva).post(PAGE, form(**values))
    assert (response.status_code, message in response.content.decode()) == (422, True)
    assert 'value="Fee"' in response.content.decode() or "title" in values
    assert not SavedReply.objects.exists()


def test_only_a_supervisor_keeps_a_text_of_every_agency(eva: User) -> None:
    reply = stored(agency="")
    refused = browser(eva).post(PAGE, {"reply": str(reply.pk), "delete": "yes"})
    assert "a supervisor changes it" in refused.content.decode()
    sue = Reviewer(person("sue", Role.SUPERVISOR, "immigration"))
    assert (
        sue.http.delete(f"{REST}{reply.pk}/", headers={"X-CSRFToken": sue.csrf}).status_code == 204
    )


def test_another_agencys_text_is_not_there(eva: User, item: ReviewItem) -> None:
    reply = stored(agency="social-support", title="Theirs")
    page = browser(eva)
    assert "Theirs" not in page.get(PAGE).content.decode()
    assert "Theirs" not in page.get(f"/review/{item.pk}/").content.decode()
    assert page.get(f"{PAGE}?reply={reply.pk}").status_code == 404
    asked = {"insert": f"reply-{reply.pk}", "action": "write"}
    assert page.post(f"/review/{item.pk}/insert/", asked).status_code == 404
    assert page.post(PAGE, {"reply": str(reply.pk), "delete": "yes"}).status_code == 404
    assert Reviewer(eva).post(f"{REST}{reply.pk}/", {"item": str(item.pk)}).status_code == 404


def test_those_for_this_citizen_come_first(eva: User, item: ReviewItem) -> None:
    stored(title="French", language="fr")
    stored(title="Everybody’s", agency="", used=9)
    stored(title="Ours")
    html = browser(eva).get(f"/review/{item.pk}/").content.decode()
    assert html.index("Ours<") < html.index("Everybody’s<") < html.index("French<")


def test_it_is_inserted_filled_from_the_chosen_service_behind_what_was_typed(
    eva: User, item: ReviewItem
) -> None:
    reply, page = stored(), browser(eva)
    chosen = {"serve-service": "/immigration/immigration.extend-tourist-visa"}
    asked = {"insert": f"reply-{reply.pk}", "action": "ask", "ask-text": "Hello.", **chosen}
    html = page.post(f"/review/{item.pk}/insert/", asked).content.decode()
    assert f"Hello.\n\n{FILLED}" in html
    assert "{service" not in html.partition('id="ask-text"')[2].partition("</textarea>")[0]
    answer = page.post(f"/review/{item.pk}/insert/", asked, headers={"HX-Request": "true"})
    assert answer.json()["field"] == "ask-text"
    assert answer.json()["text"].startswith(FILLED)
    reply.refresh_from_db()
    assert (reply.used, reply.last_used_at is not None) == (2, True)


def test_a_gap_without_a_value_stays_and_cannot_be_sent(eva: User, item: ReviewItem) -> None:
    reply, program = stored(text="Come to {service.address}."), Reviewer(eva)
    filled = program.post(f"{REST}{reply.pk}/", {"item": str(item.pk), **SERVICE})
    assert filled.json() == {"text": "Come to {service.address}."}
    body = {"action": "write", "reason": "Asked.", "payload": filled.json()}
    refused = program.decide(item, body)
    assert (refused.status_code, refused.json()["detail"]) == (
        422,
        "The text has a gap that is not filled in: {service.address}",
    )
    talking.begin(item_id=item.pk, actor=eva)
    said = program.post(f"{path_of(item)}messages/", filled.json())
    assert (said.status_code, Line.objects.filter(kind="said").count()) == (422, 0)


def test_a_talk_gets_it_into_its_own_box(eva: User, item: ReviewItem) -> None:
    reply, page = stored(), browser(eva)
    talking.begin(item_id=item.pk, actor=eva)
    assert f'value="reply-{reply.pk}"' in page.get(f"/review/{item.pk}/talk/").content.decode()
    asked = {"insert": f"reply-{reply.pk}", "text": "Hi!"}
    html = page.post(f"/review/{item.pk}/insert/", asked).content.decode()
    assert f"Hi!\n\n{FILLED}" in html


def test_programs_keep_texts_too(eva: User) -> None:
    program = Reviewer(eva)
    made = program.post(REST, form(text="Pay {service.fee}."))
    assert (made.status_code, made.json()["used"]) == (201, 0)
    wrong = program.post(REST, form(text="{nothing}"))
    assert (wrong.status_code, "{nothing}" in wrong.json()["detail"]) == (422, True)
    changed = program.http.put(
        f"{REST}{made.json()['id']}/",
        form(title="Fees"),
        content_type="application/json",
        headers={"X-CSRFToken": program.csrf},
    )
    assert changed.json()["title"] == "Fees"
    assert [reply["title"] for reply in program.get(REST).json()["items"]] == ["Fees"]


def test_the_documentation_lists_every_placeholder() -> None:
    text = (settings.BASE_DIR / "docs" / "reviewing.md").read_text()
    assert [name for name in placeholders.PLACEHOLDERS if f"`{{{name}}}`" not in text] == []


def test_an_auditor_keeps_none() -> None:
    client: Client = browser(person("ann", Role.AUDITOR))
    assert client.get(PAGE).status_code == 403
