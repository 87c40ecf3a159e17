"""Telephone numbers as links; the rest of a text stays text."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from conversations.chat.reply_presenters import FactView, ReplyView
from conversations.templatetags.pages import emergency_telephones, reachable

pytestmark = pytest.mark.django_db

NUMBERS = re.compile(r'<a class="govuk-link" href="tel:(\+?[0-9]+)">([^<]*)</a>')


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (
            "Call 112 now, or the Child Line on +999 20 555 0102, at any hour.",
            ["112", "+999205550102"],
        ),
        ("Police: 110. Ambulance: 144", ["110", "144"]),
        ("Listening Line: 116 123 (free)", ["116123"]),
        ("Desk, +999 20 555 0110, Monday to Friday 08:30 to 16:30", ["+999205550110"]),
        ("Appelez le 112 maintenant", ["112"]),
        ("有生命危险时请立即拨打112，", ["112"]),
        ("Section 1125, paragraph 4112", []),
        ("It takes 24 hours. Since 2019: 12 people, 4,000 calls, at: 1200.50", []),
    ],
)
def test_it_links_the_numbers_and_no_other_digits(text: str, numbers: list[str]) -> None:
    html = emergency_telephones(text)
    assert [number for number, _ in NUMBERS.findall(html)] == numbers
    assert all(" " not in result for _, result in NUMBERS.findall(html))
    assert unescape(NUMBERS.sub(r"\2", html)).replace("\u00a0", " ") == text


@given(st.text() | st.text(alphabet="ab0@.+- <>&\"'"))
def test_mail_addresses_are_links_and_the_text_stays(text: str) -> None:
    html = reachable(f"Desk {text} work@jobs.example, 2nd floor")
    assert '<a class="govuk-link" href="mailto:' in html
    rest = re.sub(r"</?a[^>]*>", "", html)
    assert "<" not in rest
    assert re.sub(r"\s", " ", unescape(rest)) == re.sub(
        r"\s", " ", f"Desk {text} work@jobs.example, 2nd floor"
    )


def test_a_room_is_no_number_in_an_answer() -> None:
    assert reachable("Room: 112") == "Room: 112"


@given(st.text() | st.text(alphabet="+0123456789 :-<>&\"'()cal"))
def test_whatever_it_is_given_stays_text(text: str) -> None:
    html = emergency_telephones(text)
    rest = NUMBERS.sub(r"\2", html)
    assert "<" not in rest
    assert re.sub(r"\s", " ", unescape(rest)) == re.sub(r"\s", " ", text)


def test_an_answer_links_its_contact_only() -> None:
    desk = "Desk <1>, +999 20 555 0110"
    facts = (FactView("What it costs", (desk,)), FactView("Contact", (desk,), name="contact"))
    reply = ReplyView("service", "", "", (), facts, (), "", (), "model", True)
    html = render_to_string("conversations/reply/_reply.html", {"reply": reply, "partial": True})
    assert html.count("Desk &lt;1&gt;, ") == 2
    assert len(NUMBERS.findall(html)) == 1


@pytest.mark.parametrize("path", ["/", "/help/", "/privacy/", "/accessibility/", "/nowhere/"])
def test_every_page_has_the_emergency_number(
    published: None, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "IEIM_EMERGENCY_NUMBER", "9 99")
    html = Client().get(path).content.decode()
    assert 'call <a class="govuk-link" href="tel:999">9\u00a099</a>' in html
