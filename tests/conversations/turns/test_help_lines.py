"""Help lines in a language that no page and no entry is in: an editor wrote them, so they show."""

from __future__ import annotations

import pytest
from django.utils import translation

from conversations import selectors
from conversations.models import Turn
from conversations.turns.help_lines import contacts
from ieim.knowledge import selectors as knowledge
from ieim.people.roles import Role
from ieim.pipeline.message import language
from ieim.studio.drafts import editing, publishing
from ieim.studio.models import Change
from tests.conversations.chat.page.test_views import page, send, visitor
from tests.fixtures import Ask
from tests.review.people import person

TURKISH = "Yalnız değilsiniz. Hemen 112'yi arayın."
DANGER = "Kendimi öldürmek istiyorum"
HELP = "Please get help now"


@pytest.fixture
def turkish(published: None) -> None:
    """The demo with a help line in Turkish, which an editor has written and published."""
    _publish("tr", TURKISH)


def _publish(language: str, text: str) -> None:
    values = {"language": language, "flag": "self_harm", "text": text}
    eve, source = person("eve", Role.EDITOR), Change.Source.API
    editing.save(table="help_lines", values=values, by=eve, expected_version=None, source=source)
    publishing.publish(note="one more language", by=eve)


@pytest.mark.usefixtures("turkish")
@pytest.mark.parametrize("text", [DANGER, "Kendimi oldurmek istiyorum", f"Pasaport. {DANGER}!"])
def test_the_page_has_them_in_their_language(text: str) -> None:
    client = visitor()
    turn = send(client, text)
    html = page(client.get("/"))
    assert 'lang="tr" dir="auto">Yalnız değilsiniz.' in html
    assert html.count(HELP) == 1
    assert selectors.turn_view(turn.pk).contact_texts == [TURKISH]


def test_without_them_those_of_the_knowledge_show(ask: Ask) -> None:
    turn = ask(DANGER)
    (line,) = selectors.turn_view(turn.pk).contacts
    assert (turn.language, line.language) == ("tr", "en")
    assert Turn.objects.get().state == "needs_review"


@pytest.mark.usefixtures("published")
def test_filipino_has_them_by_its_longer_code(ask: Ask) -> None:
    _publish("fil", "Hindi ka nag-iisa. Tumawag agad sa 911.")
    turn = ask("gusto ko nang mamatay, ayoko na talaga")
    assert "Hindi ka nag-iisa. Tumawag agad sa 911." in selectors.turn_view(turn.pk).contact_texts


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("code", ["nb", "no"])
def test_norwegian_has_them_by_either_of_its_codes(code: str) -> None:
    _publish(code, "Du er ikke alene. Ring 113 med en gang.")
    text = "Jeg orker ikke mer og vil ikke leve lenger"
    release = knowledge.current_release()
    assert release is not None
    result = contacts(["self_harm"], release, language.best(text, {"no"}), text=text)
    assert [(entry.language, entry.text) for entry in result] == [
        ("no", "Du er ikke alene. Ring 113 med en gang.")
    ]


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("page", ["en", "fr", "es"])
def test_those_in_the_language_of_the_page_stand_first(ask: Ask, page: str) -> None:
    turn = ask("mon mari me frappe")
    with translation.override(page):
        assert selectors.turn_view(turn.pk).contacts[0].language == page
