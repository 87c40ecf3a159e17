"""A conversation in the citizen's language, as far as the knowledge has it."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest
from django.test import Client

from conversations import selectors
from conversations.api.serializers import ReplySerializer
from conversations.chat.reply_presenters import ReplyView
from conversations.chat.wording import ANSWER_HEADINGS, words
from conversations.models import Session, Turn
from conversations.record.replay import replay
from conversations.turns import running
from conversations.turns.languages import reply_language
from ieim.pipeline.reply.cards import read_on
from ieim.studio.drafts import publishing
from ieim.studio.drafts import services as knowledge
from review.deciding import answers
from review.models import ReviewItem
from tests import bilingual
from tests.conversations.test_rating import browser_with
from tests.fixtures import Ask
from tests.review import desk


@pytest.fixture
def published(db: None) -> None:
    """The bundle in two languages as release 1, in place of the demo's."""
    knowledge.import_bundle(bundle=bilingual.bundle(), by=None)
    publishing.publish(note="bilingual", by=None)


def reply_of(turn: Turn) -> ReplyView:
    view = selectors.turn_view(turn.pk).reply
    assert view is not None, (turn.state, ReviewItem.objects.values_list("stage", "reasons"))
    return view


def test_it_answers_a_french_question_in_french(ask: Ask) -> None:
    turn = ask(bilingual.PLOT)
    reply = reply_of(turn)
    assert (turn.language, reply_language(turn)) == ("fr", "fr")
    assert (reply.title, reply.lead) == (
        "Louer un jardin familial",
        "Remplissez le formulaire du jardin.",
    )
    headings = {fact.heading for fact in reply.facts}
    assert headings <= {words("fr").heading(field) for field in ANSWER_HEADINGS}
    assert (reply.language, reply.notice, reply.languages) == ("fr", "", {})
    assert reply.why.startswith("Les mots marqués de votre question")
    assert any(segment.marked and segment.text == "jardin" for segment in reply.segments)


def test_it_says_in_french_that_there_is_no_french(ask: Ask) -> None:
    reply = reply_of(ask(bilingual.KAYAK))
    assert reply.title == "Get a kayak permit"
    assert reply.notice == "Ces informations n’existent qu’en anglais."
    assert reply.languages == {"title": "en", "lead": "en"}
    assert {fact.language for fact in reply.facts} == {"en"}
    assert "Ce qu’il vous faut" in [fact.heading for fact in reply.facts]


def test_it_says_that_a_part_is_not_in_french(ask: Ask) -> None:
    reply = reply_of(ask(bilingual.FISHING))
    assert reply.notice == "Une partie de ces informations n’existe qu’en anglais."
    languages = {fact.heading: fact.language for fact in reply.facts}
    assert languages["De quoi il s’agit"] == "en"
    assert languages["Comment faire la demande"] == ""


def test_it_answers_an_english_question_as_ever(ask: Ask) -> None:
    turn = ask(bilingual.PLOT_IN_ENGLISH)
    reply = reply_of(turn)
    assert (turn.language, reply_language(turn)) == ("en", "")
    assert reply.title == "Rent an allotment"
    assert (reply.language, reply.notice, reply.languages) == ("en", "", {})
    assert "language" not in turn.reply.body


def rather_sure(answer: dict[str, Any]) -> None:
    """Select surely enough to answer, and not surely enough for a foreign language."""
    candidates = answer.get("categorySelection", {}).get("candidates", {})
    for scored in (answer["serviceSelection"],) if not candidates else candidates.values():
        scored["score"] = 0.7


def test_it_holds_the_reply_to_a_language_that_nothing_is_in(ask: Ask) -> None:
    text = f"{bilingual.PLOT_IN_POLISH} Dziękuję bardzo! Rent an allotment: garden plot allotment."
    sure = [rather_sure]
    model = desk.Scripted({"category_select_v1": sure, "service_select_v1": sure})
    turn = ask(text, model=model)
    assert turn.language == "pl"
    assert ReviewItem.objects.get(turn=turn, stage="reply").reasons == ["policy.language"]
    assert [finding.code.value for finding in answers.policy_findings(turn)] == ["policy.language"]
    waiting = answers.follow(turn).reply
    assert waiting is not None
    assert waiting.language == "pl"
    assert "title" in waiting.original


def test_it_goes_on_in_the_language_of_the_talk(ask: Ask) -> None:
    ask(bilingual.PLOT, secret="a")
    for text in ("prix ?", "ok"):
        assert ask(text, secret="a").language == "fr"
    assert ask("prix ?", secret="b").language == ""
    assert ask("ok", secret="c").language == "en"


@pytest.mark.parametrize("text", [bilingual.PLOT, bilingual.KAYAK, bilingual.PLOT_IN_ENGLISH])
def test_it_decides_the_same_when_it_is_replayed(ask: Ask, text: str) -> None:
    again = replay(ask(text))
    assert again.same, again.changes


def test_it_notices_in_a_replay_that_the_language_is_another(ask: Ask) -> None:
    turn = ask(bilingual.PLOT)
    turn.language = "en"
    assert not replay(turn).same


@pytest.mark.parametrize(("first", "title"), [("en", "Rent"), ("fr", "Rent"), ("de", "Rent")])
def test_it_takes_the_first_language_for_that_of_the_knowledge(
    ask: Ask, settings: Any, first: str, title: str
) -> None:
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, "LANGUAGES": [first, "en"]}
    reply = reply_of(ask(bilingual.PLOT_IN_ENGLISH))
    assert reply.title.startswith(title)
    only = words("en").only_in(first, whole=True)
    assert reply.notice == ("" if first == "en" else only)


def test_it_says_what_it_is_still_about_in_the_citizens_words(ask: Ask) -> None:
    for result, name, lang in (
        (bilingual.PLOT, "Louer un jardin familial", ""),
        (bilingual.KAYAK, "Get a kayak permit", ' lang="en"'),
    ):
        ask(result, secret=result)
        turn = ask("Et quel est le prix pour cela ?", secret=result)
        assert reply_of(turn).still_about == name
        page = browser_with(result).get("/").content.decode()
        assert f'Toujours au sujet de : <strong{lang} dir="auto">{name}</strong>' in page
        assert "Autre chose</button>" in page


def test_it_names_the_language_of_every_part_in_the_page(ask: Ask, client: Client) -> None:
    page = _page(client, bilingual.KAYAK)
    assert re.search(r'<div class="answer answer--service" lang="fr" dir="ltr"', page)
    assert re.search(r'<h3 class="[^"]*answer__title" lang="en"[^>]*>Get a kayak permit<', page)
    assert re.search(r'<p class="answer__lead" lang="en" dir="auto">', page)
    assert "Par où commencer" in page
    assert '<ol class="steps" lang="fr">' in page
    assert "Parler à une personne" in page
    french = _page(Client(), bilingual.PLOT)
    assert 'lang="en"' not in french.split('class="answer ')[1].split("answer__foot")[0]


def test_a_source_names_the_day_on_which_its_page_was_read(ask: Ask, client: Client) -> None:
    sources = _page(client, bilingual.PLOT).split('class="answer__sources"')[1]
    assert "</a> (consultée le 20 novembre 2026)<" in sources.split("</ul>")[0]
    assert "consultée" not in _page(Client(), bilingual.KAYAK)
    source = ReplySerializer(reply_of(ask(bilingual.PLOT))).data["sources"][0]
    assert source["read_on"] == "2026-11-20"


def test_the_page_of_the_agency_has_no_day_of_the_service() -> None:
    service = bilingual.bundle().services[0]
    assert read_on(service, service.url) == date(2026, 11, 20)
    assert read_on(service, "https://garden.example") is None


def _page(client: Client, text: str) -> str:
    client.post("/ask/", {"text": text})
    session = Session.objects.latest("created_at")
    for turn in session.turns.all():
        running.run_turn(turn_id=turn.pk)
    return client.get("/").content.decode()


def test_it_tells_the_api_which_language_is_which(ask: Ask) -> None:
    data = ReplySerializer(reply_of(ask(bilingual.KAYAK))).data
    assert data["language"] == "fr"
    assert data["languages"] == {"title": "en", "lead": "en"}
    assert data["notice"].startswith("Ces informations")
    assert {fact["language"] for fact in data["facts"]} == {"en"}
