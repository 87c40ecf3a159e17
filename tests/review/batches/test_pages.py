"""The pages of a decision on many items, and the same by REST."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from ieim.people.models import User
from ieim.people.roles import Role
from review import deciding
from review.batches import services
from review.deciding import Refused
from review.models import CRISIS, Action, Batch, BatchEntry, Decision, ReviewItem
from tests.fixtures import VISA
from tests.review import desk
from tests.review.batches.test_batches import SERVICE, stopped
from tests.review.people import browser, person
from tests.review.reviewing import Reviewer

pytestmark = pytest.mark.usefixtures("published")
QUEUE, BATCH = reverse("review:queue"), reverse("review:batch")
API = "/api/v1/review/"


@pytest.fixture
def eva(published: None) -> User:
    return person("eva")


@pytest.fixture
def client(eva: User) -> Client:
    return browser(eva)


def text_of(response: Any, status: int = 200) -> str:
    assert response.status_code == status
    return desk.words(response.content.decode())


def send(client: Client, items: list[ReviewItem], **form: Any) -> Any:
    return client.post(BATCH, {"item": [str(item.pk) for item in items], **form})


def test_chosen_items_are_previewed_and_decided_and_taken_back(client: Client) -> None:
    items = stopped(6)
    form = {"action": "ask", "ask-text": "Which visa is it?", "reason": "It is unclear."}
    page = text_of(send(client, items))
    assert "All of them get the same." in page
    assert (page.count(VISA), page.count("and 1 more")) == (5, 1)
    page = text_of(send(client, items, **form, look="yes"))
    assert page.count("Which visa is it?") == 5, "of the first five"
    assert "What the citizens will see: the first of 6" in page
    assert not Batch.objects.exists()

    response = send(client, items, **form, confirm="yes")
    batch = Batch.objects.get()
    address = reverse("review:batch_status", args=[batch.pk])
    assert (response.status_code, response["Location"]) == (303, address)
    assert "0 of 6" in text_of(client.get(address))
    services.run(batch_id=batch.pk)
    part = client.get(address, headers={"HX-Request": "true"})
    assert "Decided 6" in text_of(part)
    assert b"<html" not in part.content
    client.post(reverse("review:batch_undo", args=[batch.pk]))
    services.run(batch_id=batch.pk)
    assert "Taken back 6" in text_of(client.get(address))


def test_what_shows_danger_comes_last_for_it_is_not_decided_with_others(client: Client) -> None:
    items = stopped(6)
    ReviewItem.objects.filter(pk__in=[item.pk for item in items[:5]]).update(rank=CRISIS)
    form = {"action": "ask", "ask-text": "Which visa is it?", "reason": "It is unclear."}
    page = text_of(send(client, items, **form, look="yes"))
    assert page.count("Which visa is it?") == 1


def test_the_same_is_done_with_the_others_of_a_group(client: Client, eva: User) -> None:
    items = stopped(6)
    key = items[0].alike or ""
    like = str(desk.taken_and_decided(items[0], eva, Action.SERVICE, **SERVICE).pk)
    page = client.post(BATCH, {"like": like, "list": f"alike={key}"})
    assert "Do this with 5 items" in text_of(page)
    chosen = re.findall(r'name="item" value="([^"]+)"', page.content.decode())
    late = stopped(1)[0]
    client.post(BATCH, {"like": like, "item": chosen, "confirm": "yes"})
    services.run(batch_id=Batch.objects.get().pk)
    late.refresh_from_db()
    assert late.state == "open", "it came after the preview"
    decided = Decision.objects.exclude(item=items[0])
    assert {d.item_id for d in decided} == {item.pk for item in items[1:]}
    assert {(d.action, d.reason) for d in decided} == {("service", desk.REASON)}


def test_the_page_after_a_decision_offers_the_others(client: Client, eva: User) -> None:
    items = stopped(6)
    item = desk.take(items[0], eva)
    form = {"version": item.version, "action": "retry", "reason": "Away.", "why-retry": "0"}
    address = reverse("review:decide", args=[item.pk])
    html = client.post(address, form, follow=True).content.decode()
    assert "Do the same with the other 5" in html
    (like,) = re.findall(r'name="like" value="([^"]+)"', html)
    (key,) = re.findall(r'name="alike" value="([^"]+)"', html)
    page = client.post(BATCH, {"like": like, "alike": key, "list": ""})
    assert "Do this with 5 items" in text_of(page)


def test_what_is_wrong_is_said_and_nothing_begins(client: Client, eva: User) -> None:
    items = stopped(1)
    for form, problem in (
        ({"look": "yes"}, "Choose what to do."),
        ({"action": "ask", "look": "yes", "reason": "It is."}, "Write what you want to know"),
        # No answer to the first message is taken for that to all.
        ({"action": "service", "look": "yes", "reason": "It is."}, "Choose the service"),
        ({"action": "retry", "confirm": "yes", "reason": "a"}, "at least 3 letters"),
        ({"action": "write", "confirm": "yes", "reason": "It is."}, "Choose what to do."),
    ):
        assert problem in text_of(send(client, items, **form), 422)
    others = desk.taken_and_decided(stopped(1)[0], desk.person("zoe"), Action.RETRY)
    for values in (
        {"item": ["x"]},
        {"item": [str(uuid4())]},
        {"list": "alike=x"},
        {"list": "alike=%00"},
        {"alike": "x" * 300},
        {"item": [str(items[0].pk)], "like": str(others.pk)},
        {"item": [str(items[0].pk)], "like": "x"},
    ):
        response = client.post(BATCH, {**values, "confirm": "yes", "action": "retry"})
        assert (response.status_code, response["Location"]) == (303, QUEUE)
    assert not Batch.objects.exists()


def test_a_lead_comes_to_a_colleagues_batch_from_an_item(client: Client) -> None:
    items = stopped(1)
    send(client, items, action="retry", reason="Away.", confirm="yes")
    batch = Batch.objects.get()
    services.run(batch_id=batch.pk)
    address, item = (
        reverse("review:batch_status", args=[batch.pk]),
        reverse("review:item", args=[items[0].pk]),
    )
    lead = browser(person("lead", Role.SUPERVISOR))
    assert address in lead.get(item).content.decode()
    assert "Decided by Eva" in text_of(lead.get(address))
    assert address not in browser(person("ben")).get(item).content.decode()


def test_it_says_when_what_could_not_be_taken_back_goes_out(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = stopped(1)
    send(client, items, action="retry", reason="Away.", confirm="yes")
    batch = Batch.objects.get()
    services.run(batch_id=batch.pk)
    client.post(reverse("review:batch_undo", args=[batch.pk]))

    def fail(**_: Any) -> None:
        raise Refused("It is busy.")

    monkeypatch.setattr(deciding, "undo", fail)
    services.run(batch_id=batch.pk)
    page = text_of(client.get(reverse("review:batch_status", args=[batch.pk])))
    items[0].refresh_from_db()
    goes_out = date_format(timezone.localtime(items[0].takes_effect_at), "j F, H:i")
    assert f"It is busy. It goes out on {goes_out}." in page


def test_a_search_for_a_service_needs_no_script(client: Client) -> None:
    form = {"action": "service", "serve-words": "birth", "again": "search"}
    page = text_of(send(client, stopped(2), **form))
    assert "Register a birth" in page


def test_the_row_of_what_was_refused_says_why(client: Client, eva: User) -> None:
    items = stopped(1)
    batch = Batch.objects.create(
        actor=eva, action="retry", language="en", takes_effect_at=items[0].opened_at
    )
    BatchEntry.objects.create(batch=batch, item=items[0], state="refused", problem="It is busy.")
    assert "Not decided with others: It is busy." in text_of(client.get(QUEUE))
    other = browser(person("ben"))
    assert other.get(reverse("review:batch_status", args=[batch.pk])).status_code == 404
    assert other.post(reverse("review:batch_undo", args=[batch.pk])).status_code == 404


def test_it_is_done_by_rest(eva: User) -> None:
    items, program = stopped(5), Reviewer(eva)
    (group,) = program.get(f"{API}groups/").json()["groups"]
    assert (group["items"], group["alike"]) == (5, items[0].alike)
    body = {
        "items": [str(item.pk) for item in items],
        "action": "service",
        "reason": "It is this.",
        "payload": SERVICE,
    }
    response = program.post(f"{API}batches/", body)
    assert response.status_code == 202, response.content
    address = f"{API}batches/{response.json()['id']}/"
    services.run(batch_id=response.json()["id"])
    assert {entry["state"] for entry in program.get(address).json()["items"]} == {"decided"}
    headers = {"X-CSRFToken": program.csrf}
    assert program.http.delete(address, headers=headers).status_code == 202
    services.run(batch_id=response.json()["id"])
    assert {entry["state"] for entry in program.get(address).json()["items"]} == {"undone"}
    assert program.http.delete(address, headers=headers).status_code == 422
    assert Reviewer(person("ben")).get(address).status_code == 404
    assert program.post(f"{API}batches/", {**body, "action": "write"}).status_code == 422
    assert program.post(f"{API}batches/", {**body, "items": [str(uuid4())]}).status_code == 422
