"""Two tabs of staff, of which one has logged in since the other was opened."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.office import checked_at_both_widths, log_in

pytestmark = pytest.mark.browser


@pytest.mark.whole
def test_two_tabs_log_in_and_a_form_from_before_is_sent_once_more(
    browser: Browser, live_site: str
) -> None:
    context = browser.new_context(base_url=live_site)
    first, second = context.new_page(), context.new_page()
    second.goto("/staff/login/?next=/staff/tokens/")
    log_in(first, "supervisor")
    second.get_by_label("User name").fill("supervisor")
    second.get_by_label("Password").fill("demo-supervisor")
    second.get_by_role("button", name="Log in").click()
    expect(second).to_have_url(re.compile("/staff/tokens/$"))

    second.get_by_label("Which program is it for?").fill(
        "What the nightly report of the office is called"
    )
    context.clear_cookies(name="sessionid")
    log_in(first, "supervisor")
    second.get_by_role("button", name="Make the token").click()
    expect(second.get_by_role("heading", level=1)).to_have_text("Your form was not sent yet")
    expect(second.get_by_text("What the nightly report of the office")).to_be_visible()
    checked_at_both_widths(second)
    second.get_by_role("button", name="Send it once more").click()
    expect(second.get_by_role("heading", level=1)).not_to_have_text("Your form was not sent yet")
    context.close()
