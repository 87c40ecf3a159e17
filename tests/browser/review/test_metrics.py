"""The metrics page in a real browser: wide, narrow, dark, and without figures."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.steps import ask, assert_accessible, assert_fits, expect_answer
from tests.selection import sample

pytestmark = pytest.mark.browser

DESK: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 375, "height": 812}


def sign_in(page: Page, name: str = "supervisor") -> None:
    page.goto("/staff/login/?next=/review/metrics/")
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(f"demo-{name}")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Metrics")
    page.wait_for_load_state()  # with its style sheet


@pytest.mark.parametrize("scheme", sample(["light", "dark"]))
def test_it_shows_figures_that_everybody_can_read(
    browser: Browser, live_site: str, scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(base_url=live_site, color_scheme=scheme, viewport=DESK)
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.goto("/")
    ask(page)
    expect_answer(page)
    sign_in(page)
    chart = page.get_by_role("img", name="Questions and what came of them")
    table = page.get_by_role("table", name="Questions and what came of them")
    expect(chart).to_be_visible()
    expect(table).to_be_visible()
    left, right = chart.bounding_box(), table.bounding_box()
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] <= right["x"]
    drawn = chart.evaluate(
        "canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)"
        ".data.some(Boolean)"
    )
    assert drawn
    assert_accessible(page)
    assert_fits(page)
    page.set_viewport_size(PHONE)
    assert_accessible(page)
    assert_fits(page)
    assert problems == []
    context.close()


@pytest.mark.whole
def test_it_is_used_with_the_keyboard_and_gives_the_file(browser: Browser, live_site: str) -> None:
    context = browser.new_context(base_url=live_site, viewport=DESK, java_script_enabled=False)
    page = context.new_page()
    sign_in(page)
    page.get_by_role("link", name="Last 7 days").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("img")).to_have_count(0)
    expect(page.get_by_role("link", name="Last 7 days")).to_have_attribute("aria-current", "page")
    with page.expect_download() as begun:
        page.get_by_role("link", name="Download as CSV").press("Enter")
    file = begun.value
    assert file.suggested_filename.startswith("metrics-")
    assert file.path().read_bytes().startswith(b'\xef\xbb\xbf"day","agency",')
    context.close()


@pytest.mark.whole
def test_it_says_what_is_wrong_with_a_date(browser: Browser, live_site: str) -> None:
    context = browser.new_context(base_url=live_site, viewport=PHONE)
    page = context.new_page()
    sign_in(page)
    page.goto("/review/metrics/?from=2020-02-30&to=2020-03-01")
    problem = "The first day is not a date. Write it as 2026-01-31."
    expect(page.get_by_role("alert").get_by_text(problem)).to_be_visible()
    assert_accessible(page)
    assert_fits(page)
    page.goto("/review/metrics/?from=2020-02-01&to=2020-03-01")
    expect(page.get_by_text("Nothing in this period.").first).to_be_visible()
    assert_accessible(page)
    context.close()
