"""The auditors' pages in a real browser: wide, narrow, and without JavaScript."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.steps import ask, assert_accessible, assert_fits, expect_answer

pytestmark = pytest.mark.browser

DESK: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}


def sign_in(page: Page) -> None:
    page.goto("/staff/login/")
    page.get_by_label("User name").fill("auditor")
    page.get_by_label("Password").fill("demo-auditor")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit")


def look_for_answers(page: Page) -> None:
    page.get_by_label("Kind of event").select_option("turn.answered")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("heading", name="Found, the newest first")).to_be_in_viewport()
    expect(page.get_by_role("heading", name="The citizen got an answer").first).to_be_visible()


def test_an_auditor_finds_what_happened_on_a_desk_and_on_a_phone(
    browser: Browser, live_site: str
) -> None:
    context = browser.new_context(base_url=live_site, viewport=DESK)
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.goto("/")
    ask(page)
    expect_answer(page)
    sign_in(page)
    for size in (DESK, PHONE):
        page.set_viewport_size(size)
        assert_accessible(page)
        assert_fits(page)
    look_for_answers(page)
    page.locator(".audit-event details").first.click()
    assert_fits(page)
    page.locator(".audit-event__by").first.get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("What happened to")
    expect(page.get_by_role("heading", name="The citizen sent a message")).to_be_visible()
    for size in (PHONE, DESK):
        page.set_viewport_size(size)
        assert_accessible(page)
        assert_fits(page)
    assert problems == []
    context.close()


@pytest.mark.whole
def test_it_works_without_javascript_and_gives_the_file(browser: Browser, live_site: str) -> None:
    context = browser.new_context(base_url=live_site, viewport=PHONE, java_script_enabled=False)
    page = context.new_page()
    sign_in(page)
    page.get_by_label("Who", exact=True).fill("auditor")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("heading", name="Somebody logged in").first).to_be_visible()
    page.locator(".audit-event__by").first.get_by_role("link").first.click()
    with page.expect_download() as result:
        page.get_by_role("button", name="Download this chain").click()
    lines = Path(result.value.path()).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))
    page.goto("/audit/?kind=audit.exported")
    expect(page.get_by_role("heading", name="Events were downloaded")).to_be_visible()
    context.close()
