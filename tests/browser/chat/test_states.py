"""Every state of the citizen's page: without a finding of axe, in every light, at every size."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.steps import VISA, ask, assert_accessible, assert_fits, connected, expect_answer
from tests.selection import sample

pytestmark = [pytest.mark.browser, pytest.mark.timeout(420)]

BOTH = "We had a baby. How do we register the birth and claim child benefit?"
DANGER = f"{VISA}, if not I will kill myself"
HELD = "I will see you in court about the bridge"


def empty(page: Page) -> None:
    page.get_by_text("What this assistant can and cannot do").click()


def refused(page: Page) -> None:
    ask(page, "  ")
    expect(page.locator("#question-error")).to_contain_text("Error:")


def answered(page: Page) -> None:
    ask(page)
    expect_answer(page)
    page.get_by_text("Everything about this:").click()
    page.get_by_text("Why this answer").click()


def followed_up(page: Page) -> None:
    ask(page)
    expect_answer(page)
    ask(page, "And how much does it cost?")
    expect_answer(page, 2)
    expect(page.locator(".answer--repeated")).to_have_count(1)
    page.locator(".answer--repeated summary").first.click()


def several(page: Page) -> None:
    ask(page, BOTH)
    expect(page.locator(".answer__card")).to_have_count(2)
    page.get_by_text("Everything about this:").first.click()


def asked_back(page: Page) -> None:
    ask(page, "passport")
    expect(page.get_by_role("heading", name="Which of these do you mean?")).to_be_visible()


def held(page: Page) -> None:
    ask(page, HELD)
    expect(page.get_by_role("heading", name="A person will answer this question")).to_be_visible()


def in_danger(page: Page) -> None:
    ask(page, DANGER)
    expect(page.locator(".contacts")).to_be_visible()
    expect(page.get_by_role("heading", name="A person will answer this question")).to_be_visible()


def rated(page: Page) -> None:
    ask(page)
    expect_answer(page)
    page.get_by_role("button", name="No", exact=True).click()
    expect(page.get_by_text("A caseworker can answer you instead.").last).to_be_visible()


def resumed(page: Page) -> None:
    ask(page)
    expect_answer(page)
    page.goto(page.locator(".resume__link").first.get_attribute("href") or "")
    expect(page.get_by_role("button", name="Continue this conversation")).to_be_visible()


def deleted(page: Page) -> None:
    ask(page)
    expect_answer(page)
    page.get_by_role("link", name="Delete this conversation").click()
    seen(page)
    page.locator("main form button").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(re.compile("deleted"))


STATES = [answered, refused, held, empty, followed_up, several, asked_back]
STATES += [in_danger, rated, resumed, deleted]


@pytest.mark.parametrize("state", sample(STATES))
def test_it_is_accessible(page: Page, live_site: str, state: Callable[[Page], None]) -> None:
    page.goto("/")
    connected(page)
    state(page)
    seen(page)


@pytest.mark.whole
def test_so_is_a_question_that_is_worked_on(
    browser: Browser, thinking_site: tuple[str, threading.Event]
) -> None:
    base_url, _ = thinking_site
    context = browser.new_context(base_url=base_url)
    page = context.new_page()
    page.goto("/")
    connected(page)
    ask(page)
    expect(page.locator(".steps__item--done").first).to_be_visible()
    seen(page)
    context.close()


@pytest.mark.whole
@pytest.mark.parametrize(
    "path", ["/help/", "/privacy/", "/accessibility/", "/c/no-such-secret/", "/turns/x/"]
)
def test_so_are_the_pages_around_it(page: Page, live_site: str, path: str) -> None:
    page.goto(path)
    if page.locator("#main").count():
        seen(page)


def seen(page: Page) -> None:
    """Fail where axe finds something in any light and direction, or something does not fit."""
    root = "document.documentElement"
    before = page.evaluate(f"{root}.dir")
    for scheme in ("light", "dark"):
        for forced in ("none", "active"):
            page.emulate_media(
                color_scheme="dark" if scheme == "dark" else "light",
                forced_colors="active" if forced == "active" else "none",
            )
            for direction in ("ltr", "rtl"):
                page.evaluate(f"(dir) => {{ {root}.dir = dir; }}", direction)
                assert_accessible(page)
    for width, height, size in ((320, 256, "100%"), (390, 844, "200%")):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(f"(size) => {{ {root}.style.fontSize = size; }}", size)
        for direction in ("ltr", "rtl"):
            page.evaluate(f"(dir) => {{ {root}.dir = dir; }}", direction)
            assert_fits(page)
    page.evaluate(f"(dir) => {{ {root}.dir = dir; {root}.style.fontSize = ''; }}", before)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.emulate_media(color_scheme="light", forced_colors="none")


@pytest.mark.whole
def test_on_paper_there_is_nothing_to_press_and_no_private_link(quiet_page: Page) -> None:
    page = quiet_page
    page.goto("/")
    connected(page)
    ask(page)
    expect_answer(page)
    ask(page, "I want to kill myself")
    expect(page.get_by_text("Your reference", exact=True)).to_be_visible()
    page.emulate_media(media="print")
    for pressed in ("button", "textarea", "input", ".govuk-button", ".resume"):
        expect(page.locator(pressed).filter(visible=True)).to_have_count(0)
    printed = page.evaluate(
        "[...document.querySelectorAll('.chat a')].filter((a) => a.getClientRects().length)"
        ".map((a) => a.textContent + getComputedStyle(a, '::after').content)"
    )
    assert printed
    assert not [text for text in printed if "/c/" in text or "/person/" in text]


@pytest.mark.whole
def test_who_leaves_quickly_is_not_led_back_to_the_conversation(quiet_page: Page) -> None:
    page = quiet_page
    neutral = "https://www.wikipedia.org/"
    page.route(neutral, lambda route: route.fulfill(body="Knowledge", content_type="text/html"))
    page.goto("/privacy/")
    page.goto("/")
    connected(page)
    ask(page, "my husband hits me")
    leave = page.get_by_role("link", name="Leave this page quickly")
    expect(leave).to_be_in_viewport(ratio=1)
    assert_accessible(page)
    leave.click()
    page.wait_for_url(neutral)
    page.go_back()
    page.wait_for_url("**/privacy/")
