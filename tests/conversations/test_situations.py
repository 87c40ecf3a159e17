"""The checklist of a situation, wherever a citizen and a caseworker read it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from conversations.api.exporting import export
from conversations.models import Choice, Tick, Turn
from conversations.record.replay import replay
from conversations.turns import running
from conversations.turns.choosing import choose
from ieim.audit.models import AuditEvent
from ieim.knowledge import selectors as knowledge
from ieim.llm.offline import OfflineModel
from ieim.pipeline import choosing
from ieim.pipeline.knowledge import Release, Situation, Step
from ieim.pipeline.ports import ModelAnswer, ModelRequest
from ieim.search import Search
from review.deciding.answers import follow
from review.labels import label_name
from tests.administration.setting import put
from tests.conversations.test_checklist import address, boxes
from tests.conversations.test_rating import HTMX, SECRET, browser_with
from tests.fixtures import Ask

DIED = "Order more copies of a death certificate"
WIDE = "passport"
CODE = "situation.death"
DEATH = Situation(
    "death",
    "life",
    "Death of a relative",
    "Somebody has died. Much has to be seen to.",
    (
        Step("civil-registry", "civil-registry.register-death"),
        Step("vehicles", "vehicles.transfer-vehicle", "if the person owned a car"),
        Step("civil-registry", "civil-registry.death-certificate-copy"),
        Step("social-support", "social-support.funeral-grant", "if you pay for the funeral"),
    ),
)
LISTED = [f"{step.agency}/{step.service}" for step in DEATH.steps]


class Telling(OfflineModel):
    """The offline engine, which finds each message to tell of a death."""

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        result = super().complete(request, deadline=deadline)
        if request.contract != "classify":
            return result
        answer = json.loads(result.raw)
        text = json.loads(request.messages[2].content)["user_prompt"]
        intent = {"label": CODE, "confidence": 0.9, "evidence_snippets": [text]}
        answer["intents"].append(intent)
        return replace(result, raw=json.dumps(answer))


@pytest.fixture(autouse=True)
def release(published: None, monkeypatch: pytest.MonkeyPatch) -> Release:
    """The demo's release with a situation."""
    demo = knowledge.release(1)
    release = replace(demo, sha256="5" * 64, situations={"death": DEATH})
    monkeypatch.setattr(knowledge, "_value", lambda _number, _sha256: release)
    return release


@pytest.fixture
def turn(ask: Ask) -> Turn:
    return ask(DIED, secret=SECRET, model=Telling())


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def event_payload(turn: Turn, kind: str) -> Any:
    """Return the payload of the turn's one event of a kind."""
    return json.loads(AuditEvent.objects.get(chain=turn.session_id, kind=kind).payload)


def page() -> str:
    return str(browser_with(SECRET).get("/").content.decode())


def test_it_stands_below_the_answer_in_its_order(turn: Turn) -> None:
    html = page()
    assert turn.reply.body["title"] == "Order more copies of a death certificate"
    assert list(boxes(html)) == LISTED
    text = words(html).partition("Death of a relative : everything in order")[2]
    assert text
    assert text.index("Register a death") < text.index("if the person owned a car")
    assert "Time limit: 5 days" in text
    # Each line opens to its card.
    assert len(re.findall(r'<details class="situation__step"', html)) == len(LISTED)
    assert replay(turn).same
    payload = event_payload(turn, "turn.situation")
    assert (payload["situation"], payload["open"], payload["services"]) == ("death", True, LISTED)
    cited = {f"{citation.agency}/{citation.service}" for citation in turn.reply.citations.all()}
    assert cited == set(LISTED)


def test_its_first_service_leads_where_the_message_names_none(ask: Ask) -> None:
    turn = ask("He is gone, and there is so much that I would have to see to", model=Telling())
    assert turn.state == "answered"
    assert turn.reply.body["title"] == "Register a death"
    assert turn.reply.body["situation"]["leads"]
    assert replay(turn).same


def test_a_replay_sees_a_checklist_that_nobody_told(turn: Turn) -> None:
    stage = turn.stages.get(contract="classify")
    assert stage.output is not None
    stage.output["intents"].pop()
    stage.save(update_fields=["output"])
    assert not replay(turn).same


def test_lines_are_ticked_with_scripts_and_without(turn: Turn) -> None:
    browser, where = browser_with(SECRET), f"{address(turn)}?list=situation"
    part = browser.post(where, {"done": LISTED[1]}, headers=HTMX).content.decode()
    assert boxes(part) == {entry: entry == LISTED[1] for entry in LISTED}
    assert browser.post(where, {"done": LISTED[0]}).status_code == 303
    assert Tick.objects.count() == 2
    assert browser.post(where, {"done": "parks/none"}).status_code == 404
    assert list(boxes(page()).values()) == [True, True, False, False]


def test_what_comes_next_is_its_next_line(
    turn: Turn, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Search, "kinds", lambda *_: {"next": 0.9})
    browser_with(SECRET).post(address(turn), {"done": LISTED[0]})
    later = ask("I did that, what next?", secret=SECRET, model=Telling())
    assert later.reply.body["sources"][0]["service_key"] == "vehicles.transfer-vehicle"
    # The list is there, folded: it was shown above.
    assert not later.reply.body["situation"]["is_open"]
    assert f'id="turn-{later.pk}-situation-offer"' in page()


def test_programs_and_files_have_it(turn: Turn) -> None:
    exported: Any = export(turn.session).as_dict()
    situation = exported["turns"][0]["reply"]["situation"]
    assert (situation["key"], situation["open"]) == ("death", True)
    steps = situation["services"]
    assert [step["card"]["reference"] for step in steps] == LISTED
    assert steps[1]["condition"] == "if the person owned a car"
    assert steps[0]["card"]["deadline"] == "Time limit: 5 days"
    saved = Client().get(f"/c/{SECRET}/conversation.html").content.decode()
    assert "if you pay for the funeral" in words(saved)


def test_a_near_situation_is_one_of_the_options(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "near_situations", lambda *_: (DEATH,))
    turn = ask(WIDE, secret=SECRET)
    choice = Choice.objects.get(turn=turn)
    assert choice.offered[-1] == ["", CODE]
    assert "Death of a relative" in words(page())
    last = len(choice.offered)
    choose(session_id=turn.session_id, turn_id=turn.pk, numbers=[last])
    running.run_turn(turn_id=turn.pk)
    turn.refresh_from_db()
    assert turn.reply.body["title"] == "Register a death"
    assert turn.reply.body["situation"]["is_open"]
    assert replay(turn).same
    assert event_payload(turn, "turn.chosen")["chosen"] == CODE
    assert page()


def test_an_open_checklist_waits_where_one_of_its_agencies_is_off(ask: Ask) -> None:
    put("switches", agencies="vehicles")
    turn = ask(DIED, model=Telling())
    assert turn.state == "needs_review"
    reply = follow(turn).reply
    assert reply is not None
    assert reply.situation is not None
    assert reply.situation.is_open


def test_staff_read_a_situation_by_its_name(release: Release) -> None:
    assert label_name(release, "intents", CODE) == "Death of a relative"
    assert label_name(release, "intents", "situation.other") == "situation.other"
