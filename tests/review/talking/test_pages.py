"""The caseworker's side of a conversation, on the page and by REST; and the citizen's page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.chat import cookies
from conversations.models import Line, PersonRequest
from conversations.turns.services import new_secret, receive
from ieim.people.models import User
from review import deciding
from review.models import ReviewItem
from tests.conversations.api import integrating
from tests.conversations.api.integrating import Integrator
from tests.conversations.person.asking import ADDRESS, HELP, NUMBER, item_of, wants
from tests.fixtures import VISA
from tests.review import desk
from tests.review.reviewing import Reviewer, path_of

no_rates = integrating.no_rates


@pytest.fixture
def request_(published: None) -> PersonRequest:
    return wants("a", way="call", contact=NUMBER)


@pytest.fixture
def eva(db: None) -> User:
    return desk.person("eva")


def desk_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def address(name: str, item: ReviewItem) -> str:
    return reverse(f"review:{name}", args=[item.pk])


def browser(secret: str) -> Client:
    client, response = Client(), HttpResponse()
    cookies.set_cookie(response, secret)
    client.cookies = response.cookies
    return client


# ---- the citizen's page


def test_a_citizen_asks_on_a_page_of_its_own(published: None) -> None:
    receive(session="a", text=VISA, enqueue=False)[0]
    citizen = browser("a")
    page = citizen.get("/person/").content.decode()
    assert VISA in page
    assert "Monday to Friday" in page
    body = {"text": HELP, "way": "call", "call": "+1 202 555 0143", "time": ""}
    answer = citizen.post("/person/", body)
    request = PersonRequest.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/#turn-{request.turn_id}")
    assert request.contact == NUMBER
    text = citizen.get("/").content.decode()
    assert "A person will answer you" in text
    assert "555" not in text.split("A person will answer you")[1].split("</div>")[0]
    assert "+1 202-555-0143" in citizen.get("/person/").content.decode()


def test_a_first_visit_can_be_for_a_person(published: None) -> None:
    citizen = Client()
    assert citizen.post("/person/", {"text": HELP, "way": "page"}).status_code == 303
    assert HELP in citizen.get("/").content.decode()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"way": "page"}, "Say what it is about"),
        ({"text": HELP, "way": "email", "email": "nobody"}, "name@example.org"),
        ({"text": HELP, "way": "call", "call": ""}, "telephone number"),
        ({"text": HELP}, "Choose how we can reach you"),
        ({"text": HELP, "way": "page", "about": "no id"}, "not in your conversation"),
        ({"text": "I want to die", "way": "email", "email": ""}, "name@example.org"),
    ],
)
def test_what_is_wrong_is_said_and_the_draft_is_kept(
    published: None, body: dict[str, str], words: str
) -> None:
    answer = Client().post("/person/", body)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert words in page
    assert body.get("text", "") in page
    assert not PersonRequest.objects.exists()


def test_a_citizen_takes_it_back_there(request_: PersonRequest) -> None:
    citizen = browser("a")
    assert citizen.post("/person/withdraw/").status_code == 303
    assert "You have taken this back" in citizen.get("/").content.decode()
    assert Client().post("/person/withdraw/").status_code == 303


# ---- the caseworker's


def test_it_is_found_by_its_kind_and_shows_how_to_reach_the_citizen(
    request_: PersonRequest, eva: User
) -> None:
    http = desk_of(eva)
    for query in ("", "?stage=person", "?reason=policy.person", "?q=papers"):
        assert HELP in http.get(f"/review/{query}").content.decode(), query
    assert HELP not in http.get("/review/?stage=reply").content.decode()
    page = http.get(address("item", item_of(request_))).content.decode()
    assert "Wants a call" in page
    assert "+1 202-555-0143" in page


def test_who_may_not_decide_is_not_shown_it(request_: PersonRequest) -> None:
    auditor = desk.person("aud", "view")
    page = desk_of(auditor).get(address("item", item_of(request_))).content.decode()
    assert "202" not in page.split("Wants a call")[1].split("</section>")[0]
    assert "Only who may decide" in page
    read = Reviewer(auditor).read(item_of(request_)).json()
    assert (read["person"]["way"], read["person"]["contact"]) == ("call", "")


def test_a_caseworker_talks_and_hands_back(request_: PersonRequest, eva: User) -> None:
    http, item = desk_of(eva), item_of(request_)
    assert "Take the conversation over" in http.get(address("talk", item)).content.decode()
    assert http.post(address("talk_begin", item)).status_code == 303
    assert "You have the conversation" in http.get(address("talk", item)).content.decode()
    assert http.post(address("talk_say", item), {"text": "Hello there."}).status_code == 303
    receive(session="a", text="I have a question.", enqueue=False)[0]
    text = http.get(address("talk", item), headers={"HX-Request": "true"}).content.decode()
    assert text.index("Hello there.") < text.index("I have a question.")
    assert "<html" not in text
    wrong = http.post(address("talk_say", item), {"text": "https://evil.example.com/"})
    assert wrong.status_code == 422
    assert "https://evil.example.com/" in wrong.content.decode()
    citizen = browser("a").get("/").content.decode()
    assert "A person wrote" in citizen
    assert "What you send goes to them".lower() in citizen.lower()
    assert http.post(address("talk_end", item)).status_code == 303
    assert "The person has left" in browser("a").get("/").content.decode()
    late = http.post(address("talk_say", item), {"text": "One more thing."})
    assert late.status_code == 422
    assert "One more thing." in late.content.decode()


def test_a_colleague_reads_along(request_: PersonRequest, eva: User) -> None:
    item = item_of(request_)
    desk_of(eva).post(address("talk_begin", item))
    other = desk_of(desk.person("ivo"))
    assert "eva has the conversation" in other.get(address("talk", item)).content.decode()
    assert other.post(address("talk_begin", item)).status_code == 409
    assert other.post(address("talk_say", item), {"text": "Hi."}).status_code == 409


def test_who_loses_the_item_loses_the_box_at_the_next_look(
    request_: PersonRequest, eva: User
) -> None:
    http, item = desk_of(eva), item_of(request_)
    http.post(address("talk_begin", item))
    look = {"HX-Request": "true"}
    assert "talk-do" not in http.get(address("talk", item), headers=look).content.decode()
    desk_of(desk.person("sue", *desk.ALL)).post(address("take_over", item))
    page = http.get(address("talk", item), headers=look).content.decode()
    assert 'id="talk-do" hx-swap-oob="true"' in page
    assert "sue has this item" in page
    assert "<form" not in page


def test_the_browser_may_forget_what_was_said(request_: PersonRequest, eva: User) -> None:
    http, item = desk_of(eva), item_of(request_)
    http.post(address("talk_begin", item))
    response = http.post(address("talk_say", item), {"text": "Hello there."})
    assert response.cookies[f"ieim-decided-{item.pk}-talk"].value == str(eva.pk)
    refused = http.post(address("talk_say", item), {"text": "https://evil.example.com/"})
    assert f"ieim-decided-{item.pk}-talk" not in refused.cookies


@pytest.mark.usefixtures("at_once")
def test_it_is_decided_as_done(request_: PersonRequest, eva: User) -> None:
    http, item = desk_of(eva), desk.take(item_of(request_), eva)
    page = http.get(address("item", item)).content.decode()
    assert "I have reached the citizen" in page
    assert "Approve it" not in page.split("What cannot be done")[0]
    body = {"action": "done", "reason": "I called them.", "version": str(item.version)}
    preview = http.post(address("preview", item), body)
    assert "a person has been in touch" in preview.content.decode()
    assert http.post(address("decide", item), body).status_code == 303
    assert "was erased" in http.get(address("item", item)).content.decode()
    assert "has been in touch with you" in browser("a").get("/").content.decode()


def test_it_is_done_after_the_seconds_in_which_it_can_be_taken_back(
    request_: PersonRequest, eva: User
) -> None:
    http, item = desk_of(eva), desk.take(item_of(request_), eva)
    body = {"action": "done", "reason": "I called them.", "version": str(item.version)}
    assert http.post(address("decide", item), body).status_code == 303
    decision = item.decisions.get()
    deciding.undo(decision_id=decision.pk, actor=eva, reason=desk.REASON)
    item.refresh_from_db()
    body["version"] = str(item.version)
    assert http.post(address("decide", item), body).status_code == 303
    deciding.sweep(now=timezone.now() + timedelta(minutes=1))
    item.refresh_from_db()
    assert item.state == "decided"
    assert "has been in touch with you" in browser("a").get("/").content.decode()


# ---- REST


def test_programs_ask_read_and_take_back(published: None, no_rates: None) -> None:
    program = Integrator()
    hours = program.get(f"{program.path}person/").json()
    assert hours["times"]
    body: dict[str, Any] = {"text": HELP, "way": "email", "contact": ADDRESS}
    made = program.call("POST", f"{program.path}person/", body)
    assert (made.status_code, made.json()["person"]["state"]) == (201, "open")
    assert ADDRESS not in made.content.decode()
    again = program.call("POST", f"{program.path}person/", body)
    assert (again.status_code, again.json()["type"]) == (409, "urn:ieim:problem:person-asked")
    assert program.call("DELETE", f"{program.path}person/").status_code == 204
    assert program.call("DELETE", f"{program.path}person/").status_code == 404
    body = {"text": HELP, "way": "call", "contact": "x"}
    assert program.call("POST", f"{program.path}person/", body).status_code == 422


def test_reviewers_talk_by_rest(request_: PersonRequest, eva: User) -> None:
    reviewer, path = Reviewer(eva), path_of(item_of(request_))
    read = reviewer.get(path).json()
    assert (read["stage"], read["person"]["contact"]) == ("person", "+1 202-555-0143")
    assert reviewer.post(f"{path}messages/", {"text": "Hello."}).status_code == 422
    assert reviewer.post(f"{path}talk/").status_code == 200
    response = reviewer.post(f"{path}messages/", {"text": "Hello."})
    assert (response.status_code, response.json()["text"]) == (201, "Hello.")
    ended = reviewer.http.delete(f"{path}talk/", headers={"X-CSRFToken": reviewer.csrf})
    assert ended.status_code == 204
    kinds = list(Line.objects.order_by("at").values_list("kind", flat=True))
    assert kinds == ["joined", "said", "left"]


def test_secrets_of_others_open_nothing(request_: PersonRequest) -> None:
    assert HELP not in browser(new_secret()).get("/person/").content.decode()
