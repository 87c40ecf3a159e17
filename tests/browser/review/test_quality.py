"""Reading answers again with keys alone, and what who decided sees of it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.office import BAD, Office, checked_at_both_widths, decide_with, take
from tests.browser.steps import expect_answer

pytestmark = pytest.mark.browser


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).focus()
    page.keyboard.press("Enter")


def test_an_answer_is_read_again_with_keys_alone(office: Office) -> None:
    citizen = office.citizen(service_select_v1=BAD)
    page = office.caseworker()
    office.open(page, citizen)
    address = page.url
    take(page)
    decide_with(page, "2")
    expect_answer(citizen)
    page.goto(address)
    press(page, "Have this answer read again")
    expect(page.get_by_text("Somebody else will read this answer again.")).to_be_visible()
    checked_at_both_widths(page)

    reader = office.caseworker("colleague")
    reader.goto("/review/")
    reader.locator(".queue-more summary").focus()
    reader.keyboard.press("Enter")
    press(reader, "Read answers again")
    rows = reader.locator(".quality__row")
    expect(rows.first).to_have_class("panel quality__row quality__row--at")
    checked_at_both_widths(reader)
    reader.keyboard.press("2")
    reader.keyboard.press("Enter")  # not whole yet: the browser says so
    reader.keyboard.press("0")
    expect(reader.get_by_role("radio", name="Incomplete", checked=True)).to_have_count(1)
    expect(reader.get_by_role("radio", name="Right", checked=True)).to_have_count(rows.count() - 1)
    reader.keyboard.press("Enter")
    expect(reader.get_by_text("No answer waits to be read again.")).to_be_visible()
    checked_at_both_widths(reader)

    page.goto("/review/answers/")
    expect(page.get_by_role("cell").filter(has_text="Incomplete")).to_be_visible()
    checked_at_both_widths(page)
    lead = office.caseworker("supervisor")
    lead.goto("/review/metrics/")
    expect(lead.get_by_role("table", name="Who decided")).to_be_visible()
    checked_at_both_widths(lead)
