"""A citizen says, in a real browser, that the assistant goes on with the wrong service."""

from __future__ import annotations

import threading

import pytest
from playwright.sync_api import Page, expect

from tests.browser.office import Office
from tests.browser.steps import ask, assert_accessible, assert_fits, connected, expect_answer
from tests.selection import sample

pytestmark = pytest.mark.browser

VISA = "Extend a tourist visa"
FEE = "and how much does it cost?"
OFFER = "Which of these do you mean?"


def talk(page: Page) -> None:
    """Ask about the visa, then something that the assistant takes to be about it still."""
    ask(page)
    expect_answer(page)
    ask(page, FEE)
    expect_answer(page, 2)


@pytest.mark.whole
@pytest.mark.parametrize("width", sample([1440, 390, 320]))
def test_a_tap_asks_the_same_without_the_talk(quiet_page: Page, width: int) -> None:
    page = quiet_page
    page.set_viewport_size({"width": width, "height": 844})
    page.goto("/")
    connected(page)
    talk(page)
    second = page.locator(".turn").nth(1)
    expect(second.get_by_text("Still about:")).to_contain_text(VISA)
    button = page.get_by_role("button", name="Something else")
    expect(button).to_have_count(1)
    expect(button).to_have_accessible_description(f"Still about: {VISA}")
    box = button.bounding_box()
    assert box is not None
    assert box["height"] >= 44
    assert_fits(page)
    assert_accessible(page)
    page.evaluate("window.sameDocument = true")
    page.get_by_role("textbox").fill("My next question")
    button.press("Enter")
    expect(page.get_by_role("heading", name=OFFER)).to_be_visible()
    third = page.locator(".turn").nth(2)
    expect(third).to_contain_text(FEE)
    expect(third).to_contain_text("You asked this again")
    # What stood there has been taken over by the new question, and so has the focus.
    expect(third).to_be_focused()
    expect(third).to_be_in_viewport()
    folded = second.locator("details.replaced")
    expect(folded).to_be_visible()
    expect(second.locator(".answer")).to_be_hidden()
    expect(second.get_by_text("Was this useful?")).to_have_count(0)
    second.get_by_text("Not what you meant:").click()
    expect(second.locator(".answer")).to_be_visible()
    expect(button).to_have_count(0)
    assert_fits(page)
    assert_accessible(page)
    assert page.evaluate("window.sameDocument") is True
    expect(page.get_by_role("textbox")).to_have_value("My next question")
    # What is open stays open while the page goes on.
    third.locator(".offer__option").first.click()
    expect_answer(page, 3)
    expect(second.locator(".answer")).to_be_visible()


@pytest.mark.whole
def test_a_tap_while_another_question_is_worked_on_says_so(office: Office) -> None:
    page = office.citizen(held=False)
    ask(page, FEE)
    expect_answer(page, 2)
    thinks = threading.Event()
    office.model.script = {"judgement_v1": [thinks]}
    ask(page, "I lost my passport")
    expect(page.locator(".outcome[data-pending]")).to_have_count(1)
    page.get_by_role("button", name="Something else").click()
    locator = page.locator("#question-error")
    expect(locator).to_contain_text("We are still working on your last question")
    expect(locator).to_be_in_viewport()
    expect(page.get_by_role("textbox")).to_have_attribute("aria-invalid", "true")
    thinks.set()
    expect_answer(page, 3)
    page.get_by_role("button", name="Something else").click()
    expect(page.locator(".turn")).to_have_count(4)
    expect(locator).to_be_empty()
