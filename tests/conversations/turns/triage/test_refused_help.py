"""A message of somebody in danger that is not taken: its help lines, by every way it can come."""

from __future__ import annotations

import re

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from conversations.chat.wording import words
from conversations.models import Turn
from conversations.states import TurnState
from conversations.turns import services
from conversations.turns.refusing import Refused, TooMany
from ieim.audit.models import AuditEvent
from ieim.knowledge import crisis
from ieim.pipeline.message.screen import MAX_CHARS
from review.models import CRISIS, ReviewItem
from tests.conversations.api.integrating import Integrator, set_rates
from tests.conversations.chat.page.test_views import page, send, visitor
from tests.conversations.chat.tabs import tab
from tests.conversations.turns.triage.test_crisis import INDIRECT
from tests.embedders import Feelings
from tests.fixtures import VISA

DANGER = "I want to kill myself"
TOO_LONG = f"{DANGER}. " + "x" * MAX_CHARS
LINE = "Listening Line"


def refused(text: str, secret: str = "a") -> Refused:
    with pytest.raises(Refused) as error:
        services.receive(session=secret, text=text, address="192.0.2.1", enqueue=False)
    return error.value


def lines(text: str) -> str:
    return " ".join(contact.text for contact in refused(text).contacts)


@pytest.mark.parametrize("text", [TOO_LONG, f"{DANGER}\x00", f"{DANGER} \ud800"])
def test_help_stands_beside_what_is_wrong_with_a_message(published: None, text: str) -> None:
    assert LINE in lines(text)
    assert not Turn.objects.exists()


def test_no_help_stands_beside_other_refusals(published: None) -> None:
    assert lines("x" * 2001) == lines(" ") == ""
    services.receive(session="a", text=VISA, enqueue=False)
    assert lines("And the fee?") == ""


@pytest.mark.parametrize("state", [TurnState.QUEUED, TurnState.RUNNING, TurnState.AWAITING_MODEL])
def test_a_person_sees_danger_that_is_told_while_a_question_waits(
    published: None, state: TurnState
) -> None:
    first, _ = services.receive(session="a", text=VISA, enqueue=False)
    Turn.objects.filter(pk=first.pk).update(state=state.value)
    turn, is_new = services.receive(session="a", text=DANGER)
    item = ReviewItem.objects.get(turn=turn)
    assert (is_new, turn.state, turn.text) == (True, "needs_review", DANGER)
    assert (item.stage, item.rank, item.reasons) == ("reply", CRISIS, ["policy.risk"])
    assert LINE in lines(TOO_LONG)
    assert "still working" in refused("And the fee?").message
    last = AuditEvent.objects.filter(chain=turn.session_id).order_by("seq").last()
    assert last is not None
    assert last.kind == "turn.needs_review"


def test_meaning_is_looked_at_as_well(feelings: Feelings) -> None:
    services.receive(session="a", text=VISA, enqueue=False)
    turn, _ = services.receive(session="a", text=INDIRECT)
    assert ReviewItem.objects.filter(turn=turn).exists()
    assert LINE in lines(f"{INDIRECT}. " + "x" * MAX_CHARS)


def test_only_the_beginning_of_a_long_message_is_looked_at(feelings: Feelings) -> None:
    refused(TOO_LONG)  # from here on the examples of situations are known
    before = len(feelings.asked)
    refused("x " * MAX_CHARS + DANGER)
    assert 0 < sum(map(len, feelings.asked[before:])) <= MAX_CHARS
    assert lines("x " * MAX_CHARS + DANGER) == ""


def test_an_embedder_is_not_asked_about_nothing(feelings: Feelings) -> None:
    count = len(feelings.asked)
    refused(" \u200b ")
    assert len(feelings.asked) == count


def test_over_the_limit_phrases_alone_are_looked_for(
    feelings: Feelings, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_rates(monkeypatch, turns="1/hour")
    services.receive(session="a", text=VISA, address="192.0.2.1", enqueue=False)
    count = len(feelings.asked)
    monkeypatch.setattr(crisis, "screen", pytest.fail)
    error = refused(DANGER)
    assert isinstance(error, TooMany)
    assert LINE in error.contacts[0].text
    assert refused(INDIRECT).contacts == ()
    assert len(feelings.asked) == count


def test_the_words_around_it_are_in_the_citizens_language(published: None) -> None:
    error = refused("Je veux mourir, la vie me fait trop mal. " * 60)
    assert error.words == words("fr")
    assert error.contacts[0].text.startswith("Si vous pensez")


def test_the_form_page_shows_it_before_the_reason(published: None) -> None:
    client = visitor()
    response = client.post("/ask/", {"text": TOO_LONG})
    html = page(response)
    assert response.status_code == 422
    assert html.index("Please get help now") < html.index("Your question was not sent")
    assert html.index(LINE) < html.index("characters long")
    assert html.count("Please get help now") == 1
    assert "Please get help now" not in page(client.post("/ask/", {"text": "x" * 2001}))


def test_the_page_shows_what_is_told_while_a_question_waits(published: None) -> None:
    client = visitor()
    send(client)
    assert client.post("/ask/", {"text": DANGER}).status_code == 303
    html = page(client.get("/"))
    assert html.index('data-state="queued"') < html.index('data-state="needs_review"')
    assert LINE in html
    assert html.count(DANGER) == 1


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
async def test_the_pages_socket_shows_it_and_takes_it_away(
    published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.turns.moves.queue", lambda turn_id: None)
    async with tab("s" * 43) as open_page:
        await open_page.send({"text": TOO_LONG})
        frame = await open_page.read_until(LINE)
        assert 'role="alert"' in open_page.parts["refused-help"]
        assert frame.index(LINE) < frame.index("characters long")
        await open_page.send({"text": VISA})
        await open_page.read_until('data-state="queued"')
        assert LINE not in open_page.parts["refused-help"]


def test_a_program_is_told_it(published: None) -> None:
    program = Integrator()
    response = program.ask(TOO_LONG)
    assert response.status_code == 422
    assert LINE in response.json()["contacts"][0]
    assert "contacts" not in program.ask("x" * 2001).json()


def test_a_program_is_told_it_although_it_uses_a_name_twice(published: None) -> None:
    program = Integrator()
    program.ask(VISA, client_id="m-1")
    problem = program.ask(DANGER, client_id="m-1").json()
    assert problem["type"] == "urn:ieim:problem:client-id-reused"
    assert LINE in problem["contacts"][0]


def test_the_terminal_says_it_first(published: None) -> None:
    with pytest.raises(CommandError) as error:
        call_command("ask", TOO_LONG)
    assert re.search(rf"{LINE}(.|\n)*characters long", str(error.value))


def test_a_program_waits_for_the_embedder_without_a_lock(
    feelings: Feelings, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Integrator()
    look, within = crisis.screen, []

    def looking(text: str) -> crisis.Screening:
        within.append(len(connection.savepoint_ids))
        return look(text)

    monkeypatch.setattr(crisis, "screen", looking)
    outside = len(connection.savepoint_ids)
    assert program.ask(VISA).status_code == 202
    assert within == [outside]
