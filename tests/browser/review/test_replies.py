"""A saved reply on its way from the page of texts to a citizen."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.office import BAD, Office, checked_at_both_widths, take

pytestmark = pytest.mark.browser

FILLED = "Extend a tourist visa: MRK 45.00 for each person. Children under 6 pay nothing."


def test_a_text_with_placeholders_is_kept_inserted_and_sent(office: Office) -> None:
    citizen = office.citizen(category_select_v1=BAD)
    page = office.caseworker()
    page.goto("/review/")
    page.locator(".queue-more summary").click()
    page.get_by_role("link", name="Texts", exact=True).click()
    page.get_by_label("Title").fill("What it costs")
    page.get_by_label("Text", exact=True).fill("{service.name}: {service.fee}")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name="What it costs")).to_be_visible()
    checked_at_both_widths(page)
    office.open(page, citizen)
    take(page)
    expect(page.get_by_role("heading", name="Similar decided cases")).to_be_visible()
    page.get_by_role("radio", name="Write the reply").check()
    box = page.get_by_label("The reply", exact=True)
    box.fill("Good morning.")
    page.locator(".choice__fields:visible").get_by_text("Texts to insert (1)").click()
    page.get_by_label("Find a text").locator("visible=true").fill("nothing like it")
    text = page.locator(".choice__fields:visible").get_by_role("button", name="What it costs")
    expect(text).to_be_hidden()
    page.get_by_label("Find a text").locator("visible=true").fill("costs")
    text.click()
    expect(box).to_be_focused()
    expect(box).to_have_value(f"Good morning.\n\n{FILLED}")
    checked_at_both_widths(page)
    page.get_by_role("button", name="Confirm and open").click()
    expect(page.locator(".just")).to_contain_text("wrote the reply")
    sent = citizen.get_by_text(FILLED)
    expect(sent).to_be_visible(timeout=40_000)
