"""An editor brings in a file of an open standard, sees what has no place, and imports it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import live
from tests.browser.office import checked_at_both_widths

pytestmark = pytest.mark.browser

NAME = "Report a found passport"
FILE = {
    "@context": "https://schema.org",
    "@type": "GovernmentService",
    "@id": "https://passports.example.org/found",
    "name": NAME,
    "description": "Bring it to us, or to any police station.",
    "award": "none",
}


@pytest.fixture(scope="module")
def importing_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site of one's own: an import changes the draft."""
    with live.served(tmp_path_factory.mktemp("importing")) as base_url:
        yield base_url


def written(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def choose(page: Page, file: Path, agency: str = "Passport and Identity Office") -> None:
    page.get_by_label("File").set_input_files(file)
    page.get_by_label("Agency").select_option(label=agency)
    page.get_by_role("button", name="Show what would change").click()


@pytest.mark.whole
def test_an_editor_imports_a_standard(
    browser: Browser, importing_site: str, tmp_path: Path
) -> None:
    context = browser.new_context(base_url=importing_site)
    page = context.new_page()
    page.goto("/staff/login/?next=/knowledge/standards/")
    page.get_by_label("User name").fill("editor")
    page.get_by_label("Password").fill("demo-editor")
    page.get_by_role("button", name="Log in").click()
    checked_at_both_widths(page)

    choose(page, written(tmp_path, "broken.json", "{"))
    expect(page.get_by_role("alert")).to_contain_text("broken.json cannot be imported")
    expect(page.get_by_role("alert")).to_contain_text("line 1")
    checked_at_both_widths(page)

    choose(page, written(tmp_path, "found.jsonld", json.dumps(FILE)))
    expect(page.get_by_role("heading", level=1)).to_have_text("What the file would change")
    page.get_by_role("link", name="see what does not").click()
    left = page.get_by_role("listitem").filter(has_text="/award")
    expect(left).to_contain_text("the index has no place for")
    page.locator("summary").filter(has_text=NAME).click()
    expect(page.get_by_text("Bring it to us")).to_be_visible()
    checked_at_both_widths(page)
    assert not shown(page, importing_site, NAME)

    page.goto("/knowledge/standards/preview/")
    page.get_by_role("button", name="Import into the draft").click()
    expect(page.get_by_text("1 entry added")).to_be_visible()
    checked_at_both_widths(page)
    assert shown(page, importing_site, NAME)
    context.close()


def shown(page: Page, site: str, name: str) -> bool:
    """Whether the draft has a service of that name."""
    data = page.request.get(f"{site}/api/v1/knowledge/services/", params={"q": name}).json()
    return name in {entry["name"] for entry in data["items"]}
