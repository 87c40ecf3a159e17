"""A citizen asks in a real browser."""

from __future__ import annotations

import re
import threading

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.steps import (
    PASSPORT,
    VISA,
    ask,
    assert_accessible,
    assert_fits,
    connected,
    expect_answer,
)
from tests.selection import sample

pytestmark = pytest.mark.browser

HELD = "I will see you in court about the bridge"


@pytest.mark.parametrize("width", sample([1280, 375, 320]))
def test_it_answers_with_the_source(quiet_page: Page, width: int) -> None:
    page = quiet_page
    page.set_viewport_size({"width": width, "height": 720})
    page.goto("/")
    connected(page)
    assert_fits(page)
    ask(page)
    expect_answer(page)
    expect(page.get_by_role("heading", name="What to do first")).to_be_visible()
    expect(page.locator(".answer__sources a")).to_have_attribute("href", re.compile("^https://"))
    expect(page.locator("#status")).to_have_text("Question 1: Your answer is ready.")
    expect(page.locator("#question")).to_have_value("")
    expect(page.locator(".suggestions")).to_have_count(0)
    page.get_by_text("Why this answer").click()
    expect(page.locator("mark").first).to_be_visible()
    assert_fits(page)
    assert_accessible(page)


@pytest.mark.whole
def test_it_answers_an_example_at_one_click(quiet_page: Page) -> None:
    page = quiet_page
    page.goto("/")
    connected(page)
    page.get_by_role("button", name=VISA).click()
    expect_answer(page)
    expect(page.locator(".message__text")).to_have_text(VISA)
    # The button that had the focus is gone: the focus is at the question, not lost.
    expect(page.locator(".turn")).to_be_focused()


def test_it_shows_the_steps_while_it_works(
    quiet_page: Page, thinking_site: tuple[str, threading.Event]
) -> None:
    page = quiet_page
    base_url, _ = thinking_site
    page.goto(base_url)
    connected(page)
    ask(page)
    expect(page.locator(".steps__item--done").first).to_be_visible()
    button = page.get_by_role("button", name="Ask", exact=True)
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(page.locator("#ask-note")).to_contain_text("when this one is answered")
    assert_accessible(page)
    page.locator("#question").fill("And how much is it?")
    button.click(force=True)
    expect(page.locator(".turn")).to_have_count(1)
    expect(page.locator("#question")).to_have_value("And how much is it?")


@pytest.mark.whole
def test_it_shows_the_answer_after_a_reload(
    quiet_page: Page, thinking_site: tuple[str, threading.Event]
) -> None:
    page = quiet_page
    base_url, answer = thinking_site
    page.goto(base_url)
    connected(page)
    ask(page)
    expect(page.locator(".steps__item--done").first).to_be_visible()
    answer.set()
    page.reload()
    expect_answer(page)
    expect(page.locator(".turn")).to_have_count(1)


@pytest.mark.whole
def test_it_shows_the_same_in_two_tabs(quiet_page: Page) -> None:
    page = quiet_page
    page.goto("/")
    ask(page)
    expect_answer(page)
    other = page.context.new_page()
    other.goto("/")
    connected(other)
    ask(other, PASSPORT)
    expect_answer(other, 2)
    expect_answer(page, 2)


def test_it_can_be_used_with_the_keyboard_alone(quiet_page: Page) -> None:
    page = quiet_page
    page.goto("/")
    connected(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to main content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type(VISA)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect_answer(page)
    # The answer has not taken the focus away.
    expect(page.locator("#ask-button")).to_be_focused()


@pytest.mark.parametrize("text", sample(["  ", "x" * 2001]))
def test_it_keeps_what_it_cannot_take(quiet_page: Page, text: str) -> None:
    page = quiet_page
    page.goto("/")
    connected(page)
    ask(page, text)
    expect(page.locator("#question-error")).to_contain_text("Error:")
    expect(page.locator("#question")).to_have_value(text)
    expect(page.locator("#question")).to_have_attribute("aria-invalid", "true")
    assert_accessible(page)
    ask(page)
    expect_answer(page)
    expect(page.locator("#question-error")).to_be_empty()


@pytest.mark.whole
def test_it_keeps_a_text_too_long_for_a_frame(page: Page) -> None:
    page.goto("/")
    connected(page)
    ask(page, "visa " * 5000)
    expect(page.locator("#question-error")).to_contain_text("Error:")
    expect(page.locator("#question")).to_have_value("visa " * 5000)
    assert_accessible(page)


@pytest.mark.whole
def test_it_counts_code_points(quiet_page: Page) -> None:
    page = quiet_page
    page.goto("/")
    page.locator("#question").fill("🛂" * 1999)
    expect(page.locator("#question-count")).to_have_text("Characters left: 1")
    page.locator("#question").fill("🛂" * 2002)
    expect(page.locator("#question-count")).to_have_text("Characters too many: 2")


def test_it_says_what_happens_to_a_question_for_a_person(
    quiet_page: Page, browser: Browser, live_site: str
) -> None:
    page = quiet_page
    page.goto("/")
    connected(page)
    ask(page, HELD)
    expect(page.get_by_role("heading", name="A person will answer this question")).to_be_visible()
    expect(page.get_by_text("You get the answer on this page by")).to_be_visible()
    assert_accessible(page)
    link = page.locator(".held .resume__link").inner_text()
    elsewhere = browser.new_context(base_url=live_site)
    other = elsewhere.new_page()
    other.goto(link)
    assert_accessible(other)
    other.get_by_role("button", name="Continue this conversation").click()
    expect(other).to_have_url(f"{live_site}/")
    expect(other.locator(".message__text")).to_have_text(HELD)
    elsewhere.close()


@pytest.mark.whole
def test_it_keeps_an_open_explanation_open(quiet_page: Page) -> None:
    page = quiet_page
    page.goto("/")
    connected(page)
    ask(page)
    expect_answer(page)
    page.get_by_text("Why this answer").click()
    ask(page, PASSPORT)
    expect_answer(page, 2)
    expect(page.locator(".answer__why").first).to_have_attribute("open", "")
