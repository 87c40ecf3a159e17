"""A citizen says in a real browser whether an answer was useful."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import ask, assert_accessible, assert_fits, connected, expect_answer
from tests.selection import sample

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", sample([1440, 375, 320]))
def test_it_takes_a_verdict_and_says_thank_you(quiet_page: Page, width: int) -> None:
    page = quiet_page
    page.set_viewport_size({"width": width, "height": 812})
    page.goto("/")
    connected(page)
    ask(page)
    expect_answer(page)
    page.evaluate("window.sameDocument = true")
    line = page.get_by_role("group", name="Was this useful?")
    for name in ("Yes", "No"):
        box = line.get_by_role("button", name=name).bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["width"] >= 44
    assert_accessible(page)
    line.get_by_role("button", name="No").press("Enter")
    no = line.get_by_role("button", name="No", pressed=True)
    expect(no).to_be_visible()
    expect(no).to_be_focused()
    expect(line.get_by_role("link", name="Talk to a person")).to_be_visible()
    status = page.locator("#status")
    expect(status).to_have_text("Question 1: Thank you. A caseworker can answer you instead.")
    assert_fits(page)
    assert_accessible(page)
    line.get_by_role("button", name="Yes").click()
    expect(line.get_by_role("button", pressed=True)).to_have_text("✓ Yes")
    expect(status).to_have_text("Question 1: Thank you.")
    assert page.evaluate("window.sameDocument") is True
    # What the socket sends later shows the same.
    ask(page, "I lost my passport. How do I get a new one?")
    expect_answer(page, 2)
    expect(page.get_by_role("button", pressed=True)).to_have_count(1)
    expect(page.get_by_role("group", name="Was this useful?")).to_have_count(2)


@pytest.mark.whole
def test_it_looks_again_when_the_conversation_is_gone(page: Page) -> None:
    page.goto("/")
    connected(page)
    ask(page)
    expect_answer(page)
    page.context.clear_cookies(name="ieim_session")
    page.get_by_role("button", name="Yes").click()
    expect(page.get_by_role("heading", name="Ask about a public service")).to_be_visible()


@pytest.mark.whole
def test_who_writes_of_danger_is_led_to_the_help(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/")
    connected(page)
    ask(page)
    expect_answer(page)
    page.get_by_role("button", name="No", exact=True).click()
    page.get_by_role("textbox", name="What was it?").fill("no use, I will kill myself")
    page.get_by_role("button", name="Send", exact=True).click()
    help_lines = page.get_by_role("heading", name="Please get help now")
    expect(help_lines).to_be_in_viewport()
    expect(page.locator("[id$='-help']:focus")).to_be_visible()
