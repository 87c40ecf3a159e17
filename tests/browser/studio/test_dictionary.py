"""An editor puts categories in order on a telephone, with and without JavaScript."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import live
from tests.browser.studio.test_recall import fine, sign_in

pytestmark = pytest.mark.browser

HOME = "/knowledge/dictionary/"
NARROW = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site of its own: its draft is changed."""
    with live.served(tmp_path_factory.mktemp("dictionary")) as base_url:
        yield base_url


def opened(browser: Browser, site: str, *, script: bool) -> Page:
    """The categories of an agency on an editor's telephone."""
    options = {"base_url": site, "viewport": NARROW, "java_script_enabled": script}
    page = browser.new_context(**options).new_page()  # type: ignore[arg-type]  # a TypedDict
    sign_in(page, HOME)
    page.get_by_label("Agency").select_option("immigration")
    page.get_by_role("button", name="Show", exact=True).click()
    return page


def test_services_move_and_a_category_is_split_and_merged(browser: Browser, site: str) -> None:
    page = opened(browser, site, script=True)
    fine(page)
    page.get_by_role("link", name=re.compile("Split.*Visa extensions")).click()
    fine(page)
    page.get_by_role("button", name="Split it").click()
    expect(page.get_by_role("alert")).to_contain_text("Name the new category.")
    fine(page)
    page.get_by_label("Name of the new category").fill("Longer stays")
    page.get_by_label("Extend a tourist visa").check()
    page.get_by_label("more days").check()
    page.get_by_role("button", name="Split it").click()
    expect(page.get_by_role("alert")).to_contain_text("“Longer stays” is added")
    fine(page)
    page.get_by_role("link", name=re.compile("Merge.*Longer stays")).click()
    page.get_by_label("Into which category?").select_option("visa-extensions")
    page.get_by_role("button", name="Show what it would change").click()
    expect(page.get_by_role("main")).to_contain_text("1 service moves to Visa extensions")
    fine(page)
    page.get_by_role("button", name="Merge them").click()
    expect(page.get_by_role("alert")).to_contain_text("merged into “Visa extensions”")
    for path in ("categories/immigration/citizenship/", "situations/having-a-baby/"):
        page.goto(f"/knowledge/{path}")
        fine(page)
        page.get_by_role("link", name="Delete").click()
        fine(page)
    page.context.close()


@pytest.mark.whole
def test_services_move_and_an_entry_is_deleted_without_scripts(browser: Browser, site: str) -> None:
    page = opened(browser, site, script=False)
    page.get_by_role("button", name="Move them").click()
    expect(page.get_by_role("alert")).to_contain_text("The category “” is not there")
    page.get_by_label("Extend a tourist visa").first.check()
    page.get_by_label("Move the ticked services to").select_option("citizenship")
    page.get_by_role("button", name="Move them").click()
    expect(page.get_by_role("alert")).to_contain_text("1 service is moved in the draft.")
    page.get_by_role("link", name="Citizenship", exact=True).click()
    page.get_by_role("link", name="Delete").click()
    expect(page.get_by_role("alert")).to_contain_text("Services still have this category")
    page.get_by_role("link", name="Extend a tourist visa").click()
    page.get_by_role("link", name="Delete").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Extend a tourist visa")
    page.context.close()
