"""Failures of one step, decided in a handful of clicks however many they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.office import BAD, Office, checked_at_both_widths, opened
from tests.browser.steps import VISA

pytestmark = [pytest.mark.browser]
CLICKS = 5
QUESTIONS = 12


@pytest.fixture(scope="module")
def office(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    rates = ("IEIM_API_SESSIONS_RATE", "IEIM_ADDRESS_RATE", "IEIM_QUESTIONS_RATE")
    unlimited = dict.fromkeys(rates, "none")
    with opened(browser, tmp_path_factory.mktemp("alike"), **unlimited) as office:
        yield office
        office.leave()


def ask_many(office: Office) -> None:
    """Let a dozen questions stop at one step."""
    # More than is needed: a busy machine may give a call up, and ask again.
    office.model.script = {"category_select_v1": BAD * QUESTIONS * 3}
    page = office.visitor()
    page.goto("/")
    for _ in range(QUESTIONS):
        session = page.request.post("/api/v1/sessions/", data={}).json()
        headers = {"Authorization": f"Bearer {session['token']}"}
        turns = f"/api/v1/sessions/{session['id']}/turns/"
        assert page.request.post(turns, data={"text": VISA}, headers=headers).ok


def test_alike_failures_take_five_clicks(office: Office) -> None:
    ask_many(office)
    page, clicks = office.caseworker(), 0

    def click(role: str, name: str) -> None:
        nonlocal clicks
        clicks += 1
        page.get_by_role(role, name=name).click()  # type: ignore[arg-type]  # a role of ARIA
        page.wait_for_load_state()

    page.goto("/review/")
    row = page.locator(".queue-row--alike", has_text=f"{QUESTIONS} alike")
    for _ in range(200):
        if row.count():
            break
        page.wait_for_timeout(1000)
        page.reload()
    checked_at_both_widths(page)
    click("link", f"{QUESTIONS} alike")
    checked_at_both_widths(page)
    click("button", f"Decide all {QUESTIONS} together")
    checked_at_both_widths(page)
    click("radio", "Ask the model again")
    click("button", "See what happens")
    checked_at_both_widths(page)
    click("button", f"Do this with {QUESTIONS} items")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text(f"Ask the model again: {QUESTIONS} items")
    expect(page.get_by_text("Until then you can take it back.")).to_be_visible(timeout=50_000)
    checked_at_both_widths(page)
    assert clicks == CLICKS
    page.get_by_role("button", name="Take all of it back").click()
    expect(page.locator("#progress")).to_contain_text("Taken back")
    expect(page.get_by_text("Nothing is left to do.")).to_be_visible(timeout=60_000)
    page.goto("/review/")
    expect(row).to_be_visible()
