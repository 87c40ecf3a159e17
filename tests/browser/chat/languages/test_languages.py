"""A citizen asks in French in a real browser, on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import ask, assert_accessible, assert_fits, connected
from tests.selection import sample

pytestmark = pytest.mark.browser

RENEW = "Comment renouveler mon passeport ?"


@pytest.mark.parametrize("width", sample([375, 320]))
def test_it_answers_in_french(quiet_page: Page, width: int) -> None:
    page = quiet_page
    page.set_viewport_size({"width": width, "height": 812})
    page.goto("/")
    connected(page)
    ask(page, RENEW)
    expect(page.get_by_text("Pourquoi cette réponse")).to_be_visible()
    answer = page.locator(".answer")
    expect(answer).to_have_attribute("lang", "fr")
    expect(answer).to_have_attribute("dir", "ltr")
    expect(answer.get_by_role("heading", name="Renouveler un passeport")).to_be_visible()
    expect(answer.get_by_role("heading", name="Par où commencer")).to_be_visible()
    expect(answer.get_by_text("Combien cela coûte")).to_be_visible()
    expect(answer.locator("[lang=en]")).to_have_count(0)
    expect(answer.locator(".answer__notice")).to_have_count(0)
    page.get_by_text("Pourquoi cette réponse").click()
    expect(answer.locator("mark").first).to_be_visible()
    expect(answer.locator(".steps")).to_contain_text("Lecture de votre question: fait")
    assert_fits(page)
    assert_accessible(page)


@pytest.mark.whole
def test_what_is_written_survives_a_change_of_the_language(quiet_page: Page) -> None:
    page = quiet_page
    page.goto("/")
    connected(page)
    page.locator("#question").fill(RENEW)
    page.locator(".app-language__now").click()
    page.get_by_role("button", name="Français").click()
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.locator("#question")).to_have_value(RENEW)
    # For that change alone: it is not kept for whoever comes next.
    page.locator("#question").fill("")
    page.goto("/help/")
    page.goto("/")
    expect(page.locator("#question")).to_have_value("")
