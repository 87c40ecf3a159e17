"""A question in a language that the knowledge is not in: asked back, and told why."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import translation

from conversations import selectors
from conversations.chat.wording import words
from conversations.models import Turn
from conversations.record.replay import replay
from conversations.turns import languages, running
from conversations.turns.choosing import choose
from ieim.audit.verify import verify
from ieim.knowledge import crisis, vectors
from ieim.knowledge import selectors as reading
from ieim.pipeline import policy
from ieim.pipeline.knowledge import Translation
from ieim.search.caching import Cache
from ieim.search.embedders import CheckedEmbedder
from ieim.studio.drafts import publishing
from ieim.studio.drafts import services as knowledge
from review.models import Action, ReviewItem
from tests import bilingual
from tests.conversations.api.integrating import Integrator
from tests.conversations.test_rating import browser_with
from tests.embedders import Ideas
from tests.fixtures import Ask
from tests.knowledge.reading import taught
from tests.review import desk

POLISH = f"{bilingual.PLOT_IN_POLISH} Dziękuję! Rent an allotment: garden plot allotment."
GERMAN = (
    "Ich möchte gern einen Kleingarten mieten, was muss ich dafür tun? "
    "Rent an allotment: garden plot allotment."
)
SECRET = "a"


@pytest.fixture
def published(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundle in two languages as release 1, searched by meaning as well."""
    ideas = CheckedEmbedder(Ideas(), clock=lambda: 0.0)
    # The English words by which the engine finds the service make the search sure of it too.
    monkeypatch.setattr(policy, "_search_is_sure", lambda reply, inputs: False)
    monkeypatch.setattr(vectors, "configured_embedder", lambda: ideas)
    monkeypatch.setattr(vectors, "_slots", Cache(vectors._CACHE_SIZE))
    knowledge.import_bundle(bundle=bilingual.bundle(), by=None)
    publishing.publish(note="bilingual", by=None)
    taught(ideas)
    vectors.prepare(reading.release(1))


def model(score: float = 0.7) -> desk.Scripted:
    """The offline engine, but for how sure it is of the service: enough for any language that the
    knowledge is in."""

    def scored(answer: dict[str, Any]) -> None:
        answer["serviceSelection"]["score"] = score

    return desk.Scripted({"service_select_v1": [scored]})


def pick(turn: Turn, number: int | None) -> Turn:
    choose(session_id=turn.session_id, turn_id=turn.pk, numbers=[] if number is None else [number])
    running.run_turn(turn_id=turn.pk)
    return Turn.objects.get(pk=turn.pk)


def test_a_sure_answer_says_in_their_language_that_it_is_in_another(ask: Ask) -> None:
    turn = ask(GERMAN, secret=SECRET, model=model(0.8))
    assert (turn.language, turn.state, turn.reply.origin) == ("de", "answered", "index")
    assert words("de").only_in("en", whole=True) in browser_with(SECRET).get("/").content.decode()


def test_it_asks_where_nobody_is_sure(ask: Ask) -> None:
    turn = ask(POLISH, model=model())
    assert (turn.language, turn.state) == ("pl", "asking")
    assert (turn.choice.stage, turn.choice.codes) == ("reply", ["policy.language"])
    view = selectors.turn_view(turn.pk).choice
    assert view is not None
    assert (view.reason, view.language) == ("language", "en")
    assert "Polish" in view.notice
    assert "English" in view.notice
    assert view.options[0].name == "Rent an allotment"
    assert not ReviewItem.objects.filter(turn=turn, stage="reply").exists()


def test_a_choice_is_answered_in_the_language_of_the_knowledge(ask: Ask) -> None:
    turn = pick(ask(GERMAN, secret=SECRET, model=model()), 1)
    assert (turn.state, turn.reply.origin) == ("answered", "citizen_choice")
    assert turn.stages.get(contract="service_select_v1").status == "chosen"
    assert verify(turn.session_id).ok
    assert replay(turn).same
    page = browser_with(SECRET).get("/").content.decode()
    assert '<div class="answer answer--service" lang="de"' in page
    assert re.search(r'<h3 class="[^"]*answer__title" lang="en"[^>]*>Rent an allotment<', page)
    assert words("de").only_in("en", whole=True) in page
    assert re.search(r"„<span lang=\"en\">Rent an allotment</span>“ \(<span lang=\"en\">", page)
    assert '<span class="answer__agency" lang="en">Garden Office</span>' in page


def test_a_translated_agency_is_not_called_english(ask: Ask) -> None:
    ask(bilingual.KAYAK, secret=SECRET)
    page = browser_with(SECRET).get("/").content.decode()
    assert '<span class="answer__agency">Office du fleuve</span>' in page
    assert 'lang="en">Get a kayak permit</a>' in page


def test_the_page_says_it_in_its_own_language(ask: Ask) -> None:
    ask(GERMAN, secret=SECRET)
    page = browser_with(SECRET).get("/").content.decode()
    offer = page[page.index('<section class="offer"') : page.index("</article>")]
    assert 'lang="de" dir="ltr"' in offer.split(">")[0]
    assert "als Text auf Deutsch gelesen" in offer
    assert "Wählen Sie etwas aus, dann erhalten Sie sofort die Antwort." not in offer
    assert '<span class="offer__name" lang="en" dir="auto">Rent an allotment</span>' in offer
    assert '<span class="offer__agency" lang="en" dir="auto">Garden Office</span>' in offer


def test_none_of_these_leaves_the_held_reply_to_a_person(ask: Ask) -> None:
    turn = pick(ask(POLISH, model=model()), None)
    item = desk.the_item(turn, "reply")
    assert (turn.state, item.reasons) == ("needs_review", ["policy.language"])
    desk.taken_and_decided(item, desk.person("eva"), Action.APPROVE, confirmed=True)
    running.run_turn(turn_id=turn.pk)
    turn = Turn.objects.get(pk=turn.pk)
    assert (turn.state, turn.reply.origin) == ("answered", "model_approved")


def test_a_risk_is_no_choice(ask: Ask) -> None:
    turn = ask(f"{POLISH} I want to kill myself.")
    assert turn.state == "needs_review"
    assert not hasattr(turn, "choice")


def test_who_is_only_unsure_says_nothing_of_languages(ask: Ask) -> None:
    turn = ask(bilingual.PLOT_IN_ENGLISH, model=desk.Scripted({"service_select_v1": [desk.unsure]}))
    assert turn.state == "asking"
    view = selectors.turn_view(turn.pk).choice
    assert view is not None
    assert (view.reason, view.notice) == ("unsure", "")


@pytest.mark.usefixtures("published")
def test_filipino_is_no_other_language_to_who_reads_filipino(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = bilingual.bundle()
    names = tuple(
        Translation("tl", service.agency, service=service.key, name=f"Pangalan {service.key}")
        for service in bundle.services
    )
    knowledge.import_bundle(bundle=replace(bundle, translations=names), by=None)
    publishing.publish(note="", by=None)
    monkeypatch.setattr(languages, "detect", lambda text, release, talk=None: "tl")
    turn = ask(
        bilingual.PLOT_IN_ENGLISH,
        secret=SECRET,
        model=desk.Scripted({"service_select_v1": [desk.unsure]}),
    )
    view = selectors.turn_view(turn.pk).choice
    assert view is not None
    assert (view.reason, view.language, view.notice) == ("unsure", "tl", "")
    offered = {}
    for code in ("fil", "en-gb"):
        with translation.override(code):
            page_language = selectors.chat_view(secret=SECRET).offered
            offered[code] = page_language and page_language.code
    assert offered == {"fil": None, "en-gb": "fil"}


@pytest.mark.usefixtures("published")
def test_an_integrator_is_told_why() -> None:
    client = Integrator()
    client.ask(GERMAN)
    turn = Turn.objects.get(session_id=client.id)
    running.run_turn(turn_id=turn.pk)
    choice = client.get(f"/api/v1/turns/{turn.pk}/").json()["choice"]
    assert (choice["reason"], choice["language"]) == ("language", "en")
    assert "Deutsch" in choice["notice"]


@pytest.mark.usefixtures("published")
def test_the_command_says_why(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # The few ideas of this embedder are too few to tell danger by.
    monkeypatch.setattr(crisis, "prepare", lambda **_trains: None)
    call_command("ask", POLISH)
    assert "read your question as being in Polish" in capsys.readouterr().out
    call_command("ask", POLISH, "--json")
    data = json.loads(capsys.readouterr().out)
    assert (data["choice_reason"], len(data["choice"]) >= 2) == ("language", True)
    assert "Polish" in data["choice_notice"]
    call_command("ask", bilingual.PLOT, "--json")
    data = json.loads(capsys.readouterr().out)
    assert (data["choice"], data["choice_reason"], data["choice_notice"]) == (None, None, None)


@pytest.mark.parametrize("text", ["asdf qwer zxcv", "hjkasd kjhasd kjhasd", "ytqwei uqu qiyp kfsh"])
def test_letters_that_say_nothing_offer_nothing_while_nobody_knows_what_is_asked(
    ask: Ask, text: str
) -> None:
    vectors._slots.forget_unused(before=float("inf"))
    vectors._kinds.clear()  # as before anything was trained with this embedder
    turn = ask(text)
    assert (turn.language, turn.state) == ("", "answered")
    assert not hasattr(turn, "choice")
