"""The assistant on an agency's own site: two origins, and what browsers refuse between them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Frame, Page, ViewportSize, expect

from tests.browser.embed.hosting import ASK, Host, answers, ask, hosted, inside, opened, visit
from tests.browser.office import NARROW, WIDE
from tests.browser.steps import VISA, assert_accessible, assert_fits
from tests.selection import sample

pytestmark = pytest.mark.browser

FLAGS = ["--no-sandbox", "--disable-gpu"]
ARABIC = "اسأل عن خدمة عامة"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """An agency's site beside a site of IEIM's own: its settings change."""
    with hosted(tmp_path_factory.mktemp("hosted")) as host:
        yield host


def framed(page: Page) -> Frame:
    """The document in the frame."""
    (frame,) = page.main_frame.child_frames
    return frame


@pytest.mark.whole
def test_it_costs_an_agencys_page_one_script(browser: Browser, host: Host) -> None:
    page = browser.new_context().new_page()
    records: list[str] = []
    page.on("request", lambda request: records.append(request.url))
    page.goto(host.allowed)
    expect(page.get_by_role("button", name=ASK)).to_be_visible()
    assert [url for url in records if url.startswith(host.ieim)] == [f"{host.ieim}/embed.js"]
    assert page.context.cookies() == []
    page.context.close()


@pytest.mark.parametrize("size", sample([WIDE, NARROW]))
def test_it_opens_answers_and_closes_by_keyboard(
    browser: Browser, host: Host, size: ViewportSize
) -> None:
    problems: list[str] = []
    page = browser.new_context(viewport=size).new_page()
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.goto(f"{host.allowed}/?lang=en-GB")
    button, panel = page.get_by_role("button", name=ASK), page.get_by_role("dialog", name=ASK)
    assert_accessible(page)
    button.focus()
    page.keyboard.press("Enter")
    expect(panel).to_be_focused()
    expect(button).to_be_hidden()
    frame = inside(page)
    # A panel that covers the page keeps the focus, one beside it lets it go.
    theirs = page.get_by_role("button", name="Theirs")
    theirs.evaluate("it => it.focus()")
    assert theirs.evaluate("it => it === document.activeElement") == (size is WIDE)
    ask(frame, VISA)
    assert_fits(framed(page))  # type: ignore[arg-type]  # a frame has what is needed of a page
    assert_accessible(framed(page))  # type: ignore[arg-type]  # a frame has what is needed of a page
    assert_accessible(page)
    frame.get_by_role("textbox").press("Escape")
    expect(panel).to_be_hidden()
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(answers(frame)).to_have_count(1)  # The conversation was only out of sight.
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    button.click()
    page.get_by_role("button", name="Close").click()
    expect(button).to_be_focused()
    assert problems == []
    page.context.close()


@pytest.mark.whole
def test_it_goes_on_after_the_page_is_loaded_again(browser: Browser, host: Host) -> None:
    page = visit(browser, host.allowed)
    ask(opened(page), VISA)
    page.reload()
    expect(answers(opened(page))).to_have_count(1)
    # A page by itself has a conversation of its own.
    alone = page.context.new_page()
    alone.goto(host.ieim)
    expect(alone.get_by_role("heading", name=ASK)).to_be_visible()
    page.context.close()


@pytest.mark.whole
def test_it_goes_on_in_a_window_of_its_own(browser: Browser, host: Host) -> None:
    page = visit(browser, host.allowed)
    frame = opened(page)
    ask(frame, VISA)
    with page.expect_popup() as opening:
        frame.get_by_role("link", name="Open in a window of its own").click()
    window = opening.value
    window.get_by_role("button", name="Continue this conversation").click()
    expect(window.get_by_text("Why this answer")).to_have_count(1)
    # What is elsewhere is not shown in the frame.
    source = frame.locator(".answer__sources a").first
    source.evaluate("it => it.addEventListener('click', (event) => event.preventDefault())")
    source.click()
    expect(source).to_have_attribute("target", "_blank")
    page.context.close()


@pytest.mark.whole
def test_everything_in_the_frame_stays_there(browser: Browser, host: Host) -> None:
    page = visit(browser, host.allowed)
    frame = opened(page)
    frame.get_by_role("contentinfo").get_by_role("link", name="Talk to a person").click()
    framed(page).wait_for_url(f"{host.ieim}/embed/person/")
    expect(frame.get_by_role("heading", level=1)).to_be_visible()
    assert_accessible(framed(page))  # type: ignore[arg-type]  # a frame has what is needed of a page
    frame.get_by_role("link", name="Go to your questions").first.click()
    expect(frame.get_by_role("heading", name=ASK)).to_be_visible()
    page.context.close()


@pytest.mark.whole
@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_it_speaks_the_language_of_the_page(
    browser: Browser, host: Host, size: ViewportSize
) -> None:
    page = visit(browser, f"{host.allowed}/?lang=ar", viewport=size)
    button = page.get_by_role("button", name=ARABIC, exact=True)
    place = button.bounding_box()
    assert place
    assert place["x"] < size["width"] / 4  # from right to left its corner is the other one
    frame = opened(page, ARABIC)
    expect(frame.locator("html")).to_have_attribute("dir", "rtl")
    assert_fits(framed(page))  # type: ignore[arg-type]  # a frame has what is needed of a page
    assert_accessible(framed(page))  # type: ignore[arg-type]  # a frame has what is needed of a page
    assert_accessible(page)
    page.context.close()


@pytest.mark.whole
def test_a_site_that_is_not_let_in_has_neither_button_nor_frame(
    browser: Browser, host: Host
) -> None:
    page = browser.new_context().new_page()
    records: list[str] = []
    page.on("console", lambda told: records.append(told.text))
    page.goto(host.foreign)
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("button", name=ASK)).to_have_count(0)
    assert any("is not among the other sites" in entry for entry in records)
    for path, may in (("/embed/", False), ("/", False), ("/staff/login/", False)):
        page.goto(f"{host.foreign}/framing?src={host.ieim}{path}")
        assert shows(page) == may, path
    for path, may in (("/embed/", True), ("/", False), ("/staff/login/", False)):
        page.goto(f"{host.allowed}/framing?src={host.ieim}{path}")
        assert shows(page) == may, path
    page.context.close()


def shows(page: Page) -> bool:
    """Whether the page's frame has been let in."""
    return framed(page).url.startswith("http")


@contextmanager
def refusing(browser: Browser, folder: Path, **profile: object) -> Iterator[BrowserContext]:
    """A browser with preferences as people set them."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs Chromium with its preferences (Debian: apt-get install chromium)")
    (folder / "Default").mkdir()
    (folder / "Default" / "Preferences").write_text(json.dumps({"profile": profile}))
    context = browser.browser_type.launch_persistent_context(
        folder, executable_path=chromium, args=FLAGS
    )
    yield context
    context.close()


COOKIE = "document.cookie = 'x=1; SameSite=None; Secure'; document.cookie"


@pytest.mark.whole
def test_it_works_where_third_party_cookies_are_refused(
    browser: Browser, host: Host, tmp_path: Path
) -> None:
    with refusing(browser, tmp_path, cookie_controls_mode=1) as context:
        page = context.new_page()
        page.goto(host.allowed)
        ask(opened(page), VISA)
        assert "x=1" not in framed(page).evaluate(COOKIE)  # it does refuse them
        page.reload()
        expect(answers(opened(page))).to_have_count(1)
        assert framed(page).url.startswith(f"{host.ieim}/embed/?")


@pytest.mark.whole
def test_it_works_where_every_cookie_of_ours_is_refused(
    browser: Browser, host: Host, tmp_path: Path
) -> None:
    no = {"cookies": {"127.0.0.1,*": {"setting": 2}}}
    with refusing(browser, tmp_path, content_settings={"exceptions": no}) as context:
        page = context.new_page()
        page.goto(host.allowed)
        frame = opened(page)
        expect(frame.locator("#frame[data-by-pass]")).to_be_attached()
        ask(frame, VISA)
        assert context.cookies() == []
        frame.get_by_role("contentinfo").get_by_role("link", name="Privacy").click()
        frame.get_by_role("link", name="Go to your questions").first.click()
        expect(answers(frame)).to_have_count(1)
        # The page around cannot learn where that is.
        entries = "performance.getEntriesByType('resource').map((it) => it.name).join()"
        assert "~" not in page.evaluate(entries)
        assert "~" not in (page.locator("iframe").get_attribute("src") or "~")


@pytest.mark.whole
def test_without_cookies_it_goes_on_at_the_next_page_of_the_tab(
    browser: Browser, host: Host, tmp_path: Path
) -> None:
    """In a browser that refuses cookies and keeps other things, as Safari has long done: no
    preference of Chromium's does that, so it is told that none can be kept, and none is."""
    with refusing(browser, tmp_path, cookie_controls_mode=0) as context:
        context.add_init_script(
            "Object.defineProperty(Document.prototype, 'cookie', {get: () => '', set: () => {}})"
        )
        page = context.new_page()
        page.goto(host.allowed)
        frame = opened(page)
        by_pass = frame.locator("#frame[data-by-pass]")
        expect(by_pass).to_be_attached()
        ask(frame, VISA)
        context.clear_cookies()
        page.goto(f"{host.allowed}/?lang=en-GB")
        expect(answers(opened(page))).to_have_count(1)
        expect(by_pass).to_be_attached()
        frame.get_by_role("button", name="Start again").click()
        expect(frame.get_by_role("heading", name=ASK)).to_be_visible()
        inside(page)  # Only a page whose scripts have run is remembered.
        context.clear_cookies()
        page.reload()
        expect(opened(page).get_by_role("heading", name=ASK)).to_be_visible()


@pytest.mark.whole
def test_where_nothing_can_be_carried_it_leads_to_a_window_of_its_own(
    browser: Browser, host: Host
) -> None:
    page = visit(browser, host.allowed)
    # A site that locks the frame up.
    page.evaluate(
        """(src) => { const it = document.createElement("iframe");
        it.sandbox = "allow-scripts allow-popups"; it.src = src; document.body.append(it); }""",
        f"{host.ieim}/embed/",
    )
    frame = page.frame_locator("iframe")
    link = frame.get_by_role("link", name="Open the assistant in a window of its own")
    expect(link).to_be_visible()
    page.context.close()
