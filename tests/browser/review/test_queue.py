"""Caseworkers at the queue, in real browsers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.steps import ask, assert_accessible, assert_fits, connected
from tests.selection import sample

pytestmark = pytest.mark.browser

# Who threatens with a court waits for a person.
RIVER = "I will see you in court about the river"
HARBOUR = "I will see you in court about the harbour"
Login = Callable[..., Page]


@pytest.fixture(scope="module")
def waiting_site(browser: Browser, live_site: str) -> str:
    """The live site with two items that wait for a person."""
    for text in (RIVER, HARBOUR):
        held(browser, live_site, text)
    return live_site


def held(browser: Browser, site: str, text: str) -> None:
    """Ask what the assistant cannot answer."""
    context = browser.new_context(base_url=site)
    page = context.new_page()
    page.goto("/")
    connected(page)
    ask(page, text)
    expect(page.get_by_role("heading", name="A person will answer")).to_be_visible()
    context.close()


@pytest.fixture
def login(browser: Browser, waiting_site: str) -> Iterator[Login]:
    """Log in as a demo account; the page is at the queue. No error may turn up in a console."""
    contexts, problems = [], []

    def open_queue(username: str = "caseworker", *, width: int = 1440) -> Page:
        context = browser.new_context(
            base_url=waiting_site,
            viewport={"width": width, "height": 900},
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda s: problems.append(s.text) if s.type == "error" else None)
        page.goto("/staff/login/?next=/review/")
        page.locator("[name=username]").fill(username)
        page.locator("[name=password]").fill(f"demo-{username}")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Items for a person")
        page.wait_for_load_state()
        return page

    yield open_queue
    for context in contexts:
        context.close()
    assert problems == []


def row(page: Page, text: str = RIVER) -> Locator:
    return page.locator(".queue-row", has_text=text)


def release(page: Page) -> None:
    """Give back what this test has claimed, so that the next one finds it free."""
    page.goto("/review/?tab=mine")
    while page.locator(".queue-row").count():
        pk = (page.locator(".queue-row").first.get_attribute("id") or "").removeprefix("row-")
        token = page.locator("#queue [name=csrfmiddlewaretoken]").get_attribute("value") or ""
        page.request.post(
            f"/review/{pk}/release/",
            form={"csrfmiddlewaretoken": token},
            headers={"Referer": page.url},
        )
        page.goto("/review/?tab=mine")


@pytest.mark.parametrize("width", sample([1440, 375]))
def test_it_filters_searches_and_keeps_the_view(login: Login, width: int) -> None:
    page = login(width=width)
    expect(row(page)).to_be_visible()
    assert_accessible(page)
    assert_fits(page)

    page.get_by_label("Search the citizens’ words").fill("harb")
    page.get_by_role("button", name="Search").click()
    expect(row(page, HARBOUR)).to_be_visible()
    expect(row(page)).to_have_count(0)

    page.locator("summary", has_text="Filters").click()
    page.get_by_role("group", name="Waiting for").get_by_role("link", name="Over a week").click()
    assert_accessible(page)
    assert_fits(page)
    expect(page.get_by_text("Nothing fits this search and these filters.")).to_be_visible()
    expect(page.locator("summary", has_text="Filters (1 on)")).to_be_visible()

    page.locator("summary", has_text="Save or delete a view").click()
    page.get_by_label("Name for this list").fill(f"Calm harbour {width}")
    page.get_by_role("button", name="Save view").click()
    expect(page.get_by_role("alert")).to_contain_text("is saved")
    assert_accessible(page)
    assert_fits(page)
    page.get_by_role("link", name="Take all filters away").click()
    expect(row(page)).to_be_visible()
    page.get_by_role("link", name=f"Calm harbour {width}").click()
    chosen = page.get_by_role("group", name="Waiting for").locator("[aria-current]")
    expect(chosen).to_contain_text("Over a week")
    page.locator("summary", has_text="Save or delete a view").click()
    page.get_by_role("button", name="Delete view").click()
    expect(page.get_by_role("link", name=f"Calm harbour {width}")).to_have_count(0)


@pytest.mark.whole
def test_a_claim_shows_elsewhere_without_moving_anything(login: Login) -> None:
    mine, theirs = login("caseworker"), login("supervisor")
    link = row(theirs).get_by_role("link").first
    link.focus()
    before = link.bounding_box()

    row(mine).get_by_role("button", name="Claim").click()
    expect(mine).to_have_url(re.compile(r"/review/[0-9a-f-]{36}/$"))

    expect(row(theirs)).to_contain_text("Claimed by Carla Case")
    expect(link).to_be_focused()
    assert link.bounding_box() == before
    assert_accessible(theirs)
    expect(row(theirs).get_by_role("button", name="Claim")).to_have_count(0)
    release(mine)


@pytest.mark.whole
def test_new_items_wait_to_be_shown(login: Login, browser: Browser, waiting_site: str) -> None:
    page = login()
    first = page.locator(".queue-row").first
    before, rows = first.bounding_box(), page.locator(".queue-row").count()

    held(browser, waiting_site, "I will see you in court about the mountain")

    news = page.get_by_role("link", name="Show it")
    expect(page.get_by_text("1 new item.")).to_be_visible()
    assert (first.bounding_box(), page.locator(".queue-row").count()) == (before, rows)
    assert_accessible(page)
    news.click()
    expect(row(page, "mountain")).to_be_visible()
    expect(page.locator(".queue-row")).to_have_count(rows + 1)


@pytest.mark.whole
@pytest.mark.parametrize("width", sample([1440, 375]))
def test_it_claims_several_at_once(login: Login, width: int) -> None:
    page = login(width=width)
    expect(page.get_by_role("button", name="Claim chosen")).to_be_hidden()
    for text in (RIVER, HARBOUR):
        row(page, text).get_by_role("checkbox").check()
    expect(page.locator("#chosen")).to_have_text("2 chosen")
    assert_accessible(page)
    assert_fits(page)
    page.get_by_role("button", name="Claim chosen").click()
    expect(page.get_by_role("alert")).to_contain_text("2 items claimed.")
    expect(row(page)).to_contain_text("Yours")
    page.get_by_role("link", name=re.compile("^Mine")).click()
    expect(page.locator(".queue-row")).to_have_count(2)
    assert_accessible(page)
    release(page)


@pytest.mark.whole
def test_it_assigns_to_a_colleague(login: Login) -> None:
    page = login("supervisor")
    row(page).get_by_role("checkbox").check()
    page.get_by_label("Give to").select_option("caseworker")
    page.get_by_role("button", name="Assign chosen").click()
    expect(page.get_by_role("alert")).to_contain_text("1 item given to Carla Case.")
    expect(row(page)).to_have_count(0)
    page.locator("summary", has_text="Filters").click()
    page.get_by_label("Also what colleagues have").check()
    page.get_by_role("button", name="Apply").click()
    expect(row(page)).to_contain_text("Claimed by Carla Case")
    release(login("caseworker"))


@pytest.mark.whole
def test_every_step_goes_by_keyboard(login: Login) -> None:
    page = login()
    links = page.locator(".queue-row__link")
    page.keyboard.press("Alt+ArrowDown")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("Alt+ArrowDown")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("Alt+x")
    expect(page.locator("#chosen")).to_have_text("1 chosen")
    page.keyboard.press("Alt+ArrowUp")
    expect(links.nth(0)).to_be_focused()

    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("Alt+c")
    expect(page).to_have_url(re.compile(r"/review/[0-9a-f-]{36}/$"))
    release(page)
    page.goto("/review/")
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/review/[0-9a-f-]{36}/$"))
    release(page)


@pytest.mark.whole
def test_shortcuts_can_be_switched_off(login: Login) -> None:
    page = login()
    page.locator(".queue-more summary").click()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    page.get_by_label("Use these shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    page.keyboard.press("?")
    page.keyboard.press("Alt+ArrowDown")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator(".queue-row__link").first).not_to_be_focused()
    # In a field the keys are letters.
    page.locator(".queue-more summary").click()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    page.get_by_label("Use these shortcuts").check()
    page.keyboard.press("Escape")
    page.get_by_label("Search the citizens’ words").press("?")
    expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.mark.whole
def test_a_session_that_ended_leads_to_the_login(login: Login) -> None:
    page = login()
    page.context.clear_cookies()
    expect(page).to_have_url(re.compile("/staff/login/"))


@pytest.mark.whole
def test_it_is_readable_in_the_dark(login: Login) -> None:
    page = login("supervisor")
    page.emulate_media(color_scheme="dark")
    row(page).get_by_role("checkbox").check()
    # Not by clicks: an open menu lies above the next one.
    page.locator("details").evaluate_all("all => all.forEach((details) => (details.open = true))")
    expect(page.get_by_role("group", name="Waiting for")).to_be_visible()
    assert_accessible(page)
