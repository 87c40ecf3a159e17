"""One entry's page: a usual change on a telephone, and what was typed is not lost."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import live
from tests.browser.steps import assert_accessible, assert_fits

pytestmark = pytest.mark.browser

NARROW = {"width": 390, "height": 844}
LIST = "/knowledge/services/?q=extend+tourist"
SERVICE = "Extend a tourist visa"
FEES = "What it costs"
COUNT_CLICKS = """() => {
  const key = "clicks";
  addEventListener("click", () => {
    sessionStorage.setItem(key, Number(sessionStorage.getItem(key) ?? 0) + 1);
  }, true);
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site of its own: its draft is changed."""
    with live.served(tmp_path_factory.mktemp("entry")) as base_url:
        yield base_url


@pytest.fixture
def page(browser: Browser, site: str) -> Iterator[Page]:
    """An editor's telephone, on the list of services; no script may fail."""
    context = browser.new_context(base_url=site, viewport=NARROW)  # type: ignore[arg-type]  # a TypedDict
    context.add_init_script(f"({COUNT_CLICKS})()")
    page, problems = context.new_page(), list[str]()
    page.on("pageerror", lambda error: problems.append(str(error)))
    log_in(page)
    page.evaluate("sessionStorage.setItem('clicks', 0)")
    yield page
    context.close()
    assert problems == []


def log_in(page: Page, address: str = LIST) -> None:
    page.goto(f"/staff/login/?next={address.replace('?', '%3F')}")
    page.get_by_label("User name").fill("editor")
    page.get_by_label("Password").fill("demo-editor")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Log in")


def good(page: Page) -> None:
    assert_accessible(page)
    assert_fits(page)


def opened(page: Page) -> None:
    page.get_by_role("link", name=SERVICE, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(SERVICE)
    page.wait_for_load_state()


def test_a_fee_takes_two_presses_and_shows_while_it_is_typed(page: Page) -> None:
    good(page)
    opened(page)
    good(page)
    page.get_by_label(FEES).fill("12,50 Zorkmids")
    expect(page.locator("#live")).to_contain_text("12,50 Zorkmids")
    expect(page.locator("#id_fees-notes")).to_contain_text("names no currency")
    good(page)
    page.get_by_label(FEES).fill("EUR 12.50")
    expect(page.locator("#id_fees-notes")).to_be_empty()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Saved in the draft.")
    assert page.evaluate("sessionStorage.getItem('clicks')") == "2"
    expect(page.locator("#kept")).to_be_hidden()
    page.get_by_role("button", name="How does the search rank these questions?").click()
    expect(page.locator("#ranking")).to_contain_text("First for")
    page.locator("summary").first.click()
    good(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    good(page)


@pytest.mark.whole
def test_what_was_typed_outlives_a_session_and_is_offered_again(page: Page) -> None:
    opened(page)
    address = page.url.removeprefix(page.evaluate("location.origin"))
    page.get_by_label("What it is").fill("Half a sentence")
    expect(page.locator("#live")).to_contain_text("Half a sentence")
    page.context.clear_cookies(name="sessionid")
    log_in(page, address)
    expect(page.locator("#kept")).to_be_visible()
    good(page)
    page.get_by_role("button", name="Put it back").click()
    expect(page.get_by_label("What it is")).to_have_value("Half a sentence")
    page.reload()
    page.get_by_role("button", name="Throw it away").click()
    page.reload()
    expect(page.locator("#kept")).to_be_hidden()
    expect(page.get_by_label("What it is")).not_to_have_value("Half a sentence")


@pytest.mark.whole
def test_a_new_service_gets_a_key_while_its_name_is_typed(page: Page) -> None:
    page.get_by_role("link", name="Add a service").click()
    page.get_by_label("Agency").select_option(index=1)
    page.get_by_label("Name", exact=True).fill("Étendre un visa, vite!")
    expect(page.get_by_label("Key")).to_have_value("etendre-un-visa-vite")
    good(page)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Étendre un visa, vite!")
    page.goto("/knowledge/new/service/")
    expect(page.locator("#kept")).to_be_hidden()
    for path in ("new/agency/", "new/category/", "new/situation/"):
        page.goto(f"/knowledge/{path}")
        good(page)


@pytest.mark.whole
def test_both_versions_are_there_to_choose_without_scripts(browser: Browser, site: str) -> None:
    options = {"viewport": NARROW, "base_url": site, "java_script_enabled": False}
    context = browser.new_context(**options)  # type: ignore[arg-type]  # as above
    page, other = context.new_page(), context.new_page()
    log_in(page)
    opened(page)
    other.goto(page.url)
    for tab, fee in ((other, "EUR 20"), (page, "EUR 30")):
        tab.get_by_label(FEES).fill(fee)
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#live")).to_contain_text("EUR 30")
    for tab in (other, page):
        tab.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("group", name="Two people changed")).to_contain_text("EUR 20")
    page.get_by_label("Mine, as it is in the field").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Saved in the draft.")
    expect(page.get_by_label(FEES)).to_have_value("EUR 30")
    context.close()


def test_notices_and_translations_at_390_pixels(page: Page) -> None:
    page.goto("/knowledge/notices/add/")
    page.get_by_label("What citizens should know").fill("Closed on Fri")
    page.context.clear_cookies()
    page.get_by_role("button", name="Add the notice").click()
    expect(page.get_by_text("What you had typed is kept")).to_be_visible()
    good(page)
    log_in(page, "/knowledge/notices/add/")
    page.get_by_role("button", name="Put it back").click()
    expect(page.get_by_label("What citizens should know")).to_have_value("Closed on Fri")
    page.get_by_label("Agency").select_option(index=1)
    page.get_by_label("End", exact=True).fill("2030-01-01T08:00")
    page.get_by_role("button", name="Add the notice").click()
    expect(page.get_by_text("The notice is in place.")).to_be_visible()
    page.goto("/knowledge/notices/add/")
    expect(page.locator("#kept")).to_be_hidden()
    page.goto("/knowledge/translations/?language=de&state=all")
    good(page)
    page.get_by_role("link", name="Edit the translation").first.click()
    good(page)
    page.goto("/knowledge/situations/having-a-baby/")
    page.get_by_label("Add a service by its name").fill("Extend a tourist visa")
    page.get_by_role("button", name="Add it to the list").click()
    expect(page.get_by_label("Services", exact=True)).to_have_value(re.compile("Extend a tourist"))
    good(page)
