"""What may help while a question waits: found by the search, told as the service list has it."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from django.test import Client

from conversations import selectors
from conversations.chat.reply_presenters import CardView
from conversations.models import Attempt, Session, Turn
from conversations.turns import erasing, running, services
from conversations.turns import services as turns
from conversations.turns.choosing import choose, expire
from conversations.turns.models import Choice
from ieim.knowledge import selectors as knowledge
from ieim.people.models import User
from ieim.studio.drafts import publishing
from ieim.studio.models import ExampleQuestion, Service, Translation
from review import talking
from tests.conversations.person.asking import item_of, wants
from tests.conversations.test_rating import browser_with
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review import desk

BAD = ["no json", "no json"]
SECRET = "a"
TITLE = "While you wait: services that may be about this"
DANGER = f"{VISA}, if not I will kill myself"


@pytest.fixture
def eva(db: None) -> User:
    return desk.person("eva")


def stopped(ask: Ask, text: str = VISA, **says: Any) -> Turn:
    """A turn that waits for a person after its model was given services."""
    with scripted_model(says or {"service_select_v1": BAD}) as (model, _):
        turn = ask(text, secret=SECRET, model=model)
    assert turn.state == "needs_review"
    return turn


def cards_of(turn: Turn) -> list[CardView]:
    return list(selectors.turn_view(turn.pk).may_help)


def titles(turn: Turn) -> list[str]:
    return [card.title for card in cards_of(turn)]


def test_it_shows_three_services_with_their_own_words(ask: Ask) -> None:
    turn = stopped(ask)
    cards = cards_of(turn)
    assert len(cards) == 3
    services = {result.name: result for result in knowledge.release(1).services.values()}
    for card in cards:
        service = services[card.title]
        assert card.agency == knowledge.release(1).agencies[service.agency].name
        assert [fact.items for fact in card.facts] == [(service.contact,)]
        assert card.url in (service.url, service.path)
    assert cards[0].title == "Extend a tourist visa"


def test_the_page_folds_them_and_says_that_they_are_no_answer(ask: Ask) -> None:
    turn = stopped(ask)
    page = browser_with(SECRET).get("/").content.decode()
    begin = page.index(f'<details class="govuk-details may-help" id="turn-{turn.pk}-may-help"')
    result = page[begin : page.index("</details>", begin)]
    assert TITLE in result
    assert "This is not the answer to your question." in result
    assert result.count("answer__card-title") == 3
    assert " open" not in result.partition(">")[0]


def test_they_are_by_rest_too(ask: Ask) -> None:
    turn = stopped(ask)
    Session.objects.update(secret_sha256=turns.secret_digest("token"))
    response = Client().get(f"/api/v1/turns/{turn.pk}/", headers={"Authorization": "Bearer token"})
    may_help = response.json()["may_help"]
    assert [entry["title"] for entry in may_help] == titles(turn)
    assert may_help[0]["facts"][0]["name"] == "contact"
    assert may_help[0]["lead"] == ""


def test_none_is_looked_for_where_none_is_stored(ask: Ask) -> None:
    assert titles(stopped(ask, agency_detect_v1=BAD)) == []


def test_they_go_with_the_messages(ask: Ask) -> None:
    turn = stopped(ask)
    erasing.erase_session(session_id=turn.session_id)
    assert not Attempt.objects.exists()
    assert TITLE not in browser_with(SECRET).get("/").content.decode()


def test_nobody_in_danger_gets_them(ask: Ask) -> None:
    turn = stopped(ask)
    assert titles(turn)
    danger = stopped(ask, DANGER)
    assert danger.risks
    # Nor at the question before: somebody in danger reads the help lines, and nothing beside them.
    assert (titles(turn), titles(danger)) == ([], [])
    page = browser_with(SECRET).get("/").content.decode()
    assert "Please get help now" in page
    assert TITLE not in page


def test_no_request_for_a_person_gets_them(ask: Ask, eva: User) -> None:
    stopped(ask)
    request = wants(SECRET, text=VISA)
    assert titles(request.turn) == []
    talking.begin(item_id=item_of(request).pk, actor=eva)
    turn = turns.receive(session=SECRET, text=VISA, enqueue=False)[0]
    assert turn.state == "with_person"
    assert titles(turn) == []


def test_what_nobody_chose_in_time_may_help(ask: Ask) -> None:
    turn = ask("passport", secret=SECRET)
    names = [option.name for option in selectors.turn_view(turn.pk).choice.options]  # type: ignore[union-attr]
    expire(now=Choice.objects.get().until)
    assert titles(turn) == names[:3]


def test_what_the_citizen_refused_is_not_shown_again(ask: Ask) -> None:
    turn = ask("passport", secret=SECRET)
    choose(session_id=turn.session_id, turn_id=turn.pk, numbers=[])
    assert titles(turn) == []
    offered = {tuple(entry) for entry in Choice.objects.get().offered}
    services = knowledge.release(1).services
    later = stopped(ask, "I lost my passport. How do I get a new one?")
    assert not {services[key].name for key in offered} & set(titles(later))


def test_nor_is_what_was_not_meant(ask: Ask) -> None:
    ask(secret=SECRET)
    going_on = ask("And how much does it cost?", secret=SECRET)
    assert "Extend a tourist visa" in titles(stopped(ask))
    again, _ = services.ask_again(
        session_id=going_on.session_id, turn_id=going_on.pk, address="", enqueue=False
    )
    running.run_turn(turn_id=again.pk)
    waits = Turn.objects.filter(session_id=going_on.session_id, state="needs_review").first()
    assert waits is not None
    assert "Extend a tourist visa" not in titles(waits)


def test_what_is_not_in_the_service_list_any_more_is_not_shown(ask: Ask) -> None:
    turn = stopped(ask)
    first, second = titles(turn)[:2]
    Translation.objects.all().delete()
    ExampleQuestion.objects.all().delete()
    Service.objects.filter(name=first).delete()
    Service.objects.filter(name=second).update(contact="+44 20 7946 0999", read_on="2026-11-20")
    publishing.publish(note="without it", by=None)
    cards = cards_of(turn)
    assert first not in [card.title for card in cards]
    assert cards[0].title == second
    assert cards[0].facts[0].items == ("+44 20 7946 0999",)
    assert (cards[0].read_on, cards[1].read_on) == (date(2026, 11, 20), None)
    assert turn.release_number == 1


def test_it_says_in_which_language_they_are(ask: Ask) -> None:
    french = "Bonjour, je voudrais prolonger mon visa de touriste, s’il vous plaît"
    (first, *_) = cards_of(stopped(ask, french))
    assert (first.title, first.languages) == ("Prolonger un visa de touriste", {})
    assert first.facts[0].heading == "Contact"


def test_it_does_not_search_on_each_look(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = stopped(ask)
    monkeypatch.setattr("ieim.knowledge.vectors.shortlist_for", lambda *_: pytest.fail("searched"))
    monkeypatch.setattr("ieim.search.index_for", lambda *_: pytest.fail("searched"))
    assert len(titles(turn)) == 3
