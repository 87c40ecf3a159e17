"""A second factor in a real browser: an app's code to scan, and a security key."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.office import checked_at_both_widths, log_in

pytestmark = pytest.mark.browser


@pytest.fixture
def desk(browser: Browser, live_site: str) -> Iterator[Page]:
    """A browser with a security key in it; keys are for names, and not for numbers of a network."""
    context = browser.new_context(base_url=live_site.replace("127.0.0.1", "localhost"))
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    devtools = context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    key = {"protocol": "ctap2", "transport": "usb", "isUserVerified": True}
    more = {"hasResidentKey": True, "hasUserVerification": True}
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": {**key, **more}})
    yield page
    context.close()
    assert problems == []


def test_a_security_key_is_asked_for_at_the_next_login(desk: Page) -> None:
    log_in(desk, "supervisor")
    desk.goto("/staff/factors/")
    checked_at_both_widths(desk)
    desk.goto("/staff/factors/webauthn/add/")
    desk.get_by_label("Password").fill("demo-supervisor")
    desk.get_by_role("button", name="Confirm").click()
    expect(desk.get_by_role("heading", level=1)).to_have_text("Add Security Key")
    desk.get_by_role("button", name="Add").click()
    expect(desk).to_have_url(re.compile("/staff/factors/recovery-codes/"))
    checked_at_both_widths(desk)
    desk.goto("/staff/factors/totp/activate/")
    expect(desk.locator("main svg")).to_be_visible()
    checked_at_both_widths(desk)
    desk.get_by_role("button", name="Log out").click()
    log_in(desk, "supervisor")
    expect(desk).to_have_url(re.compile("/staff/factors/authenticate/"))
    checked_at_both_widths(desk)
    desk.get_by_role("button", name="Use a security key").click()
    expect(desk).to_have_url(re.compile("/review/"))
    # Every test of this site shares its accounts.
    desk.goto("/staff/factors/webauthn/")
    desk.get_by_role("button", name="Remove").click()
    desk.get_by_label("Password").fill("demo-supervisor")
    desk.get_by_role("button", name="Confirm").click()
    expect(desk.get_by_text("Are you sure")).to_be_visible()
    desk.get_by_role("button", name="Remove").click()
    desk.goto("/staff/factors/")
    expect(desk.get_by_text("No security keys have been added.")).to_be_visible()
