"""The lead's board in a real browser: danger, alerts, sharing out, and absence without a script."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, expect

from tests.browser.office import Office, checked_at_both_widths, opened
from tests.browser.steps import VISA

pytestmark = pytest.mark.browser

NOTIFICATION = """
window.Notification = class {
  static permission = "default";
  static answers = ["denied", "granted"];
  static async requestPermission() { return (Notification.permission = this.answers.shift()); }
  constructor(title) { document.querySelector("main").append(title); }
};
"""


@pytest.fixture(scope="module")
def office(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with opened(browser, tmp_path_factory.mktemp("office")) as office:
        yield office


def test_a_lead_sees_danger_and_shares_it_out(office: Office) -> None:
    office.citizen(f"{VISA}, if not I will kill myself")
    page = office.caseworker("supervisor")
    page.add_init_script(NOTIFICATION)
    page.goto("/review/board/")
    expect(page.get_by_role("heading", name="Danger that nobody works on")).to_be_visible()
    alerts = page.get_by_role("button", name="Tell me of alerts on this computer")
    alerts.click()
    expect(page.get_by_text("The browser does not allow alerts here.")).to_be_visible()
    alerts.click()
    expect(page.get_by_role("main")).to_contain_text("1 item is overdue or soon due.")
    expect(page.get_by_text("The browser does not allow alerts here.")).to_have_count(0)
    page.get_by_role("button", name="Show a sample alert").click()
    expect(page.get_by_role("main")).to_contain_text("This is how an alert looks.")
    page.get_by_role("button", name="Turn alerts off on this computer").click()
    expect(alerts).to_be_visible()
    page.locator("tbody summary").first.click()
    checked_at_both_widths(page)
    page.set_viewport_size({"width": 390, "height": 844})
    box = page.get_by_role("button", name="Set as absent").first.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 390, "reached without scrolling to the side"

    page.get_by_label("How many").fill("1")
    page.get_by_role("button", name="See who would get them").click()
    page.get_by_role("button", name="Share these out").click()
    expect(page.get_by_text("Shared out:")).to_be_visible()
    page.get_by_role("button", name="Take the last sharing out back").click()
    expect(page.get_by_text("1 item was given back.")).to_be_visible()
    office.leave()


def test_absence_needs_no_script(office: Office) -> None:
    page = office.caseworker(java_script_enabled=False)
    page.goto("/review/absence/")
    page.get_by_label("Back on").fill("2020-01-01")
    page.get_by_role("button", name="Set as absent").click()
    expect(page.get_by_text("Choose a day after today")).to_be_visible()
    back_on = timezone.localdate() + timedelta(days=3)
    page.get_by_label("Back on").fill(back_on.isoformat())
    page.get_by_role("button", name="Set as absent").click()
    expect(page.get_by_text(f"You are absent until {back_on:%-d %B %Y}")).to_be_visible()
    page.get_by_role("button", name="Set as present").click()
    expect(page.get_by_text("You are present.")).to_be_visible()
    office.leave()
