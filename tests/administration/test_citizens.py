"""What citizens see of the settings, on their pages and by REST."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone, translation

from conversations.chat.presenters import Suggestions
from conversations.selectors import suggestions
from conversations.templatetags.pages import emergency_telephones
from ieim.administration import demo
from tests.administration.setting import put


def page(path: str) -> str:
    return unescape(Client().get(path).content.decode())


def rest() -> dict[str, Any]:
    response = Client().get("/api/v1/administration/")
    assert response.status_code == 200
    data: dict[str, Any] = response.json()
    return data


def test_nothing_is_claimed_where_nothing_is_set(db: None) -> None:
    assert "own-reach" not in page("/help/")
    assert "has not written here yet who is responsible" in page("/privacy/")
    assert "Imprint" not in page("/privacy/")
    assert rest() == {
        "name": "IEIM",
        "short_name": "IEIM",
        "languages": ["en", "fr", "de", "es", "zh-hans", "ar", "fil"],
        "emergency_number": settings.IEIM_EMERGENCY_NUMBER,
        "help_numbers": [],
        "contact": {"telephone": "", "email": "", "address": "", "website": ""},
        "hours": None,
    }


def test_the_emergency_number_that_is_set_wins(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "IEIM_EMERGENCY_NUMBER", "112")
    assert 'href="tel:112"' in page("/help/")
    assert 'href="tel:555"' not in emergency_telephones("Of 555 there")
    put("numbers", emergency="555")
    assert 'call <a class="govuk-link" href="tel:555">555</a>' in page("/help/")
    assert 'href="tel:555"' in emergency_telephones("Of 555 there")
    assert rest()["emergency_number"] == "555"
    put("numbers")
    assert 'href="tel:112"' in page("/help/")


def test_a_person_is_told_how_to_reach_one_and_when(db: None, office_clock: Any) -> None:
    demo.furnish()
    office_clock("2026-11-23 10:00")
    html = page("/help/")
    assert 'href="tel:+999205550199"' in html
    assert 'href="mailto:office@tarrow.example"' in html
    assert "Harbour Square 1<br>10101 Tarrow" in html
    assert "Open now, until 16:30" in html
    assert "<dt>Monday to Wednesday</dt> <dd><bdi>08:30–16:30</bdi></dd>" in html
    assert "<dt>Saturday to Sunday</dt> <dd>closed</dd>" in html
    assert 'href="tel:+999205550100"' in html
    office_clock("2026-11-27 13:00")
    assert re.search(r"Closed now\. Opens on Monday, 30 Nov\w* 2026, at 08:30", page("/help/"))


def test_days_of_its_own_are_told_until_they_are_over(db: None, office_clock: Any) -> None:
    put("hours", monday="09:00-12:00", closed="2026-12-21 to 2027-01-03: winter break\n2026-05-04")
    office_clock("2026-12-20 10:00")
    html = re.sub("</?bdi>", "", page("/help/"))
    assert re.search(r"21 Dec\w* 2026 – 3 Jan\w* 2027: winter break", html)
    assert "May 2026" not in html
    assert re.search(r"Opens on Monday, 4 Jan\w* 2027", html)
    assert rest()["hours"]["closed"] == [
        {"first": "2026-12-21", "last": "2027-01-03", "why": "winter break"}
    ]


def test_it_says_by_rest_when_it_is_open(db: None, office_clock: Any) -> None:
    demo.furnish()
    office_clock("2026-11-23 10:00")
    result = rest()
    assert result["name"] == "Public Services of Tarrow"
    assert result["contact"]["email"] == "office@tarrow.example"
    assert result["help_numbers"][0] == {"name": "Listening Line", "number": "+999 20 555 0100"}
    hours = result["hours"]
    assert (hours["open_now"], hours["until"][:16]) == (True, "2026-11-23T16:30")
    assert hours["days"][3] == {"weekday": 4, "open": [{"opens": "08:30", "closes": "18:00"}]}
    assert hours["days"][6]["open"] == []


def test_the_texts_of_the_law_stand_where_they_belong(db: None) -> None:
    demo.furnish()
    html = page("/privacy/")
    privacy, accessibility = (
        re.sub(r"<[^>]*>", "", entry) for entry in (html, page("/accessibility/"))
    )
    texts = demo.CONTENT["legal-en"]
    for name in ("controller", "officer", "purposes", "rights", "authority", "imprint"):
        assert texts[name].partition(",")[0].partition("\n")[0] in privacy, name
    for name in ("barriers", "enforcement"):
        assert texts[name].partition(",")[0] in accessibility, name
    assert 'href="mailto:privacy@tarrow.example"' in html
    assert "has not written here yet" not in privacy


def test_a_text_is_no_markup(db: None) -> None:
    put("legal-en", controller='<script>alert(1)</script>\n\nhttps://x.example/"onclick=alert(1)')
    put("name", name="<img src=x>", short_name='"><b>x')
    put("contacts", address="<i>1</i>")
    html = Client().get("/privacy/").content.decode() + Client().get("/help/").content.decode()
    for piece in ("<script>alert", "<img src=x", "<b>x", "<i>1", '"onclick', '"onclick'):
        assert piece not in html


def test_a_text_says_which_language_it_is_in(db: None) -> None:
    put("legal-ar", controller="مدينة نورثبورت")
    put("legal-fr", rights="Vous pouvez demander.")
    assert '<div class="own-text" lang="ar" dir="rtl"><p>مدينة' in page("/privacy/")
    put("legal-en", controller="City")
    assert '<div class="own-text" lang="en" dir="ltr"><p>City' in page("/privacy/")
    with translation.override("ar"):
        html = render_to_string("administration/_parts.html#responsible")
    assert 'lang="ar"' in html


def test_its_own_examples_take_the_place_of_the_demos(published: None) -> None:
    assert suggestions().texts
    assert "How do I register a birth?" not in suggestions().texts
    put("examples", en="Where do I vote?\nWhen is the bin emptied?", fr="Où voter ?")
    assert suggestions().texts == ("Where do I vote?", "When is the bin emptied?")
    assert 'value="Where do I vote?"' in page("/")
    with translation.override("fr"):
        assert suggestions() == Suggestions(("Où voter ?",), "fr")
    with translation.override("de"):
        assert suggestions().texts == ()


@pytest.mark.parametrize("language", ["fr", "ar", "fil", "zh-hans"])
def test_the_demos_examples_are_in_the_language_of_the_page(published: None, language: str) -> None:
    english = suggestions()
    assert english.language == "en"
    with translation.override(language):
        texts, code = suggestions()
    assert code == language.partition("-")[0]
    assert len(texts) > 3
    assert not set(texts) & set(english.texts)
    html = Client(headers={"accept-language": language}).get("/").content.decode()
    assert f'lang="{code}" dir="auto" name="text" value="{texts[0]}"' in html


def test_researchers_read_whom_to_tell(db: None) -> None:
    url = "/.well-known/security.txt"
    assert Client().get(url).status_code == 404
    put("contacts", email="office@northport.example", website="https://www.northport.example/")
    answer = Client().get(url)
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in answer.content.decode().splitlines()[::-1])
    assert fields["Contact"] == "mailto:office@northport.example"
    assert "Contact: https://www.northport.example/" in answer.content.decode()
    expires = datetime.fromisoformat(fields["Expires"])
    assert timedelta(days=30) < expires - timezone.now() < timedelta(days=365)
    assert fields["Preferred-Languages"].startswith("en")
