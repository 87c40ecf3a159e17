"""What an administrator switches off stands still, says so, and loses nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.test import Client
from django.utils import timezone

from conversations.models import Turn
from conversations.outages import selectors as outages
from conversations.turns import running, services
from ieim.audit.models import AuditEvent
from review.models import Action, ReviewItem
from tests.administration.setting import put, refusal
from tests.conversations.api.integrating import SESSIONS, Integrator, set_rates
from tests.conversations.chat.tabs import tab, texts
from tests.fixtures import VISA, Ask
from tests.review import desk
from tests.review.people import person

pytestmark = pytest.mark.django_db(transaction=True)

OFF = "The assistant is switched off at the moment. What you asked before is safe."
DANGER = "I want to kill myself"


@pytest.fixture(autouse=True)
def _no_worker(published: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conversations.turns.moves.queue", lambda turn_id: None)


def body(response: Any) -> str:
    text: str = response.content.decode()
    return text


def test_the_page_says_so_in_its_language_and_takes_nothing() -> None:
    browser = Client()
    browser.post("/ask/", {"text": VISA})
    turn = Turn.objects.get()
    put("switches", chat="on")
    assert OFF in body(browser.get("/"))
    german = Client(headers={"Accept-Language": "de"}).get("/")
    assert "Der Assistent ist im Moment abgeschaltet." in body(german)
    refused = browser.post("/ask/", {"text": "And the fee?"})
    assert refused.status_code == 503
    assert OFF in body(refused)
    assert "And the fee?</textarea>" in body(refused)
    danger = browser.post("/ask/", {"text": DANGER})
    assert "Please get help now" in body(danger)
    assert browser.post(f"/turns/{turn.pk}/something-else/").status_code == 503
    running.run_turn(turn_id=turn.pk)  # what waited is answered, and can be read
    assert "Why this answer" in body(browser.get("/"))
    assert browser.get("/help/").status_code == 200
    assert browser.get("/person/").status_code == 200
    put("switches")
    assert OFF not in body(browser.get("/"))


async def test_the_pages_socket_takes_nothing() -> None:
    await database_sync_to_async(put)("switches", chat="on")
    async with tab("s" * 43) as page:
        await page.send({"text": VISA})
        await page.read_until(OFF)
    assert await texts() == []


def test_the_api_answers_503() -> None:
    program = Integrator()
    assert program.ask(VISA).status_code == 202
    turn = Turn.objects.get()
    put("switches", api="on")
    for answer in (
        program.call("GET", program.path),
        program.call("GET", f"/api/v1/turns/{turn.pk}/"),
        program.call("DELETE", program.path),
        program.ask("And the fee?"),
        Client().post(SESSIONS, b"", content_type="application/json"),
    ):
        assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
        assert answer.json()["type"] == "urn:ieim:problem:switched-off"
        assert answer.json()["detail"].startswith(OFF)
    assert program.ask(DANGER).json()["contacts"]
    assert Client().get("/api/v1/administration/").status_code == 200
    assert Client().post("/ask/", {"text": VISA}).status_code == 303
    put("switches")
    running.run_turn(turn_id=turn.pk)
    assert program.call("GET", f"/api/v1/turns/{turn.pk}/").json()["state"] == "answered"


def test_questions_wait_for_a_model_that_is_off() -> None:
    put("switches", model="on")
    turn, _ = services.receive(session="a", text=VISA, enqueue=False)
    running.run_turn(turn_id=turn.pk)
    turn.refresh_from_db()
    assert turn.state == "awaiting_model"
    outage = outages.current()
    assert outage is not None
    assert outage.why == "An administrator has switched the model off."
    assert not turn.stages.filter(attempts__isnull=False).exists()
    put("switches")
    Turn.objects.filter(pk=turn.pk).update(retry_at=timezone.now())
    running.run_turn(turn_id=turn.pk)
    turn.refresh_from_db()
    assert turn.state == "answered"
    assert outages.current() is None


def test_a_person_reads_what_is_said_for_an_agency_that_is_off(ask: Ask) -> None:
    put("switches", agencies="immigration")
    turn = ask(VISA)
    item = ReviewItem.objects.get(turn=turn, stage="reply")
    assert (turn.state, item.reasons) == ("needs_review", ["policy.switched_off"])
    desk.taken_and_decided(item, person("eva"), Action.APPROVE)
    running.run_turn(turn_id=turn.pk)
    turn.refresh_from_db()
    assert turn.state == "answered"
    passport = ask("I lost my passport and need a new one")
    assert passport.state == "answered"


def test_only_agencies_that_there_are_are_switched_off() -> None:
    assert (
        "“made-up” is not among the agencies"
        in refusal("switches", {"agencies": "made-up"})["agencies"]
    )
    put("switches", agencies="passports", chat="on")
    event = AuditEvent.objects.filter(kind="administration.changed").latest("seq")
    assert json.loads(event.payload)["changed"] == {
        "chat": ["", "on"],
        "agencies": ["", "passports"],
    }


def test_there_is_a_brake_for_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, everybody="2/hour")
    peers = [f"192.0.2.{n}" for n in range(3)]
    answers = [Client(REMOTE_ADDR=peer).post("/ask/", {"text": VISA}) for peer in peers]
    assert [answer.status_code for answer in answers] == [303, 303, 429]
    assert "Very many people are asking at the moment" in body(answers[-1])
    assert int(answers[-1]["Retry-After"]) > 3000
    assert Turn.objects.count() == 2
