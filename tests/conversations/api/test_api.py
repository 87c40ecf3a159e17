"""The REST API: sessions, messages, what comes of them."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from conversations.models import ClientTurn, Session, Turn
from conversations.turns import erasing, refusing, running, services
from tests.conversations.api import integrating
from tests.conversations.api.integrating import JSON, SESSIONS, Integrator
from tests.fixtures import VISA
from tests.model_server import scripted_model

pytestmark = pytest.mark.usefixtures("published", "no_rates")
no_rates = integrating.no_rates
BAD = ["no json", "no json"]


@pytest.fixture
def client() -> Integrator:
    return Integrator()


def run(turn: str, model: object = None) -> None:
    running.run_turn(turn_id=uuid.UUID(turn), model=model)  # type: ignore[arg-type]


def test_it_makes_a_session_and_tells_its_token_once() -> None:
    response = Client().post(SESSIONS, content_type=JSON)
    body = response.json()
    assert response.status_code == 201
    assert response["Location"] == f"{SESSIONS}{body['id']}/"
    assert "no-store" in response["Cache-Control"]
    session = Session.objects.get(pk=body["id"])
    assert session.reference == body["reference"]
    assert session.secret_sha256 == services.secret_digest(body["token"])
    link = body["link"].removeprefix("http://testserver/c/").removesuffix("/")
    assert session.link_sha256 == services.secret_digest(link)
    for secret in (body["token"], link):
        assert secret not in str(vars(session))


def test_it_sets_no_cookie_and_asks_for_no_form_token(client: Integrator) -> None:
    for response in (client.ask(VISA), client.get()):
        assert response.status_code < 300
        assert not response.cookies
        assert "Access-Control-Allow-Origin" not in response


def test_it_answers_a_message(client: Integrator) -> None:
    response = client.ask(VISA)
    turn = response.json()
    assert response.status_code == 202
    assert response["Location"] == f"/api/v1/turns/{turn['id']}/"
    assert (turn["state"], turn["number"], turn["text"]) == ("queued", 1, VISA)
    assert turn["reply"] is None
    run(turn["id"])
    answered = client.get(response["Location"]).json()
    assert answered["state"] == "answered"
    assert {step["status"] for step in answered["steps"]} == {"done"}
    reply = answered["reply"]
    assert (reply["kind"], reply["origin"], reply["offline"]) == ("service", "index", True)
    assert "visa" in reply["title"].lower()
    assert reply["sources"][0]["url"].startswith("https://")
    session = client.get().json()
    assert session["turns"] == [answered]
    assert session["id"] == client.id


def test_it_shows_a_held_message_without_what_staff_see(client: Integrator) -> None:
    turn = client.ask(VISA).json()["id"]
    with scripted_model({"agency_detect_v1": BAD}) as (model, _):
        run(turn, model)
    response = client.get(f"/api/v1/turns/{turn}/")
    data = response.json()
    assert (data["state"], data["reply"]) == ("needs_review", None)
    assert [step["status"] for step in data["steps"]][:2] == ["done", "stopped"]
    for staff_only in ("json.syntax", "no json", "agency_detect_v1", "attempt"):
        assert staff_only not in response.content.decode()


def test_it_shows_emergency_contacts_at_once(client: Integrator) -> None:
    assert client.ask("I want to kill myself").json()["contacts"]
    assert Turn.objects.get().state == "queued"


def test_it_keeps_a_message_as_it_was_sent(client: Integrator) -> None:
    text = " I want\r\n to extend my visa \U0001f600 "
    assert client.ask(text).json()["text"] == text
    assert Turn.objects.get().text == text


def test_it_gives_the_same_turn_for_the_same_message(client: Integrator) -> None:
    first = client.ask(VISA, client_id="m-1")
    again = client.ask(VISA, client_id="m-1")
    assert (first.status_code, again.status_code) == (202, 200)
    assert again.json()["id"] == first.json()["id"]
    assert again["Location"] == first["Location"]
    run(first.json()["id"])
    assert client.ask(VISA, client_id="m-1").json()["state"] == "answered"
    assert Turn.objects.count() == 1


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_it_takes_a_message_sent_many_times_at_once_once(
    client: Integrator, in_threads: Callable[..., list[tuple[Turn, bool]]]
) -> None:
    session = uuid.UUID(client.id)
    ask = partial(services.receive, session=session, text=VISA, client_id="m-1")
    taken = in_threads([ask] * 6)
    assert [is_new for _, is_new in taken].count(True) == 1
    assert {turn.pk for turn, _ in taken} == {Turn.objects.get().pk}


def test_it_refuses_a_client_id_for_another_text(client: Integrator) -> None:
    run(client.ask(VISA, client_id="m-1").json()["id"])
    response = client.ask("And how much is it?", client_id="m-1")
    assert response.status_code == 409
    assert response.json()["type"] == "urn:ieim:problem:client-id-reused"
    assert Turn.objects.count() == 1


def test_it_lets_each_session_name_its_messages(client: Integrator) -> None:
    other = Integrator()
    assert client.ask(VISA, client_id="m-1").status_code == 202
    assert other.ask(VISA, client_id="m-1").status_code == 202


def test_it_has_the_database_refuse_a_name_twice(client: Integrator) -> None:
    run(client.ask(VISA, client_id="m-1").json()["id"])
    second = Turn.objects.get(pk=client.ask("And what does it cost?").json()["id"])
    with pytest.raises(IntegrityError), transaction.atomic():
        ClientTurn.objects.create(session=second.session, turn=second, client_id="m-1")


def test_it_lets_the_next_message_wait(client: Integrator) -> None:
    client.ask(VISA)
    response = client.ask("And how much is it?")
    assert response.status_code == 409
    assert response.json() == {
        "type": "urn:ieim:problem:turn-pending",
        "title": "The last message is still being worked on",
        "status": 409,
        "detail": refusing.STILL_WORKING,
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "no text"), (" \n\u200b", "no text"), ("x" * 2001, "2,001 characters")],
)
def test_it_says_why_a_message_is_refused(client: Integrator, text: str, says: str) -> None:
    response = client.ask(text)
    assert response.status_code == 422
    assert response.json()["type"] == "urn:ieim:problem:message-refused"
    assert says in response.json()["detail"]
    assert not Turn.objects.exists()


def test_it_opens_the_conversation_in_a_browser(client: Integrator) -> None:
    client.ask(VISA)
    browser = Client()
    assert browser.post(client.link).status_code == 303
    assert VISA in browser.get("/").content.decode()


def test_a_link_opens_no_rest_and_a_token_no_page(client: Integrator) -> None:
    client.ask(VISA)
    browser = Client()
    for method in (browser.get, browser.post):
        assert method(f"/c/{client.token}/").status_code == 404
    client.bearer = f"Bearer {client.link.split('/')[2]}"
    assert client.get().status_code == 401


def test_the_secret_of_a_page_opens_no_rest(client: Integrator) -> None:
    page = services.receive(session="its-secret", text=VISA, enqueue=False)[0].session
    assert Client().get("/c/its-secret/").status_code == 200
    client.bearer = "Bearer its-secret"
    assert client.get(f"{SESSIONS}{page.pk}/").status_code == 401


def test_who_has_the_link_writes_into_the_same_session(client: Integrator) -> None:
    browser = Client()
    browser.post(client.link)
    browser.post("/ask/", {"text": VISA})
    assert [turn["text"] for turn in client.get().json()["turns"]] == [VISA]
    assert Session.objects.count() == 1
    erasing.erase_session(session_id=uuid.UUID(client.id))
    assert browser.post(client.link).status_code == 404
    assert client.get().status_code == 401


def test_one_secret_goes_on_opening_what_was_made_with_one(client: Integrator) -> None:
    """Of sessions from before links and tokens were apart."""
    Session.objects.update(link_sha256="")
    assert client.get().status_code == 200
    browser = Client()
    assert browser.post(f"/c/{client.token}/").status_code == 303
    browser.post("/ask/", {"text": VISA})
    assert [turn["text"] for turn in client.get().json()["turns"]] == [VISA]


@pytest.mark.parametrize("path", ["{session}", "{turn}"])
def test_it_shows_nothing_to_another_sessions_token(client: Integrator, path: str) -> None:
    turn = client.ask(VISA).json()["id"]
    other = Integrator()
    address = path.format(session=client.path, turn=f"/api/v1/turns/{turn}/")
    made_up = path.format(
        session=f"{SESSIONS}{uuid.uuid4()}/", turn=f"/api/v1/turns/{uuid.uuid4()}/"
    )
    assert client.get(address).status_code == 200
    assert other.get(address).status_code == 404
    assert other.get(address).json() == other.get(made_up).json()


def test_it_lets_no_other_token_write_or_erase(client: Integrator) -> None:
    other = Integrator()
    assert other.call("POST", f"{client.path}turns/", {"text": VISA}).status_code == 404
    assert other.call("DELETE", client.path).status_code == 404
    assert client.get().json()["turns"] == []


def test_it_erases_a_session(client: Integrator) -> None:
    run(client.ask(VISA).json()["id"])
    response = client.call("DELETE", client.path)
    assert (response.status_code, response.content) == (204, b"")
    assert client.get().status_code == 401
    assert client.call("DELETE", client.path).status_code == 401
    assert client.ask(VISA).status_code == 401
