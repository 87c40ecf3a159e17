"""Somebody in danger: how the queue and the item's page show it, and what is asked once more."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.office import BAD, WIDE, Office, checked_at_both_widths, opened, reference, take
from tests.browser.steps import VISA, assert_accessible

pytestmark = pytest.mark.browser

DANGER = f"{VISA}, if not I will kill myself"


@pytest.fixture(scope="module")
def office(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with opened(browser, tmp_path_factory.mktemp("office")) as office:
        yield office


def test_a_crisis_stands_on_top_and_is_told_of(office: Office) -> None:
    office.citizen(category_select_v1=BAD)
    page = office.caseworker()
    page.goto("/review/")
    expect(page).to_have_title(re.compile("^Open"))

    citizen = office.citizen(DANGER)
    # An open page tells of it: in its title, where it is one tab among many, and in words.
    expect(page).to_have_title(re.compile(r"^\(1 in crisis\) Open"))
    expect(page.get_by_text("1 item in crisis is not on this page.")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("link", name="Show it").first.click()

    band = page.get_by_role("region", name="In crisis")
    expect(band.locator(".queue-row")).to_have_count(1)
    expect(band).to_contain_text(reference(citizen))
    expect(band).to_contain_text("Self-harm or suicide")
    expect(page.locator(".queue-row").first).to_contain_text(reference(citizen))
    checked_at_both_widths(page)


@pytest.mark.whole
def test_the_reply_is_written_and_a_card_asked_about_once_more(office: Office) -> None:
    citizen = office.citizen(DANGER)
    page = office.caseworker()
    office.open(page, citizen)
    expect(page.get_by_role("heading", level=1)).to_contain_text("kill myself")
    take(page)
    write = page.get_by_role("radio", name="Write the reply")
    expect(write).to_be_focused()
    expect(write).to_be_checked()
    expect(page.locator("mark.mark--risk", has_text="kill myself").first).to_be_visible()
    expect(page.get_by_role("button", name="See what happens")).to_be_in_viewport(ratio=1)
    checked_at_both_widths(page)

    page.get_by_role("radio", name="Approve it").check()
    page.get_by_label("Why?").fill("It is about the visa.")
    page.get_by_role("button", name="See what happens").click()
    page.get_by_role("button", name="Go on to the last question").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("somebody in danger")
    expect(page.get_by_role("button", name="Write the reply")).to_be_focused()
    checked_at_both_widths(page)
    page.keyboard.press("Enter")

    expect(write).to_be_checked()
    page.get_by_role("button", name="Put it into your words").first.click()
    expect(page.get_by_label("The reply", exact=True)).to_have_value(re.compile("Listening Line"))
    checked = page.locator(".choice__fields:visible .checked")
    expect(checked).to_contain_text("found nothing wrong")
    page.set_viewport_size(WIDE)
    page.get_by_role("button", name="See what happens").click()
    page.get_by_role("button", name="Confirm and stay here").click()
    expect(page.get_by_text("Waits for a second person").first).to_be_visible()

    # The second person reads it below the message and sends it back with a note.
    second = office.caseworker("supervisor")
    second.goto(page.url)
    side = second.get_by_role("region", name="Carla Case decided")
    expect(side).to_contain_text("Listening Line")
    expect(side).to_contain_text("Extend a tourist visa")
    take(second)
    expect(second.get_by_role("radio", name="Agree")).to_be_focused()
    checked_at_both_widths(second)
    second.keyboard.press("8")
    expect(second.get_by_role("radio", name="Send it back")).to_be_checked()
    second.get_by_label("Why?").fill("Say when the office is open.")
    second.get_by_role("button", name="See what happens").click()
    second.get_by_role("button", name="Confirm and stay here").click()
    page.reload()
    expect(page.get_by_text("Say when the office is open.").first).to_be_visible()
    expect(page.get_by_label("The reply", exact=True)).to_have_value(re.compile("Listening Line"))
    checked_at_both_widths(page)
