"""What stands around an answer in French: notices, corrections, what happens to the question."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone, translation
from django.utils.translation import gettext

from conversations import selectors
from conversations.chat.announcing import announcement
from conversations.chat.wording import ANNOUNCED, words
from conversations.turns import services
from ieim.knowledge.notices.services import add
from ieim.people.roles import Role
from ieim.studio.drafts import publishing
from ieim.studio.drafts import services as knowledge
from ieim.studio.recall import services as sending
from tests import bilingual
from tests.fixtures import Ask
from tests.model_server import scripted_model
from tests.review.people import person

ANSWERED_BY = "You get the answer on this page by {time}."
HELD = (
    "A person will answer this question",
    "What happens now",
    "A caseworker reads your question. You do not need to send it again.",
    "Your reference",
    "How to come back",
    "Everybody who has the link can read this conversation. Do not pass it on.",
)
NOTICE = "The garden desk is closed on Friday."
WRONG = "The rent that we told you is wrong."

MONTHS = "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"


@pytest.fixture
def published(db: None) -> None:
    """The bundle in two languages as release 1, in place of the demo's."""
    knowledge.import_bundle(bundle=bilingual.bundle(), by=None)
    publishing.publish(note="bilingual", by=None)


@pytest.fixture
def secret() -> str:
    return services.new_secret()


def page_of(secret: str) -> str:
    client = Client()
    client.post(f"/c/{secret}/")
    return client.get("/").content.decode()


@pytest.mark.parametrize(
    ("agency", "heading"), [("garden", "Avis : Office des jardins"), ("", "Avis")]
)
def test_a_notice_is_headed_in_french_and_its_text_named_english(
    ask: Ask, secret: str, agency: str, heading: str
) -> None:
    eve, until = person("eve", Role.EDITOR), timezone.now() + timedelta(hours=1)
    add(agency=agency, text=NOTICE, starts_at=None, ends_at=until, by=eve)
    ask(bilingual.PLOT, secret=secret)
    page = page_of(secret)
    assert re.search(rf'<p class="answer__heading" dir="auto">{heading}</p>', page)
    assert re.search(rf'agency-notice__text" lang="en" dir="auto">{NOTICE}', page)


def test_a_correction_is_introduced_in_french(ask: Ask, secret: str) -> None:
    turn = ask(bilingual.PLOT, secret=secret)
    before = selectors.turn_view(turn.pk)
    eve = person("eve", Role.EDITOR)
    notice = sending.confirm(agency="garden", service="rent-plot", text=WRONG, by=eve)
    sending.deliver(notice_id=notice.pk)
    now = selectors.turn_view(turn.pk)
    page = page_of(secret)
    assert re.search(r'<section class="correction"[^>]* lang="fr" dir="ltr"', page)
    assert "Cette réponse a été corrigée" in page
    assert re.search(rf'correction__text" lang="en" dir="auto">{WRONG}', page)
    assert re.search(rf"Écrit par un agent, <time[^>]*>\d+ ({MONTHS}) \d+</time>", page)
    assert announcement((before,), (now,)) == "Question 1 : Une réponse a été corrigée."


def test_a_held_question_is_explained_in_french(ask: Ask, secret: str) -> None:
    with scripted_model({"agency_detect_v1": ["no json", "no json"]}) as (model, _):
        turn = ask(bilingual.PLOT, secret=secret, model=model)
    assert (turn.state, turn.language) == ("needs_review", "fr")
    page = page_of(secret)
    outcome = page[page.index('class="outcome"') : page.index("</article>")]
    assert re.search(r'class="held"[^>]* lang="fr" dir="ltr"', outcome)
    with translation.override("fr"):
        before, suffix = map(re.escape, gettext(ANSWERED_BY).split("{time}"))
        assert [text for text in HELD if gettext(text) not in outcome] == []
    assert re.search(rf"{before}\d+ ({MONTHS}) \d+[^<]* \d+:\d+{suffix}", outcome)
    assert not [text for text in HELD if text in outcome]


def test_a_waiting_question_is_explained_in_french(ask: Ask, secret: str) -> None:
    with scripted_model({"judgement_v1": [503] * 3}) as (model, _):
        turn = ask(bilingual.PLOT, secret=secret, model=model)
    assert turn.state == "awaiting_model"
    page = page_of(secret)
    assert "Votre question est en attente" in page
    assert "Vérifier si la réponse est là" in page
    before = selectors.turn_view(turn.pk)
    result = announcement((), (before,))
    assert result == f"Question 1 : {words('fr').translate(ANNOUNCED['awaiting_model'])}"
