"""Notices in turns: what the model is given, what the citizen is shown, and what stays."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conversations import selectors
from conversations.chat import cookies
from conversations.models import Attempt, Reply, Turn
from conversations.record.replay import replay
from conversations.turns import running, services
from ieim.knowledge.models import Directive
from ieim.knowledge.notices.services import add, end
from ieim.people.roles import Role
from ieim.pipeline.reply import reply as replies
from tests.audit.owner import triggers_lifted
from tests.conversations.api import integrating
from tests.conversations.api.integrating import Integrator
from tests.fixtures import VISA, Ask
from tests.review.desk import BABY
from tests.review.people import person

no_rates = integrating.no_rates
CLOSED = "The office is closed this week. Call 0800 555 1234 and pay £77."


@pytest.fixture
def closed(published: None) -> Directive:
    ends_at = timezone.now() + timedelta(hours=1)
    by = person("eve", Role.EDITOR)
    return add(agency="immigration", text=CLOSED, starts_at=None, ends_at=ends_at, by=by)


def request_of(turn: Turn, contract: str) -> dict[str, Any]:
    data = json.loads(Attempt.objects.get(stage__turn=turn, stage__contract=contract).asked_text)
    assert isinstance(data, dict)
    return data


def notices_of(turn: Turn) -> tuple[replies.Notice, ...]:
    return replies.Reply.from_dict(Reply.objects.get(turn=turn).body).notices


def test_every_stage_reads_it_and_the_reply_shows_it(closed: Directive, ask: Ask) -> None:
    turn = ask()
    contracts = [stage.contract for stage in turn.stages.all()]
    (directive,) = {request_of(turn, contract)["runtime_directive"] for contract in contracts}
    assert directive.endswith(f": {CLOSED}")
    (notice,) = notices_of(turn)
    assert (notice.agency_name, notice.text) == (directive.removesuffix(f": {CLOSED}"), CLOSED)


def test_an_answer_of_another_agency_does_not(closed: Directive, ask: Ask) -> None:
    turn = ask("How do I renew my driving licence?")
    assert turn.state == "answered"
    assert notices_of(turn) == ()
    assert "notices" not in Reply.objects.get(turn=turn).body


def test_it_stays_as_it_was_shown_and_replays_the_same(closed: Directive, ask: Ask) -> None:
    turn = ask()
    body = Reply.objects.get(turn=turn).body
    end(directive_id=closed.pk, by=closed.created_by)
    assert Reply.objects.get(turn=turn).body == body
    assert replay(Turn.objects.get(pk=turn.pk)).same
    later = ask()
    assert "runtime_directive" not in request_of(later, "agency_detect_v1")
    assert notices_of(later) == ()


def test_a_replay_finds_a_reply_that_is_another_one(closed: Directive, ask: Ask) -> None:
    reply = Reply.objects.get(turn=ask())
    reply.body["title"] = "Another one"
    with triggers_lifted():
        reply.save()
    assert not replay(Turn.objects.get(pk=reply.turn_id)).same


def test_a_reply_that_waited_has_the_notices_of_its_delivery(ask: Ask) -> None:
    turn = services.receive(session="s" * 43, text=VISA, enqueue=False)[0]
    by, ends_at = person("eve", Role.EDITOR), timezone.now() + timedelta(hours=1)
    add(agency="immigration", text=CLOSED, starts_at=None, ends_at=ends_at, by=by)
    running.run_turn(turn_id=turn.pk)
    assert len(notices_of(turn)) == 1


def test_no_reply_says_it_but_as_a_notice_and_no_later_stage_as_a_citizens_or_an_answers_word(
    closed: Directive, ask: Ask
) -> None:
    secret = services.new_secret()
    ask(secret=secret)
    several = ask(BABY, secret=secret)
    body = dict(Reply.objects.get(turn=several).body)
    body.pop("notices", None)
    assert CLOSED not in json.dumps(body, ensure_ascii=False)
    for attempt in Attempt.objects.filter(stage__turn=several):
        sent = json.loads(attempt.asked_text)
        assert sent.pop("runtime_directive").endswith(CLOSED)
        assert CLOSED not in json.dumps(sent, ensure_ascii=False)


def test_it_is_in_the_page_and_rest(closed: Directive, no_rates: None, client: Client) -> None:
    program = Integrator()
    program.ask(VISA)
    turn = Turn.objects.get()
    running.run_turn(turn_id=turn.pk)
    view = selectors.turn_view(turn.pk)
    assert view.reply is not None
    fields = {"agency": view.reply.agency_notices[0].agency, "text": CLOSED}
    assert program.get().json()["turns"][0]["reply"]["agency_notices"] == [fields]
    client.get(program.link)
    client.post(program.link)
    page = client.get("/").content.decode()
    assert cookies.NAME in client.cookies
    assert page.index(f"Notice from {fields['agency']}") < page.index("What to do first")
