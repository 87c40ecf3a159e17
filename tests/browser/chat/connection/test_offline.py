"""Loading the page again without a connection: never the browser's own page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.steps import VISA, assert_accessible, assert_fits, connected
from tests.selection import sample

pytestmark = pytest.mark.browser


@pytest.fixture(params=sample(["en-GB", "ar"]))
def visitor(browser: Browser, live_site: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Somebody who has been on the page, so that their browser has the worker."""
    phone = {"width": 390, "height": 844}
    context = browser.new_context(base_url=live_site, locale=request.param, viewport=phone)  # type: ignore[arg-type]  # a size
    page = context.new_page()
    page.goto("/")
    connected(page)
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    yield page
    context.close()


def arabic(page: Page) -> bool:
    return page.locator("html").get_attribute("dir") == "rtl"


def expect_the_answer(page: Page) -> None:
    """In whatever language the words around it are."""
    expect(page.locator(".outcome .rating").first).to_be_visible()


def test_who_loads_the_page_again_offline_is_told_and_led_back(visitor: Page) -> None:
    visitor.locator("#question").fill(VISA)
    visitor.locator("#ask-button").click()
    expect_the_answer(visitor)
    visitor.context.set_offline(True)
    visitor.reload()
    heading = "لا يوجد اتصال" if arabic(visitor) else "No connection"
    expect(visitor.get_by_role("heading", level=1)).to_have_text(heading)
    expect(visitor.get_by_text("112")).to_be_visible()
    assert_accessible(visitor)
    assert_fits(visitor)
    visitor.context.set_offline(False)
    expect_the_answer(visitor)


@pytest.mark.whole
def test_a_question_that_was_on_its_way_is_sent_once(visitor: Page) -> None:
    visitor.context.set_offline(True)
    visitor.locator("#question").fill(VISA)
    visitor.locator("#ask-button").click()
    expect(visitor.locator("#ask-note")).not_to_be_empty()
    visitor.reload()
    expect(visitor.locator("#try-again")).to_be_visible()
    visitor.context.set_offline(False)
    expect_the_answer(visitor)
    visitor.reload()
    expect_the_answer(visitor)
    expect(visitor.locator(".turn")).to_have_count(1)


@pytest.mark.whole
def test_a_form_stays_with_what_was_written_and_is_sent_once(visitor: Page) -> None:
    visitor.goto("/person/")
    visitor.locator("#text").fill(VISA)
    visitor.context.set_offline(True)
    button = visitor.locator("form[novalidate] button[type=submit]")
    button.click()
    element = visitor.get_by_role("alert")
    text = "لا يوجد اتصال." if arabic(visitor) else "There is no connection. Nothing was sent"
    expect(element).to_contain_text(text)
    expect(visitor.locator("#text")).to_have_value(VISA)
    assert_accessible(visitor)
    assert_fits(visitor)
    visitor.context.set_offline(False)
    button.click()
    expect(visitor.locator(".turn")).to_contain_text(VISA)
    expect(visitor.locator(".turn")).to_have_count(1)
