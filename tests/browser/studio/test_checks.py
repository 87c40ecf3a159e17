"""An editor of a large draft sees how far its checks are, and proposes it when they are done."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from ieim.studio.checks.services import SMALL
from tests import live
from tests.browser.office import WIDE, checked_at_both_widths
from tests.live import ROOT

pytestmark = pytest.mark.browser

DEMO = ROOT / "ieim" / "knowledge" / "demo"
CHECKS, PROPOSE = "/knowledge/checks/", "/knowledge/propose/"
COLOURS = ("red", "green", "blue", "white", "black", "brown", "golden", "silver", "old", "new")
THINGS = ("bicycle", "boat", "bridge", "fence", "garden", "kiosk", "ladder", "roof", "sign", "well")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[live.Site]:
    """A site whose draft is too large to be checked while somebody waits."""
    with live.site(tmp_path_factory.mktemp("checks")) as running:
        large = shutil.copytree(DEMO, tmp_path_factory.mktemp("large") / "bundle")
        with (large / "services.yaml").open("a", encoding="utf-8") as services:
            for number in range(SMALL):
                name = f"Permit for a {COLOURS[number % 10]} {THINGS[number // 10 % 10]}"
                row = {"agency": "immigration", "key": f"permit-{number}", "name": name}
                services.write(f"- {json.dumps(row)}\n")
        running.manage("load_knowledge", str(large))
        yield running


def editor(browser: Browser, site: live.Site) -> Page:
    context = browser.new_context(base_url=site.base_url, viewport=WIDE)
    page = context.new_page()
    page.goto("/staff/login/?next=/knowledge/releases/")
    page.get_by_label("User name").fill("editor")
    page.get_by_label("Password").fill("demo-editor")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Releases")
    return page


def without_polls(route: Route) -> None:
    if route.request.headers.get("hx-request"):
        route.abort()
    else:
        route.continue_()


@pytest.mark.whole
def test_an_editor_watches_the_checks_and_writes_the_note_meanwhile(
    browser: Browser, site: live.Site
) -> None:
    page = editor(browser, site)
    page.route("**/knowledge/**", without_polls)
    page.goto(CHECKS)
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_text("No errors so far.")).to_be_visible()
    checked_at_both_widths(page)
    page.goto(PROPOSE)
    page.get_by_role("button", name="Take them into my set").click()
    page.get_by_label("What changes, and why?").fill("A thousand permits")
    page.unroute("**/knowledge/**")
    expect(page.get_by_text("worth a look")).to_be_visible(timeout=60_000)
    checked_at_both_widths(page)
    page.get_by_role("button", name="Propose", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("waits for a second person")
    page.get_by_role("button", name="Withdraw").click()


@pytest.mark.whole
def test_the_page_of_the_checks_shows_the_rest_by_itself(browser: Browser, site: live.Site) -> None:
    page = editor(browser, site)
    change(page, "MRK 98.00")
    page.goto(CHECKS)
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_text("the draft can be proposed")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("progressbar")).to_have_count(0)
    page.get_by_label("Check", exact=True).select_option("service.duplicate")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("has the same name as").first).to_be_visible()


def change(page: Page, fee: str) -> None:
    """Change a service of the draft."""
    page.goto("/knowledge/services/immigration/immigration.extend-tourist-visa/")
    page.locator("[name=fees]").fill(fee)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Saved in the draft.")
