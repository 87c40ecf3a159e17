"""A fresh city: an administrator gives it name, logo, colour, contacts and texts, on one page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests import live
from tests.administration.setting import SVG
from tests.browser.office import checked_at_both_widths, log_in

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site of one's own: its settings change."""
    with live.served(tmp_path_factory.mktemp("city")) as base_url:
        yield base_url


def section(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name=title)


def save(page: Page, title: str, **typed: str) -> None:
    """Fill in fields of a section by their labels, and save it."""
    part = section(page, title)
    for label, text in typed.items():
        part.get_by_label(label.replace("_", " "), exact=True).fill(text)
    part.get_by_role("button", name="Save").click()


def test_a_fresh_city_has_a_good_page_without_touching_a_file(
    browser: Browser, city: str, tmp_path: Path
) -> None:
    logo = tmp_path / "logo.svg"
    logo.write_bytes(SVG)
    name = "City of Southport"
    context = browser.new_context(base_url=city)
    page = context.new_page()
    log_in(page, "admin")
    page.get_by_role("link", name="Settings").click()
    checked_at_both_widths(page)

    section(page, "Name and logo").get_by_label("Logo", exact=True).set_input_files(logo)
    save(page, "Name and logo", Name=name, Short_name=name.removeprefix("City of "))
    expect(page.get_by_text("Name and logo: saved.")).to_be_visible()

    save(page, "Colours", Colour="#ff8800")
    expect(page.get_by_role("heading", name="Colours: not saved")).to_be_visible()
    checked_at_both_widths(page)
    save(page, "Colours", Colour="#7a1f5c")
    expect(page.get_by_text("Colours: saved.")).to_be_visible()

    save(page, "Contacts", Telephone="+49 30 901820")
    with context.expect_page() as opened:
        section(page, "Opening hours").get_by_label("Monday").fill("07:00-19:00")
        section(page, "Opening hours").get_by_role("button", name="Preview").click()
    preview = opened.value
    expect(preview.get_by_text("Nothing is saved yet")).to_be_visible()
    expect(preview.get_by_text("07:00–19:00")).to_be_visible()
    checked_at_both_widths(preview)
    save(page, "Opening hours")
    save(page, "Legal texts: English", Who_is_responsible=f"{name}\n\nTown Hall")
    expect(page.get_by_text("Legal texts: English: saved.")).to_be_visible()

    citizen = browser.new_context(base_url=city).new_page()
    citizen.goto("/")
    expect(citizen).to_have_title(f"Ask about a public service – {name.removeprefix('City of ')}")
    brand = citizen.locator(".app-header__own")
    expect(brand).to_have_css("color", "rgb(122, 31, 92)")
    locator = citizen.locator(".app-header__logo")
    assert locator.bounding_box() is not None
    checked_at_both_widths(citizen)
    citizen.get_by_role("link", name="Talk to a person").first.click()
    expect(citizen.get_by_role("link", name="+49 30 901820").first).to_be_visible()
    checked_at_both_widths(citizen)
    citizen.goto("/privacy/")
    expect(citizen.get_by_text("Town Hall")).to_be_visible()
    checked_at_both_widths(citizen)


@pytest.mark.whole
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_of_it_can_be_read_on_a_dark_screen_too(
    browser: Browser, city: str, scheme: str
) -> None:
    options = {"base_url": city, "color_scheme": scheme}
    page = browser.new_context(**options).new_page()  # type: ignore[arg-type]  # a fixed word
    for path in ("/", "/help/", "/accessibility/"):
        page.goto(path)
        checked_at_both_widths(page)
    log_in(page, "admin")
    page.goto("/settings/")
    checked_at_both_widths(page)
