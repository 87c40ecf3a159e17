"""The page in Arabic in a real browser, from right to left, and the switch for languages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.steps import VISA, assert_accessible, assert_fits, connected
from tests.selection import sample

pytestmark = pytest.mark.browser

SIZES = [[390, 844], [1440, 900], [320, 256]]


@pytest.fixture(params=sample(SIZES), ids=str)
def arabic(browser: Browser, live_site: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of a visitor whose browser is in Arabic."""
    width, height = request.param
    context = browser.new_context(
        base_url=live_site, locale="ar", viewport={"width": width, "height": height}
    )
    yield context.new_page()
    context.close()


def place(page: Page, selector: str) -> dict[str, float]:
    result: dict[str, float] = page.locator(selector).first.evaluate(
        "e => e.getBoundingClientRect().toJSON()"
    )
    return result


def test_it_begins_on_the_right(arabic: Page) -> None:
    page = arabic
    page.goto("/")
    connected(page)
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    assert place(page, ".app-header__name")["left"] > place(page, ".app-language")["right"] - 1
    assert place(page, "#question")["left"] >= place(page, "#ask-button")["right"]
    expect(page.locator(".suggestions__button").first).to_have_attribute("lang", "ar")
    page.get_by_text("ما يستطيع هذا المساعد").click()
    page.locator("#question").fill("🛂" * 1999)
    expect(page.locator("#question-count")).to_have_text("عدد الأحرف المتبقية: 1")
    assert_fits(page)
    assert_accessible(page)


@pytest.mark.whole
def test_an_english_answer_is_read_from_left_to_right_in_it(arabic: Page) -> None:
    page = arabic
    page.goto("/")
    connected(page)
    page.locator("#question").fill(VISA)
    page.locator("#ask-button").click()
    answer = page.locator(".answer")
    expect(answer.get_by_text("Why this answer")).to_be_visible()
    expect(answer).to_have_attribute("dir", "ltr")
    expect(answer).to_have_css("direction", "ltr")
    expect(page.locator(".message")).to_have_css("direction", "rtl")
    # The triangle of what unfolds stands where its text begins: left in it, right around it.
    inside = answer.locator("summary").last
    around = page.locator("#tools summary")
    style = "e => getComputedStyle(e, '::before').left"
    assert inside.evaluate(style) == "0px"
    assert around.evaluate(style) != "0px"
    # A part that came by the socket is in the page's language.
    expect(page.locator("#tools-title")).to_have_text("هذه المحادثة")
    expect(page.locator("#question-label")).to_have_text("اطرح سؤالًا آخر")
    offer = page.locator(".language-offer")
    expect(offer).to_have_attribute("lang", "en-gb")
    assert_fits(page)
    assert_accessible(page)
    offer.get_by_role("button", name="English").click()
    expect(page.locator("html")).to_have_attribute("dir", "ltr")
    expect(page.locator("#tools-title")).to_have_text("This conversation")
    expect(page.locator(".language-offer")).to_have_count(0)


@pytest.mark.whole
def test_the_switch_works_with_the_keyboard(browser: Browser, live_site: str) -> None:
    context = browser.new_context(
        base_url=live_site,
        locale="en-GB",
        viewport={"width": 390, "height": 844},
    )
    page = context.new_page()
    page.goto("/help/")
    page.locator(".app-language summary").focus()
    page.keyboard.press("Enter")
    assert_accessible(page)
    page.get_by_role("button", name="العربية").press("Enter")
    expect(page.locator("html")).to_have_attribute("lang", "ar")
    expect(page.locator("h1")).to_have_text("التحدث إلى موظف")
    page.goto("/")
    expect(page.locator("h1")).to_have_text("اسأل عن خدمة عامة")
    context.close()
