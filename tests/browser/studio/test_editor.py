"""An editor's journey: a new fee, what it changes, a second person, and back again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import live
from tests.browser.steps import assert_accessible, assert_fits
from tests.selection import sample

pytestmark = pytest.mark.browser

Login = Callable[..., Page]
SERVICE = "Extend a tourist visa"
WIDE, NARROW = 1440, 375
USUAL = {200, 302, 303, 304, 422}


@pytest.fixture(scope="module")
def editors_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site of one's own: publishing changes what every other test is answered from."""
    with live.served(tmp_path_factory.mktemp("editors")) as base_url:
        yield base_url


@pytest.fixture
def login(browser: Browser, editors_site: str) -> Iterator[Login]:
    """Log in as a demo account, which leads to the knowledge. Nothing may go wrong."""
    contexts, problems = [], []

    def open_home(username: str, *, width: int = WIDE) -> Page:
        context = browser.new_context(
            base_url=editors_site,
            viewport={"width": width, "height": 900},
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "response",
            lambda r: problems.append(f"{r.status} {r.url}") if r.status not in USUAL else None,
        )
        page.goto("/staff/login/")
        page.locator("[name=username]").fill(username)
        page.locator("[name=password]").fill(f"demo-{username}")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("What the assistant may say")
        return page

    yield open_home
    for context in contexts:
        context.close()
    assert problems == []


def good(page: Page) -> None:
    assert_accessible(page)
    assert_fits(page)


def edit_fee(page: Page, fee: str) -> None:
    """Change the service's fee, from the list of services."""
    page.goto("/knowledge/services/?q=extend+tourist")
    page.get_by_role("link", name=SERVICE, exact=True).click()
    page.locator("[name=fees]").fill(fee)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Saved in the draft.")


def propose(page: Page, note: str) -> str:
    """Propose the draft from the first page; returns the proposal's address."""
    page.goto("/knowledge/")
    page.get_by_role("link", name="Propose your changes").click()
    page.get_by_label("What changes, and why?").fill(note)
    page.get_by_role("button", name="Propose", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("waits for a second person")
    return page.url


def publish(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("is current")


@pytest.mark.parametrize("width", sample([WIDE, NARROW]))
def test_an_editor_changes_a_fee_and_a_second_person_publishes_it(login: Login, width: int) -> None:
    page, second = login("editor", width=width), login("publisher", width=width)
    fee = f"MRK {width}.00 for each person."
    edit_fee(page, fee)
    page.goto("/knowledge/")
    expect(page.get_by_text("See the checks")).to_be_visible()
    good(page)
    page.get_by_role("link", name="See what differs").click()
    expect(page.locator("ins").filter(has_text=str(width))).to_be_visible()
    good(page)
    page.get_by_label("Kind of entry").select_option("labels")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("Nothing fits these filters.")).to_be_visible()
    page.goto("/knowledge/propose/")
    good(page)
    page.get_by_role("button", name="Propose", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Write a note")
    good(page)

    address = propose(page, "The fee went up")
    good(page)
    expect(page.get_by_role("button", name="Publish", exact=True)).to_have_count(0)
    second.goto("/knowledge/")
    good(second)
    second.locator(".k-waiting").get_by_role("link").click()
    good(second)
    publish(second, address)
    good(second)
    second.goto("/knowledge/services/?q=extend+tourist")
    second.get_by_role("link", name=SERVICE, exact=True).click()
    expect(second.locator(".answer").get_by_text(fee)).to_be_visible()
    good(second)


@pytest.mark.whole
def test_going_back_publishes_an_old_release_again(login: Login) -> None:
    page, second = login("editor"), login("publisher")
    edit_fee(page, "Nothing.")
    publish(second, propose(page, "A slip"))
    page.goto("/knowledge/releases/")
    good(page)
    page.get_by_role("link", name="Release 1", exact=True).click()
    good(page)
    page.get_by_role("link", name="Publish it again").click()
    expect(page.get_by_text("The draft stays as it is.")).to_be_visible()
    good(page)
    page.get_by_label("Why shall it be current again?").fill("The fee was a slip")
    page.get_by_role("button", name="Propose release 1").click()
    address = page.url
    second.goto(address)
    good(second)
    publish(second, address)
    page.goto("/knowledge/")
    expect(page.get_by_role("link", name="Release 1", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Take them into my set")).to_be_visible()


@pytest.mark.whole
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_checks_lead_to_what_to_put_right(login: Login, width: int) -> None:
    page = login("editor", width=width)
    page.goto("/knowledge/services/?q=extend+tourist")
    good(page)
    page.get_by_role("link", name=SERVICE, exact=True).click()
    page.locator("[name=overview]").fill("")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Saved in the draft.")
    page.goto("/knowledge/checks/")
    good(page)
    expect(page.get_by_text("It has no overview")).to_be_visible()
    row = page.locator("li", has_text="It has no overview")
    row.get_by_role("link", name="Edit").click()
    page.locator("[name=overview]").fill("Stay longer than your visa says.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Saved in the draft.")
    page.goto("/knowledge/checks/")
    expect(page.get_by_text("It has no overview")).to_have_count(0)
