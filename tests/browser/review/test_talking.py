"""A citizen asks for a person, and a caseworker comes: both sides live, and without JavaScript."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.office import BAD, NARROW, WIDE, Office, checked_at_both_widths, take
from tests.browser.steps import assert_accessible, connected

pytestmark = pytest.mark.browser

HELP = "Somebody should look at my papers, please."
HALF = "Please come to the office"
REFUSED = "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); };"
"""A script of a browser that stores nothing."""


def asks(page: Page, *, checked: bool = False) -> None:
    """Ask for a person, by a call back."""
    page.goto("/")
    page.locator("#ask-person").get_by_role("link", name="Talk to a person").click()
    page.get_by_label("In your own words").fill(HELP)
    # What one way asks for shows once it is chosen.
    for way, result in (("By e-mail", "Your e-mail address"), ("Call me back", "When?")):
        expect(page.get_by_label(result)).to_be_hidden()
        page.get_by_label(way, exact=True).check()
        expect(page.get_by_label(result)).to_be_visible()
    if checked:
        checked_at_both_widths(page)
    page.get_by_role("button", name="Ask for a person").click()
    expect(page.locator(".govuk-error-summary")).to_be_focused()
    page.get_by_label("Your telephone number").fill("+1 202 555 0143")
    if checked:
        checked_at_both_widths(page)
    page.get_by_role("button", name="Ask for a person").click()
    expect(page.get_by_role("heading", name="A person will answer you")).to_be_visible()


def comes(office: Office, citizen: Page) -> Page:
    """Let a caseworker take the conversation over."""
    # Without an agency it is for those who may work on such items.
    page = office.caseworker("supervisor")
    office.open(page, citizen)
    take(page)
    expect(page.get_by_role("link", name="+1 202-555-0143")).to_be_visible()
    page.get_by_role("link", name="Talk with the citizen").click()
    page.get_by_role("button", name="Take the conversation over").click()
    return page


def test_both_write_and_see_it_at_once(office: Office) -> None:
    citizen = office.visitor()
    asks(citizen, checked=True)
    connected(citizen)
    checked_at_both_widths(citizen)
    page = comes(office, citizen)
    expect(citizen.locator(".line--joined")).to_be_visible()
    expect(citizen.get_by_label("Write to the person")).to_be_visible()
    page.get_by_label("Write to the citizen").fill("Good morning. Which papers are they?")
    page.get_by_role("button", name="Send").click()
    expect(citizen.locator(".line__text")).to_have_text("Good morning. Which papers are they?")
    citizen.get_by_role("textbox").fill("The ones for my visa.")
    citizen.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator("#said").get_by_text("The ones for my visa.")).to_be_visible()
    checked_at_both_widths(page)
    assert_accessible(citizen)
    page.get_by_role("button", name="Hand back").click()
    expect(citizen.locator(".line--left")).to_be_visible()
    expect(citizen.get_by_label("Ask another question")).to_be_visible()


def test_a_warning_and_a_card_and_it_is_sent_with_the_keyboard(office: Office) -> None:
    citizen = office.visitor()
    asks(citizen)
    connected(citizen)
    page = comes(office, citizen)
    box = page.get_by_label("Write to the citizen")
    expect(box).to_be_focused()
    box.press_sequentially("It costs MRK 17.31.")
    expect(page.get_by_text("The service list does not give this.")).to_be_visible()
    page.get_by_text("Send services as cards").click()
    page.get_by_placeholder("Find a service").press_sequentially("extend a tourist visa")
    page.get_by_label("Extend a tourist visa").check()
    checked_at_both_widths(page)
    box.press("Control+Enter")
    expect(page.locator("#said").get_by_text("It costs MRK 17.31.")).to_be_visible()
    expect(box).to_be_focused()
    expect(box).to_be_empty()
    card = citizen.locator(".line .answer__card")
    expect(card.get_by_role("heading", name="Extend a tourist visa")).to_be_visible()
    checked_at_both_widths(citizen)
    checked_at_both_widths(page)


@pytest.mark.whole
@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("scripts", [True, False])
def test_a_long_talk_opens_at_its_newest_message_with_the_box_in_view(
    office: Office, size: ViewportSize, scripts: bool
) -> None:
    citizen = office.citizen(category_select_v1=BAD)
    page = office.caseworker(java_script_enabled=scripts)
    page.set_viewport_size(size)
    office.open(page, citizen)
    if scripts:
        take(page)
    else:
        page.get_by_role("button", name="Claim this item").click()
    page.get_by_role("link", name="Talk with the citizen").click()
    page.get_by_role("button", name="Take the conversation over").click()
    for number in range(3):
        page.get_by_label("Write to the citizen").fill("Please wait.\n" * 15 + f"Word {number}")
        page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Word 0")).not_to_be_in_viewport()
    expect(page.locator(".talk__text").last).to_be_in_viewport()
    expect(page.get_by_label("Write to the citizen")).to_be_in_viewport(ratio=1)
    connected(citizen)
    citizen.get_by_role("textbox").fill("I am still here.")
    citizen.get_by_role("button", name="Send", exact=True).click()
    expect(citizen.get_by_text("I am still here.")).to_be_visible()
    if not scripts:
        page.get_by_role("link", name="Look for new messages").click()
    expect(page.locator("#said").get_by_text("I am still here.")).to_be_in_viewport()
    expect(page.get_by_label("Write to the citizen")).to_be_in_viewport(ratio=1)


def talks(office: Office, *, beforehand: str = "") -> Page:
    """A caseworker who has the conversation of a citizen, and writes.

    ``beforehand`` is a script that their pages run first.
    """
    citizen = office.citizen(category_select_v1=BAD)
    page = office.caseworker()
    page.add_init_script(beforehand)
    office.open(page, citizen)
    take(page)
    page.get_by_role("link", name="Talk with the citizen").click()
    page.get_by_role("button", name="Take the conversation over").click()
    page.wait_for_load_state()  # with the scripts that keep drafts
    page.get_by_label("Write to the citizen").fill(HALF)
    return page


@pytest.mark.whole
def test_who_loses_the_item_cannot_write_on_and_keeps_what_they_typed(office: Office) -> None:
    page = talks(office)
    is_taken_over(office, page)
    expect(page.get_by_label("Write to the citizen")).to_have_count(0)
    expect(page.get_by_role("button", name="Send")).to_have_count(0)
    expect(page.get_by_text("Sofia Super has this item: who has it can")).to_be_visible()
    expect(page.locator("#kept")).to_contain_text(HALF)
    expect(page.locator("#claim")).to_contain_text("has this item until")
    checked_at_both_widths(page)
    page.reload()
    expect(page.locator("#kept")).to_contain_text(HALF)


@pytest.mark.whole
@pytest.mark.parametrize("storage", ["", REFUSED])
def test_what_is_typed_stays_in_view_where_the_browser_has_nothing_stored(
    office: Office, storage: str
) -> None:
    page = talks(office, beforehand=storage)
    page.evaluate("localStorage.clear()")  # as another tab may
    is_taken_over(office, page)
    expect(page.get_by_label("Write to the citizen")).to_have_count(0)
    expect(page.locator("#kept")).to_contain_text(HALF)
    page.locator("#kept").get_by_role("button").click()
    expect(page.locator("#kept")).not_to_be_visible()


def is_taken_over(office: Office, page: Page) -> None:
    """Let a supervisor take the item of a talk over."""
    boss = office.caseworker("supervisor")
    boss.goto(page.url.partition("talk/")[0])
    boss.get_by_role("button", name=re.compile("Take over from")).click()


@pytest.mark.whole
def test_what_is_typed_outlives_a_reload_until_it_is_sent(office: Office) -> None:
    page = talks(office)
    page.reload()
    expect(page.get_by_label("Write to the citizen")).to_have_value(HALF)
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#said").get_by_text(HALF)).to_be_visible()
    page.reload()
    expect(page.get_by_label("Write to the citizen")).to_have_value("")
    expect(page.locator("#kept")).not_to_be_visible()


@pytest.mark.whole
def test_an_answer_reads_as_on_the_citizens_page_and_stays_unfolded(office: Office) -> None:
    citizen = office.citizen(held=False)
    asks_plainly(citizen)
    page = office.caseworker("supervisor")
    office.open(page, citizen)
    take(page)
    page.get_by_role("link", name="Talk with the citizen").click()
    page.get_by_role("button", name="Take the conversation over").click()
    more = page.locator("#said details").first
    more.locator("summary").click()
    checked_at_both_widths(page)
    connected(citizen)
    citizen.get_by_role("textbox").fill("I am still here.")
    citizen.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator("#said").get_by_text("I am still here.")).to_be_visible()
    expect(more).to_have_attribute("open", "")


def answers_plainly(office: Office, citizen: Page) -> Page:
    """Let a caseworker take the conversation over and say good morning, without scripts."""
    page = office.caseworker("supervisor", java_script_enabled=False)
    office.open(page, citizen)
    page.get_by_role("button", name="Claim this item").click()
    page.get_by_role("link", name="Talk with the citizen").click()
    page.get_by_role("button", name="Take the conversation over").click()
    page.get_by_label("Write to the citizen").fill("Good morning.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Good morning.").first).to_be_visible()
    return page


def asks_plainly(page: Page) -> None:
    """Ask for a person on this page."""
    page.goto("/person/")
    page.get_by_label("In your own words").fill(HELP)
    page.get_by_role("button", name="Ask for a person").click()
    expect(page.get_by_role("heading", name="A person will answer you")).to_be_visible()
