"""The question box: at hand from the first moment, and sent with Enter."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.steps import PASSPORT, VISA, ask, assert_accessible, connected, expect_answer

pytestmark = pytest.mark.browser

SIZES = [(390, 844), (1440, 900)]


@pytest.mark.whole
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_it_is_in_view_from_the_first_moment_and_while_one_reads(
    quiet_page: Page, width: int, height: int
) -> None:
    page = quiet_page
    page.set_viewport_size({"width": width, "height": height})
    page.goto("/")
    connected(page)
    box, button = page.locator("#question"), page.get_by_role("button", name="Ask", exact=True)
    for element in (box, button):
        expect(element).to_be_in_viewport(ratio=1)
    ask(page)
    expect_answer(page)
    ask(page, PASSPORT)
    expect_answer(page, 2)
    # The newest answer came to rest with its beginning in view, and the box stays beneath it.
    expect(page.locator(".turn").last.locator(".message")).to_be_in_viewport(ratio=1)
    page.evaluate("window.scrollTo(0, 0)")
    for element in (box, button):
        expect(element).to_be_in_viewport(ratio=1)
    newest = page.get_by_role("button", name="To the newest")
    expect(newest).to_be_in_viewport(ratio=1)
    newest.click()
    expect(page.locator(".turn").last.locator(".message")).to_be_in_viewport(ratio=1)
    expect(box).to_be_focused()
    expect(newest).to_be_hidden()
    assert_accessible(page)


@pytest.mark.whole
def test_enter_sends_and_a_switch_turns_it_off(quiet_page: Page) -> None:
    page = quiet_page
    page.goto("/")
    connected(page)
    box = page.locator("#question")
    expect(page.locator("#question-hint")).to_contain_text("Enter sends your question")
    box.press_sequentially("I want to extend")
    box.press("Shift+Enter")
    box.press_sequentially("my tourist visa")
    expect(box).to_have_value("I want to extend\nmy tourist visa")
    expect(page.locator(".turn")).to_have_count(0)
    box.press("Enter")
    expect_answer(page)
    page.get_by_text("Settings of this page").click()
    page.get_by_role("checkbox", name="Enter sends").uncheck()
    box.fill(VISA)
    box.press("Enter")
    expect(box).to_have_value(f"{VISA}\n")
    expect(page.locator("#question-hint")).not_to_contain_text("Enter sends your question")
    page.reload()
    expect(page.locator("#enter-sends")).not_to_be_checked()


COMPOSE = """([order, keyCode]) => {
  const box = document.getElementById("question");
  const enter = (isComposing) => box.dispatchEvent(new KeyboardEvent("keydown",
    { key: "Enter", code: "Enter", keyCode, isComposing, bubbles: true, cancelable: true }));
  box.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
  if (order === "before") enter(true);
  box.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true, data: "を" }));
  if (order === "after") enter(false);
}"""


@pytest.mark.whole
@pytest.mark.parametrize(
    "order",
    [("before", 229), ("before", 13), ("after", 229), ("after", 13)],
    ids=["Chrome", "Firefox", "Safari", "without key codes"],
)
def test_enter_that_ends_a_composition_sends_nothing(
    quiet_page: Page, order: tuple[str, int]
) -> None:
    page = quiet_page
    page.goto("/")
    connected(page)
    box = page.locator("#question")
    box.fill("パスポートを")
    page.evaluate(COMPOSE, order)
    expect(box).to_have_value("パスポートを")
    expect(page.locator("#ask-note")).to_be_empty()
    box.press("Enter")
    expect(box).to_have_value("")


def test_what_is_typed_after_enter_is_the_next_question(quiet_page: Page) -> None:
    page = quiet_page
    records: list[str | bytes] = []
    routes: list[WebSocketRoute] = []
    slow = False

    def wire(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        server.on_message(lambda text: records.append(text) if slow else route.send(text))
        routes.append(route)

    page.route_web_socket("**/ws/chat/**", wire)
    page.goto("/")
    connected(page)
    slow = True
    box = page.locator("#question")
    box.press_sequentially(VISA)
    box.press("Enter")
    box.press_sequentially("And the fee?")
    expect(box).to_have_value("And the fee?")
    expect(page.locator(".turn")).to_have_count(0)
    slow = False
    while records:
        routes[-1].send(records.pop(0))
    expect_answer(page)
    expect(page.locator(".message__text")).to_have_text(VISA)
    expect(box).to_have_value("And the fee?")
    page.reload()
    expect(box).to_have_value("And the fee?")


@pytest.mark.whole
@pytest.mark.parametrize(("width", "height"), [(320, 640), (390, 640)])
def test_on_a_small_telephone_it_takes_a_sixth_of_the_height(
    quiet_page: Page, width: int, height: int
) -> None:
    page = quiet_page
    page.set_viewport_size({"width": width, "height": height})
    page.goto("/")
    connected(page)
    ask(page)
    expect_answer(page)
    box = page.locator("#ask").bounding_box()
    assert box is not None
    assert box["height"] <= height / 6
    typed, send = (page.locator(entry).bounding_box() for entry in ("#question", "#ask-button"))
    assert typed is not None
    assert send is not None
    assert abs(typed["y"] - send["y"]) < 4
    expect(page.get_by_role("textbox", name="Ask another question")).to_be_in_viewport(ratio=1)


@pytest.mark.whole
def test_an_answer_to_a_long_question_shows_its_beginning(quiet_page: Page) -> None:
    page = quiet_page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/")
    connected(page)
    box = page.locator("#question")
    box.fill(f"{VISA}.{' I have asked everybody I know and nobody could tell me.' * 30}")
    box.press("Enter")
    expect(page.locator(".answer__foot, .held, .offer__until")).to_have_count(1)
    expect(page.locator(".outcome h3").first).to_be_in_viewport()
    expect(box).to_be_focused()


@pytest.mark.whole
def test_a_card_unfolds_with_the_keyboard(quiet_page: Page) -> None:
    page = quiet_page
    page.goto("/")
    connected(page)
    page.locator("#question").press_sequentially(VISA)
    page.keyboard.press("Enter")
    expect_answer(page)
    expect(page.locator("#question")).to_be_focused()
    about = page.get_by_text("Everything about this: Extend a tourist visa")
    expect(page.get_by_text("Who it is for", exact=True)).to_be_hidden()
    # Back from the question box: its rating, who wrote it, why, its source, and what is folded.
    for _ in range(12):
        page.keyboard.press("Shift+Tab")
        if about.evaluate("(e) => e.closest('summary') === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(page.get_by_text("Who it is for", exact=True)).to_be_visible()
    expect(about).to_be_in_viewport()
