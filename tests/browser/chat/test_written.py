"""What a citizen has written and not sent is there after a reload, and in no other conversation."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import VISA, ask, connected, expect_answer

pytestmark = pytest.mark.browser

BEGUN = "Before I come: is the office"
KEPT = "Object.entries(sessionStorage).filter(([, kept]) => kept.includes('Before I come'))"


def opened(page: Page) -> None:
    page.goto("/")
    connected(page)


def write(page: Page, text: str = BEGUN) -> None:
    page.locator("#question").press_sequentially(text)


def talk_and_write(page: Page) -> None:
    """Have an answer, and the next question begun."""
    opened(page)
    ask(page)
    expect_answer(page)
    write(page)


def begin_again(page: Page) -> None:
    """Leave such a talk for another one."""
    talk_and_write(page)
    page.get_by_role("button", name="Start again").click()
    expect(page.get_by_role("heading", name="Ask about a public service")).to_be_visible()


def test_it_is_there_after_a_reload_until_it_is_sent(quiet_page: Page) -> None:
    page = quiet_page
    opened(page)
    box = page.locator("#question")
    write(page)
    page.reload()
    expect(box).to_have_value(BEGUN)
    expect(page.locator("#question-count")).not_to_have_text("You can use up to 4,000 characters.")
    box.fill(VISA)
    page.reload()
    page.get_by_role("button", name="Ask", exact=True).click()
    expect_answer(page)
    expect(box).to_have_value("")
    page.reload()
    expect(box).to_have_value("")
    # In a conversation as well.
    write(page)
    page.reload()
    expect(box).to_have_value(BEGUN)
    expect(page.locator(".turn")).to_have_count(1)


@pytest.mark.whole
def test_another_conversation_does_not_get_it(quiet_page: Page) -> None:
    page = quiet_page
    begin_again(page)
    connected(page)
    expect(page.locator("#question")).to_have_value("")
    assert page.evaluate(KEPT) == []


@pytest.mark.whole
def test_nothing_is_left_of_a_conversation_that_is_deleted(quiet_page: Page) -> None:
    page = quiet_page
    talk_and_write(page)
    page.get_by_role("link", name="Delete this conversation").click()
    page.get_by_role("link", name="Keep it and go back").click()
    expect(page.locator("#question")).to_have_value(BEGUN)
    assert page.evaluate(KEPT) != []
    page.get_by_role("link", name="Delete this conversation").click()
    page.get_by_role("button", name="Delete this conversation").click()
    expect(page.get_by_role("heading", name="Your conversation is deleted")).to_be_visible()
    assert page.evaluate(KEPT) == []


@pytest.mark.whole
def test_the_page_works_where_storage_is_refused(quiet_page: Page) -> None:
    page = quiet_page
    page.add_init_script(
        "Object.defineProperty(window, 'sessionStorage',"
        " { get() { throw new DOMException('no', 'SecurityError'); } });"
    )
    opened(page)
    write(page)
    page.locator("#question").fill(VISA)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect_answer(page)
    expect(page.locator("#question")).to_have_value("")


@pytest.mark.whole
def test_going_back_does_not_bring_it_back(quiet_page: Page) -> None:
    """The browser fills in forms of pages that one goes back to."""
    page = quiet_page
    begin_again(page)
    page.go_back()
    connected(page)
    expect(page.locator("#question")).to_have_value("")
