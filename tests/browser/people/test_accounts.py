"""The pages of accounts in a real browser: at both widths, and without a script."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.office import checked_at_both_widths, log_in

pytestmark = pytest.mark.browser

NEW = "an entirely new sentence"


def test_everybody_can_use_them(quiet_page: Page) -> None:
    desk = quiet_page
    log_in(desk, "admin")
    desk.get_by_role("link", name="People").click()
    checked_at_both_widths(desk)
    desk.get_by_label("Name or e-mail address").fill("colin")
    desk.get_by_role("button", name="Search").click()
    desk.get_by_role("link", name="Colin Case").click()
    checked_at_both_widths(desk)
    desk.goto("/staff/people/new/")
    checked_at_both_widths(desk)


def test_somebody_is_added_and_comes_in_by_the_link_without_a_script(
    browser: Browser, live_site: str
) -> None:
    context = browser.new_context(base_url=live_site, java_script_enabled=False)
    desk, visitor = context.new_page(), browser.new_context(base_url=live_site).new_page()
    log_in(desk, "admin")
    desk.goto("/staff/people/new/")
    desk.get_by_role("button", name="Add the account").click()
    expect(desk.get_by_role("heading", name="There is a problem")).to_be_visible()
    desk.get_by_label("User name, to log in with").fill("wendy")
    desk.get_by_label("caseworker:", exact=False).first.check()
    desk.get_by_label("Every agency").check()
    desk.get_by_role("button", name="Add the account").click()
    desk.get_by_label("Password").fill("demo-admin")  # who sees a link proves who they are
    desk.get_by_role("button", name="Confirm").click()
    link = desk.get_by_label("To set a password").input_value()
    desk.get_by_role("link", name="All people").click()
    expect(desk.get_by_role("row", name=re.compile("wendy"))).to_contain_text("Invited")

    visitor.goto(link)
    for label in ("New password", "New password confirmation"):
        visitor.get_by_label(label, exact=True).fill(NEW)
    visitor.get_by_role("button", name="Set it").click()
    visitor.get_by_label("User name").fill("wendy")
    visitor.get_by_label("Password").fill(NEW)
    visitor.get_by_role("button", name="Log in").click()
    expect(visitor).to_have_url(re.compile("/review/"))
    context.close()
    visitor.context.close()
