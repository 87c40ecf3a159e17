"""While a person is waited for, and when the answer comes: in the open tab, or later."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.office import BAD, Office, checked_at_both_widths, look, take
from tests.browser.steps import (
    VISA,
    ask,
    assert_accessible,
    connected,
    expect_answer,
)
from tests.selection import sample

pytestmark = [pytest.mark.browser]

SAID = "Please come to the office in Main Street."
USUAL = re.compile(r"^Ask about a public service")
NEW = "New since you were here"


@pytest.fixture
def caseworker(office: Office) -> Page:
    return office.caseworker()


def answer(office: Office, caseworker: Page, reference: str) -> None:
    """Let a caseworker write the answer to the question with this reference."""
    caseworker.goto("/review/")
    caseworker.locator(".queue-row", has_text=reference).get_by_role("link").first.click()
    take(caseworker)
    caseworker.get_by_role("radio", name="Write the reply").check()
    caseworker.get_by_label("The reply", exact=True).fill(SAID)
    look(caseworker)
    caseworker.get_by_role("button", name="Confirm and open the next item").click()
    expect(caseworker.locator("#confirm-form")).to_have_count(0)


def reference(citizen: Page) -> str:
    return citizen.locator(".tools__reference").inner_text()


def hidden(page: Page, *, state: str) -> None:
    """Let the page think that somebody looks at another tab, or is back."""
    page.evaluate(
        """(state) => {
          Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        state,
    )


def icon(page: Page) -> str:
    return page.locator('link[rel="icon"]').get_attribute("href") or ""


def test_it_tells_what_may_help_and_whom_to_call(office: Office) -> None:
    page = office.citizen(service_select_v1=BAD)
    locator = page.locator(".held")
    expect(locator).to_contain_text("does not guess")
    expect(locator).to_contain_text(re.compile(r"on this page by .+ \d\d:\d\d\."))
    expect(locator.locator('a[href^="tel:"]')).to_be_visible()
    expect(locator).to_contain_text("Open: ")
    cards = page.locator(".may-help .answer__card")
    expect(cards.first).to_be_hidden()
    page.get_by_text("While you wait: services that may be about this").click()
    expect(cards).to_have_count(3)
    expect(page.get_by_text("This is not the answer to your question.")).to_be_visible()
    checked_at_both_widths(page)
    # What somebody has opened stays open when the page is brought up to date.
    ask(page, "  ")
    expect(page.locator("#question-error")).to_contain_text("Error:")
    expect(cards.first).to_be_visible()


@pytest.mark.whole
def test_an_answer_shows_in_a_tab_that_nobody_looks_at(office: Office, caseworker: Page) -> None:
    page = office.citizen(service_select_v1=BAD)
    page.evaluate("""() => {
      window.badges = [];
      navigator.setAppBadge = async (count) => { badges.push(count); };
      navigator.clearAppBadge = async () => { badges.push(0); };
    }""")
    hidden(page, state="hidden")
    usual = icon(page)
    answer(office, caseworker, reference(page))
    expect(page).to_have_title(re.compile(r"^\(1\) New answer – Ask about a public service"))
    assert "favicon-new" in icon(page)
    assert page.evaluate("badges") == [1]
    checked_at_both_widths(page)
    hidden(page, state="visible")
    expect(page).to_have_title(USUAL)
    assert icon(page) == usual
    assert page.evaluate("badges") == [1, 0]
    # It was seen: it is not new on the next visit.
    page.reload()
    expect(page.get_by_text(SAID)).to_be_visible()
    expect(page.get_by_text(NEW)).to_have_count(0)


@pytest.mark.whole
def test_it_shows_until_it_is_in_view(office: Office, caseworker: Page) -> None:
    page = office.citizen(service_select_v1=BAD)
    page.set_viewport_size({"width": 390, "height": 500})
    # The page stands at its end: what comes is above.
    page.evaluate("document.body.style.paddingBottom = '3000px'; scrollTo(0, 1e6)")
    answer(office, caseworker, reference(page))
    expect(page).to_have_title(re.compile(r"^\(1\) New answer"))
    assert_accessible(page)
    button = page.get_by_role("button", name="To the new answer")
    expect(button).to_be_visible()
    # A real click would scroll first, and so perhaps to what is new.
    button.dispatch_event("click")
    expect(page).to_have_title(USUAL)
    expect(page.get_by_text(SAID)).to_be_in_viewport()
    expect(page.locator("#to-new")).to_be_hidden()


@pytest.mark.whole
def test_an_answer_that_somebody_watches_come_is_no_news(office: Office) -> None:
    page = office.visitor()
    page.goto("/")
    connected(page)
    ask(page)
    expect(page.get_by_text("Why this answer")).to_be_visible()
    expect(page).to_have_title(USUAL)
    expect(page.locator("#to-new")).to_be_hidden()


@pytest.mark.whole
def test_a_tab_that_was_closed_unseen_leaves_it_new(office: Office, caseworker: Page) -> None:
    page = office.citizen(service_select_v1=BAD)
    hidden(page, state="hidden")
    answer(office, caseworker, reference(page))
    expect(page).to_have_title(re.compile(r"^\(1\)"))
    context = page.context
    page.close()
    page = context.new_page()
    page.goto("/")
    connected(page)
    expect(page.get_by_text(NEW)).to_be_visible()
    page.get_by_role("link", name="1 new answer since you were here: go to it").click()
    expect(page.get_by_text(NEW)).to_be_in_viewport()
    checked_at_both_widths(page)
    # Parts that are sent again, as after a lost connection, do not take it away.
    ask(page, "  ")
    expect(page.locator("#question-error")).to_contain_text("Error:")
    ask(page)
    expect(page.get_by_text("Why this answer").nth(1)).to_be_attached()
    expect(page.get_by_text(NEW)).to_be_visible()
    page.reload()
    expect(page.get_by_text(SAID)).to_be_visible()
    expect(page.get_by_text(NEW)).to_have_count(0)


@pytest.mark.whole
def test_it_comes_where_sockets_are_blocked(office: Office, caseworker: Page) -> None:
    page = office.visitor()
    page.route_web_socket("**/ws/chat/**", lambda socket: socket.close(code=1011))
    page.clock.install()
    office.model.script = {"service_select_v1": list(BAD)}
    page.goto("/")
    ask(page)
    until(page, page.locator(".held"), step=4_000)
    answer(office, caseworker, reference(page))
    until(page, page.get_by_text(SAID), step=70_000)


def until(page: Page, wanted: Locator, *, step: int) -> None:
    """Let the page's clock go on by ``step`` milliseconds, until it has looked often enough."""
    for _ in range(10):
        page.clock.run_for(step)
        with suppress(AssertionError):
            expect(wanted).to_be_visible(timeout=3_000)
            return
    expect(wanted).to_be_visible()


@pytest.fixture
def plain(browser: Browser, office: Office) -> Iterator[BrowserContext]:
    """A browser in Arabic on a telephone, without JavaScript."""
    context = browser.new_context(
        base_url=office.base_url,
        locale="ar",
        viewport={"width": 390, "height": 844},
        java_script_enabled=False,
    )
    yield context
    context.close()


@pytest.mark.whole
def test_all_of_it_works_without_scripts_in_arabic(
    office: Office, caseworker: Page, plain: BrowserContext
) -> None:
    office.model.script = {"service_select_v1": list(BAD)}
    page = plain.new_page()
    page.goto("/")
    page.get_by_role("textbox").fill("أريد تمديد تأشيرتي السياحية من فضلكم، ماذا أفعل؟")
    page.locator("#ask-button").click()
    locator = page.locator(".held")
    expect(page.locator(".offer, .held").first).to_be_visible()
    if page.locator(".offer").count():
        page.locator(".offer__option--none").click()
    expect(locator).to_be_visible()
    expect(locator).to_have_attribute("dir", "rtl")
    expect(page.get_by_role("button", name="نسخ الرابط").first).to_be_hidden()
    page.get_by_role("link", name="عرض كرمز QR").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("رابطك الخاص")
    expect(page.get_by_role("img", name="رمز QR")).to_be_visible()
    page.get_by_role("link", name="العودة إلى أسئلتك").click()
    answer(office, caseworker, reference(page))
    news = page.get_by_text("جديد منذ زيارتك الأخيرة")
    for _ in range(30):  # it can be taken back for ten seconds
        page.goto("/")
        if news.count():
            break
        page.wait_for_timeout(1000)
    expect(news).to_be_visible()
    page.locator(".news a").click()
    expect(page.locator("#new")).to_be_in_viewport()
    page.reload()
    expect(page.locator("#new")).to_have_count(0)


@pytest.mark.whole
@pytest.mark.parametrize("locale", sample(["en", "ar"]))
@pytest.mark.parametrize("scheme", sample(["light", "dark"]))
def test_the_link_is_copied_shared_and_drawn(
    office: Office, locale: str, scheme: Literal["dark", "light"]
) -> None:
    may = ["clipboard-read", "clipboard-write"]
    office.model.script = {}
    page = office.visitor(locale=locale, color_scheme=scheme, permissions=may)
    page.add_init_script("navigator.share = async (what) => { window.shared = what; };")
    page.goto("/")
    connected(page)
    page.get_by_role("textbox").fill(VISA)
    page.locator("#ask-button").click()
    # Parts that still arrive put anew what is being pressed.
    expect_answer(page)
    page.locator("#tools summary").click()
    tools = page.locator("#tools")
    link = tools.locator(".resume__link").inner_text()
    tools.locator("[data-copy]").click()
    expect(tools.get_by_role("status")).not_to_be_empty()
    assert page.evaluate("navigator.clipboard.readText()") == link
    tools.locator("[data-share]").click()
    assert page.evaluate("shared.url") == link
    mail = tools.locator('a[href^="mailto:"]').get_attribute("href") or ""
    assert link in parse_qs(urlsplit(mail).query)["body"][0]
    checked_at_both_widths(page)
    tools.locator('a[href="/private-link/"]').click()
    expect(page.locator(".qr")).to_be_visible()
    expect(page.locator(".qr path").first).to_have_css("fill", "rgb(255, 255, 255)")
    checked_at_both_widths(page)


@pytest.mark.whole
def test_a_link_that_cannot_be_copied_says_what_to_do(office: Office) -> None:
    page = office.citizen(service_select_v1=BAD)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
    locator = page.locator(".held")
    locator.get_by_role("button", name="Copy the link").click()
    expect(locator.get_by_role("status")).to_contain_text("Please select it and copy it yourself.")
    expect(locator.locator("[data-share]")).to_be_hidden()
