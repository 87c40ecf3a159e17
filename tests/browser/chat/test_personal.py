"""A citizen chooses, in a real browser, what becomes of a card number in their question."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import (
    VISA,
    ask,
    assert_accessible,
    assert_fits,
    connected,
    expect_answer,
)
from tests.selection import sample

pytestmark = pytest.mark.browser

CARD = "4111 1111 1111 1111"
TEXT = f"{VISA}. I paid with card {CARD}"
SHORTER = f"{VISA}. I paid with card [number removed]"
TITLE = "Not sent yet: is this number needed?"


@pytest.mark.parametrize("width", sample([1440, 390, 320]))
def test_it_goes_without_the_number(quiet_page: Page, width: int) -> None:
    page = quiet_page
    page.set_viewport_size({"width": width, "height": 844})
    page.goto("/")
    connected(page)
    page.evaluate("window.sameDocument = true")
    ask(page, TEXT)
    panel = page.get_by_role("region", name=TITLE)
    expect(panel).to_be_focused()
    expect(panel.locator("mark")).to_have_text(CARD)
    expect(panel.locator("blockquote")).to_have_text(SHORTER)
    expect(page.get_by_role("textbox")).to_have_value(TEXT)
    assert_fits(page)
    assert_accessible(page)
    panel.get_by_role("button", name="Send without it").press("Enter")
    expect_answer(page)
    expect(page.locator(".message__text")).to_have_text(SHORTER)
    expect(page.get_by_role("textbox")).to_have_value("")
    expect(panel).to_have_count(0)
    assert page.evaluate("window.sameDocument") is True


@pytest.mark.whole
def test_it_can_be_changed_or_sent_as_it_is(quiet_page: Page) -> None:
    page = quiet_page
    page.goto("/")
    connected(page)
    ask(page, TEXT)
    panel = page.get_by_role("region", name=TITLE)
    panel.get_by_role("link", name="Change it").press("Enter")
    expect(panel).to_have_count(0)
    expect(page.get_by_role("textbox")).to_be_focused()
    expect(page.get_by_role("textbox")).to_have_value(TEXT)
    ask(page, TEXT)
    panel.get_by_role("button", name="Send as it is").click()
    expect_answer(page)
    expect(page.locator(".message__text")).to_have_text(TEXT)
    expect(page.get_by_role("textbox")).to_have_value("")
