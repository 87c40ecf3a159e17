"""A citizen chooses, in a real browser, where the assistant does not know."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.steps import ask, assert_accessible, assert_fits, connected, expect_answer
from tests.selection import sample

pytestmark = pytest.mark.browser

TITLE = "Which of these do you mean?"


@pytest.mark.parametrize("width", sample([1440, 390, 320]))
def test_a_tap_leads_to_the_answer_on_the_same_page(quiet_page: Page, width: int) -> None:
    page = quiet_page
    page.set_viewport_size({"width": width, "height": 844})
    page.goto("/")
    connected(page)
    ask(page, "passport")
    expect(page.get_by_role("heading", name=TITLE)).to_be_visible()
    options = page.locator(".offer__option")
    for box in [option.bounding_box() for option in options.all()]:
        assert box is not None
        assert box["height"] >= 44
    assert_fits(page)
    assert_accessible(page)
    page.evaluate("window.sameDocument = true")
    name = page.locator(".offer__name").nth(1).inner_text()
    options.nth(1).press("Enter")
    expect_answer(page)
    # The button is gone, and the focus with it: it is led to what came of the choice.
    expect(page.get_by_role("heading", name=name)).to_be_focused()
    expect(page.get_by_text("You chose this")).to_be_visible()
    assert page.evaluate("window.sameDocument") is True
    assert_accessible(page)


def test_two_are_ticked_on_a_telephone(quiet_page: Page) -> None:
    page = quiet_page
    page.set_viewport_size({"width": 320, "height": 844})
    page.goto("/")
    connected(page)
    ask(page, "Register a birth? And register a death?")
    expect(page.get_by_role("group", name=TITLE)).to_be_visible()
    show = page.get_by_role("button", name="Show the answers")
    show.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="Choose at least one")).to_be_visible()
    expect(show).to_be_focused()
    assert_fits(page)
    assert_accessible(page)
    ticks = page.get_by_role("checkbox").and_(page.locator(".offer__tick"))
    names = page.locator(".offer__name").all_inner_texts()
    ticks.nth(0).press("Space")
    page.get_by_text(names[3], exact=True).click()
    assert_accessible(page)
    show.press("Enter")
    expect_answer(page)
    for name in (names[0], names[3]):
        expect(page.get_by_role("heading", name=name)).to_be_visible()
    expect(page.get_by_text("You chose this")).to_be_visible()


@pytest.mark.whole
def test_who_chooses_nothing_of_it_is_led_to_what_happens_now(quiet_page: Page) -> None:
    page = quiet_page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/")
    connected(page)
    ask(page, "passport")
    page.get_by_role("button", name="None of these").press("Enter")
    element = page.get_by_role("heading", name="A person will answer this question")
    expect(element).to_be_focused()
    expect(element).to_be_in_viewport()
    expect(page.locator("#status")).to_have_text("Question 1: The assistant asks you to choose.")


@pytest.mark.whole
def test_who_goes_on_writing_after_a_choice_is_left_there(quiet_page: Page) -> None:
    page = quiet_page
    page.goto("/")
    connected(page)
    ask(page, "passport")
    page.locator(".offer__option").nth(1).press("Enter")
    page.get_by_role("textbox").focus()
    expect_answer(page)
    expect(page.get_by_role("textbox")).to_be_focused()


@pytest.mark.whole
def test_what_the_socket_brings_first_stays_when_the_form_is_answered(page: Page) -> None:
    element = page.get_by_role("heading", name="A person will answer this question")

    def late(route: Route) -> None:
        response = route.fetch()
        # A click of the driver's own would wait for this request.
        element.wait_for()
        route.fulfill(response=response)

    page.goto("/")
    ask(page, "passport")
    page.route("**/choice/", late)
    with page.expect_response("**/choice/") as answered:
        page.get_by_role("button", name="None of these").click()
    answered.value.finished()
    page.evaluate("new Promise((settled) => setTimeout(settled, 100))")
    expect(element).to_be_visible()


@pytest.mark.whole
@pytest.mark.parametrize("width", sample([390, 320, 1280]))
def test_a_typed_choice_leaves_its_answer_in_view(quiet_page: Page, width: int) -> None:
    page = quiet_page
    page.set_viewport_size({"width": width, "height": 740})
    page.goto("/")
    connected(page)
    ask(page, "passport")
    expect(page.get_by_role("heading", name=TITLE)).to_be_visible()
    # It leads to the first option, with the last one in view.
    expect(page.locator(".offer__option").first).to_be_focused()
    expect(page.get_by_role("button", name="None of these")).to_be_in_viewport(ratio=1)
    page.locator("#question").press_sequentially("2")
    page.keyboard.press("Enter")
    expect_answer(page)
    expect(page.get_by_text("Your next message took the place")).to_have_count(1)
    newest = page.locator(".turn").last
    expect(newest.locator(".message")).to_be_in_viewport(ratio=1)
    expect(newest.locator(".outcome h3").first).to_be_in_viewport(ratio=1)


@pytest.mark.whole
def test_one_choice_stands_open(quiet_page: Page) -> None:
    page = quiet_page
    page.goto("/")
    connected(page)
    ask(page, "passport")
    expect(page.locator(".offer")).to_have_count(1)
    ask(page, "visa")
    expect(page.locator(".turn").last.locator(".offer__option").first).to_be_focused()
    earlier = page.locator(".turn").first
    expect(earlier.get_by_text("Your next message took the place")).to_be_visible()
    expect(earlier.locator(".offer__option")).to_have_count(0)
    assert_accessible(page)
