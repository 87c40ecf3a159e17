"""A message with identity, card or account numbers: nothing of it is kept before a choice."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.apps import apps
from django.db.models import Model

from conversations.models import Reply, Session, Turn
from conversations.turns import erasing, refusing, services
from conversations.turns.message import read
from conversations.turns.refusing import Refused
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from ieim.knowledge import crisis
from ieim.pipeline.message.screen import MAX_CHARS
from tests.audit.owner import triggers_lifted
from tests.conversations.api.integrating import Integrator
from tests.conversations.chat.page.test_views import browser_with, page
from tests.conversations.turns.ways import SECRET, WAYS, Way
from tests.fixtures import VISA, Ask
from tests.selection import sample

CARD = "4111 1111 1111 1111"
TEXT = f"{VISA}, I paid with card {CARD} today"
SHORTER = f"{VISA}, I paid with card [number removed] today"
DANGER = f"I want to kill myself. My passport number is X1234567, card {CARD}"
FROM_DANGER = "Listening Line"

every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
most_ways = pytest.mark.parametrize("way", sample(WAYS, keep=3), ids=lambda way: way.__name__)


@pytest.fixture(autouse=True)
def nobody_works(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    request.getfixturevalue("published")
    monkeypatch.setattr("conversations.turns.moves.queue", lambda turn_id: None)


@sync_to_async
def traces(words: str) -> list[str]:
    """Where in the whole database ``words`` stand."""
    records = []
    for model in apps.get_models():
        rows: Any = model._default_manager.all()
        records += [model.__name__ for row in rows if words in stored(row)]
    return records


def stored(row: Model) -> str:
    return " ".join(str(getattr(row, field.attname)) for field in row._meta.concrete_fields)


@sync_to_async
def turns() -> list[str]:
    return list(Turn.objects.values_list("text", flat=True))


@sync_to_async
def received() -> list[dict[str, Any]]:
    events = AuditEvent.objects.filter(kind="turn.received")
    return [json.loads(event.payload) for event in events]


@every_way
@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
async def test_nothing_is_kept_before_its_sender_has_chosen(
    way: Way, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    records: list[str] = []
    look = crisis.screen

    def looking(text: str) -> crisis.Screening:
        records.append(text)
        return look(text)

    monkeypatch.setattr(crisis, "screen", looking)
    result = await way(TEXT, None)
    assert result.is_asked
    assert records  # for danger, and for nothing else
    assert await turns() == []
    for words in (CARD, "I paid with card"):
        assert await traces(words) == []
        assert words not in caplog.text


@most_ways
@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
async def test_it_goes_without_them(way: Way) -> None:
    result = await way(TEXT, "remove")
    assert not result.is_asked
    assert await turns() == [SHORTER]
    assert await traces(CARD) == []
    assert [event["personal_data"] for event in await received()] == [
        {"chosen": "remove", "kinds": ["card"]}
    ]


@most_ways
@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
async def test_it_goes_as_it_is_where_that_was_chosen(way: Way) -> None:
    result = await way(TEXT, "send")
    assert not result.is_asked
    assert await turns() == [TEXT]
    (event,) = await received()
    assert event["personal_data"] == {"chosen": "send", "kinds": ["card"]}
    assert CARD not in json.dumps(event)


@most_ways
@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
async def test_nobody_in_danger_is_held_up(way: Way) -> None:
    result = await way(DANGER, None)
    assert not result.is_asked
    assert await turns() == [DANGER]


@most_ways
@pytest.mark.parametrize(
    "text", [VISA, "Call me at +44 7911 123456 or jo@example.org, case 123456"]
)
@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
async def test_nobody_else_is_asked(way: Way, text: str) -> None:
    assert not (await way(text, None)).is_asked
    assert await turns() == [text]
    assert "personal_data" not in (await received())[0]


def test_who_was_in_danger_is_not_asked_until_somebody_has_answered(published: None) -> None:
    turn = services.receive(session=SECRET, text="I want to kill myself", enqueue=False)[0]
    Turn.objects.filter(pk=turn.pk).update(state="needs_review")
    assert services.receive(session=SECRET, text=TEXT, enqueue=False)[0].text == TEXT


def test_other_risks_hold_nothing_back(published: None) -> None:
    """A legal threat has no help line: its sender is asked like everybody."""
    text = f"I will sue you, my lawyer is informed. {TEXT}"
    assert read(text, turns=Turn.objects.none()).risks
    with pytest.raises(refusing.NotChosen):
        services.receive(session=SECRET, text=text, enqueue=False)


def test_a_program_is_told_where_they_stand(published: None) -> None:
    text = f"𝄞 {TEXT}, IBAN DE89 3704 0044 0532 0130 00"
    response = Integrator().ask(text)
    problem = response.json()
    assert response["Content-Type"] == "application/problem+json"
    assert [(entry["kind"], text[entry["start"] : entry["end"]]) for entry in problem["found"]] == [
        ("card", CARD),
        ("account", "DE89 3704 0044 0532 0130 00"),
    ]
    assert problem["mark"] == "[number removed]"
    assert CARD not in response.content.decode()


@pytest.mark.parametrize("choice", ["send", "remove"])
def test_sending_again_is_safe(published: None, choice: str) -> None:
    program = Integrator()
    assert program.ask(TEXT, client_id="m-1").status_code == 422
    first = program.ask(TEXT, client_id="m-1", personal_data=choice)
    assert first.status_code == 202
    for fields in ({"personal_data": choice}, {}, {"personal_data": "send"}):
        again = program.ask(TEXT, client_id="m-1", **fields)
        assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    other = program.ask(TEXT.replace("today", "now"), client_id="m-1", personal_data=choice)
    assert other.status_code == 409
    assert Turn.objects.count() == 1


def test_a_choice_that_is_none_is_refused(published: None) -> None:
    response = Integrator().ask(TEXT, personal_data="yes")
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (
        400,
        "/personal_data",
    )
    assert not Turn.objects.exists()


def test_a_form_that_says_something_else_is_asked(published: None) -> None:
    response = browser_with(SECRET).post("/ask/", {"text": TEXT, "personal_data": "yes"})
    assert response.status_code == 422
    assert not Session.objects.exists()


def test_it_says_what_is_wrong_before_it_asks(published: None) -> None:
    with pytest.raises(Refused, match="characters long"):
        services.receive(session=SECRET, text=TEXT + "x" * MAX_CHARS, enqueue=False)


def test_what_was_sent_is_known_again_whatever_the_mark_was(published: None) -> None:
    message = read(TEXT, "remove", turns=Turn.objects.none())
    assert message.text == SHORTER
    assert message.is_stored_as(TEXT.replace(CARD, "[Nummer entfernt]"))
    assert not message.is_stored_as(TEXT.replace(CARD, "[number] and more"))


def test_what_was_chosen_is_not_asked_again_for_something_else(ask: Ask) -> None:
    turn = ask(f"And how much does it cost? {TEXT}", secret=SECRET)
    body = {**turn.reply.body, "still_about": "Extend a tourist visa"}
    with triggers_lifted():
        Reply.objects.update(body=body)
    again, _ = services.ask_again(session_id=turn.session_id, turn_id=turn.pk, enqueue=False)
    assert again.text == turn.text


def test_the_audit_stands_and_erasing_takes_it(published: None) -> None:
    session, _, _ = services.new_session()
    services.receive(session=session.pk, text=TEXT, client_id="a", personal_data="send")
    assert verify(session.pk).ok
    erasing.erase_session(session_id=session.pk)
    assert verify(session.pk).ok


def test_the_page_shows_which_words_and_what_goes_without_them(published: None) -> None:
    html = page(browser_with(SECRET).post("/ask/", {"text": TEXT}))
    assert 'id="personal-check" tabindex="-1" aria-labelledby="personal-title" autofocus' in html
    assert f"<mark>{CARD}</mark>" in html
    assert "card <strong>[number removed]</strong> today</blockquote>" in html
    assert f"{TEXT}</textarea>" in html  # to change it
    assert html.count("autofocus") == 1
    assert "<title>Error: " in html
    for value in ("remove", "send"):
        assert f'form="personal-send" name="personal_data" value="{value}"' in html


def test_it_speaks_of_several_as_several(published: None) -> None:
    html = page(browser_with(SECRET).post("/ask/", {"text": f"{TEXT}, my SSN is 536-90-4399"}))
    assert html.count("<mark>") == 2
    assert "Send without them" in html


def test_what_is_shown_is_escaped(published: None) -> None:
    html = page(browser_with(SECRET).post("/ask/", {"text": f"<b>{TEXT}\u202e</b>"}))
    assert "<b>" not in html
    assert 'name="text" value="&lt;b&gt;' in html
