"""An editor takes what web pages say: by keys, on a telephone, and without JavaScript."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import live
from tests.browser.studio.test_recall import fine, sign_in

pytestmark = pytest.mark.browser

MAKE = """
from ieim.people.models import User
from tests.studio.webpages.accepted import BONFIRE, page_of
editor = User.objects.get(username="editor")
NAMES = "Permit for a bonfire", "Permit for a stall", "Extend a tourist visa", "Permit for a kiosk"
for name in NAMES:
    html = BONFIRE.replace("Permit for a bonfire", name)
    page_of(editor, html, agency="immigration", address=f"https://city.example/{len(name)}/{name[-1]}")
"""
FIRST = "/knowledge/webpages/1/"
TAKEN = "is in the draft."


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site of its own, with pages that are drafted."""
    with live.site(tmp_path_factory.mktemp("webpages")) as running:
        running.manage("shell", "-c", MAKE)
        yield running.base_url


def opened(browser: Browser, site: str, path: str, *, script: bool = True) -> Page:
    page = browser.new_context(base_url=site, java_script_enabled=script).new_page()
    sign_in(page, path)
    return page


def test_a_page_is_read_corrected_and_taken_by_keys(browser: Browser, site: str) -> None:
    page = opened(browser, site, FIRST)
    fine(page)
    page.keyboard.press("Alt+e")
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    page.get_by_label("What it costs", exact=True).fill("EUR 25.00, children nothing")
    expect(page.locator("#live")).to_contain_text("children nothing")
    page.get_by_label("What it is", exact=True).fill("A permit for:\n- fires\n- stalls")
    expect(page.locator("#live")).to_contain_text("- stalls")
    assert "\n- fires\n- stalls" in page.locator("#live").inner_text()
    page.get_by_label("What it costs", exact=True).focus()
    text, form = (page.locator(name).bounding_box() for name in ("#page-text", "#accept"))
    assert text
    assert form
    assert text["x"] + text["width"] < form["x"]
    expect(page.locator("mark.w-mark--on").last).to_have_text("EUR 25.00")
    page.locator("body").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("Alt+a")
    expect(page.get_by_role("alert")).to_contain_text(TAKEN)
    expect(page.get_by_label("Name", exact=True)).to_have_value("Permit for a stall")
    expect(page.get_by_role("button", name="Keyboard shortcuts")).to_be_visible()  # keys are on
    page.keyboard.press("?")
    page.get_by_label("Use these shortcuts on this computer").uncheck()
    fine(page)
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("Alt+l")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Permit for a stall")
    page.get_by_label("What it costs", exact=True).fill("Nothing at all")
    page.get_by_role("button", name="Leave it").click()
    expect(page.get_by_role("alert")).to_contain_text("The page is left.")
    page.get_by_role("link", name="Take it back").click()
    fine(page)
    expect(page.get_by_role("button", name="Take all")).to_be_visible()
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_role("button", name="Leave it")).to_be_visible()
    page.get_by_role("button", name="Put it back").click()
    expect(page.get_by_label("What it costs", exact=True)).to_have_value("Nothing at all")
    page.context.close()


def test_a_marked_passage_goes_into_a_field_and_an_entry_is_compared(
    browser: Browser, site: str
) -> None:
    page = opened(browser, site, "/knowledge/webpages/3/")
    into = page.get_by_label("Into which entry?")
    expect(into.locator("option:checked")).to_have_text("Extend a tourist visa")
    expect(page.locator("[name=take]:checked")).to_have_count(0)
    fine(page)
    into.select_option(label="A new one")
    expect(page.locator("#take-fees")).to_be_checked()
    passage = page.get_by_text("A decision is made within ten days.").first
    passage.select_text()
    page.locator("[data-field=processing_time] [data-passage]").click()
    expect(page.locator("#live")).to_contain_text("A decision is made within ten days.")
    page.get_by_label("What it costs", exact=True).focus()
    passage.click()  # the field loses the focus, and gets the passage all the same
    passage.select_text()
    page.keyboard.press("Alt+p")
    costs = page.get_by_label("What it costs", exact=True)
    expect(costs).to_have_value(re.compile("A decision is made within ten days.$"))
    expect(costs).to_be_focused()
    page.keyboard.press("Alt+e")
    time = page.get_by_label("How long it takes", exact=True)
    expect(time).to_be_focused()
    page.keyboard.press("Alt+m")  # the one after the passage that was marked with the mouse
    page.keyboard.press("Alt+b")
    expect(page.locator("#page-text")).to_be_focused()
    page.keyboard.press("Alt+p")
    expect(time).to_have_value(re.compile("(A decision is made within ten days.\n?){2}$"))
    expect(time).to_be_focused()
    page.context.close()


def test_without_scripts_it_is_one_form(browser: Browser, site: str) -> None:
    page = opened(browser, site, "/knowledge/webpages/4/", script=False)
    page.get_by_label("Into which entry?").select_option(index=1)
    page.get_by_role("button", name="Take all").click()
    expect(page.get_by_role("alert")).to_contain_text("Compare the fields")
    page.get_by_label("Into which entry?").select_option(label="A new one")
    page.get_by_role("button", name="Compare the fields with it").click()
    page.locator("#take-fees").uncheck()
    page.get_by_role("button", name="Take what is ticked").first.click()
    expect(page.get_by_role("alert")).to_contain_text(TAKEN)
    page.context.close()
