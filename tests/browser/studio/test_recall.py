"""An editor recalls answers and writes a notice, and the citizen's open page shows both."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.steps import (
    VISA,
    ask,
    assert_accessible,
    assert_fits,
    connected,
    expect_answer,
)

pytestmark = pytest.mark.browser

WRONG = "The fee that we told you is wrong.\n\nPlease look at the fee on the form."
NOTICE = "The office is closed on Friday."
Open = Callable[..., Page]


@pytest.fixture
def people(browser: Browser, live_site: str) -> Iterator[Open]:
    """Open pages of several people. No error may turn up in a console."""
    contexts, problems = [], []

    def open_page(*, width: int = 1440, script: bool = True) -> Page:
        context = browser.new_context(
            base_url=live_site,
            viewport={"width": width, "height": 900},
            java_script_enabled=script,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda s: problems.append(s.text) if s.type == "error" else None)
        return page

    yield open_page
    for context in contexts:
        context.close()
    # A refusal that is shown in the page is one that the browser's console mentions.
    assert [problem for problem in problems if "422" not in problem] == []


def sign_in(page: Page, path: str) -> None:
    page.goto(f"/staff/login/?next={path}")
    page.get_by_label("User name").fill("editor")
    page.get_by_label("Password").fill("demo-editor")
    page.get_by_role("button", name="Log in").click()


def fine(page: Page) -> None:
    """The page is usable as it is, and on a telephone."""
    assert_accessible(page)
    assert_fits(page)
    before = page.viewport_size
    page.set_viewport_size({"width": 375, "height": 812})
    assert_accessible(page)
    assert_fits(page)
    assert before is not None
    page.set_viewport_size(before)


def to_the_answers(page: Page) -> None:
    page.get_by_label("Service").fill("tourist visa")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("link", name="Extend a tourist visa").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Extend a tourist visa")


def test_a_correction_reaches_the_open_page_and_the_one_who_returns(people: Open) -> None:
    citizen, editor = people(width=375), people()
    citizen.goto("/")
    connected(citizen)
    ask(citizen)
    expect_answer(citizen)
    sign_in(editor, "/knowledge/recall/")
    fine(editor)
    to_the_answers(editor)
    fine(editor)
    editor.get_by_role("button", name="See it as citizens will").click()
    expect(editor.get_by_role("alert")).to_contain_text("Write what citizens should know.")
    fine(editor)
    editor.get_by_label("What was wrong").fill(WRONG)
    editor.get_by_role("button", name="See it as citizens will").click()
    expect(editor.get_by_text("Please look at the fee on the form.")).to_be_visible()
    fine(editor)
    assert citizen.get_by_text("Please look at the fee").count() == 0
    editor.get_by_role("button", name="Send it to").click()
    expect(editor.get_by_text("Sent to").first).to_be_visible()
    expect(editor.get_by_text("so far.")).to_have_count(0)
    fine(editor)

    corrected = citizen.get_by_role("region", name="This answer has been corrected")
    expect(corrected).to_contain_text("Please look at the fee on the form.")
    assert_accessible(citizen)
    assert_fits(citizen)
    citizen.reload()
    expect(corrected).to_be_visible()
    answer = citizen.locator(".answer").bounding_box()
    beneath = corrected.bounding_box()
    assert answer is not None
    assert beneath is not None
    assert answer["y"] + answer["height"] <= beneath["y"]


@pytest.mark.whole
def test_a_notice_stands_above_the_answer_until_it_is_ended(people: Open) -> None:
    editor, citizen = people(script=False), people()
    sign_in(editor, "/knowledge/notices/")
    editor.get_by_role("link", name="Add a notice").click()
    editor.get_by_role("button", name="Add the notice").click()
    expect(editor.get_by_role("alert")).to_contain_text("Say when the notice ends.")
    editor.get_by_label("Agency").select_option("immigration")
    editor.get_by_label("What citizens should know").fill(NOTICE)
    editor.locator("#ends_at").fill("2126-01-01T12:00")
    editor.get_by_role("button", name="Add the notice").click()
    expect(editor.get_by_text("The notice is in place.")).to_be_visible()

    citizen.goto("/")
    connected(citizen)
    ask(citizen, VISA)
    expect_answer(citizen)
    locator = citizen.locator(".agency-notice")
    expect(locator).to_contain_text(NOTICE)
    notice, first = locator.bounding_box(), citizen.get_by_text("What to do first").bounding_box()
    assert notice is not None
    assert first is not None
    assert notice["y"] < first["y"]
    fine(citizen)

    editor.get_by_role("button", name="End now").click()
    expect(editor.get_by_text("The notice has ended.")).to_be_visible()
    citizen.reload()
    expect(locator).to_have_count(1)
    ask(citizen, "How long does it take to extend my tourist visa?")
    expect_answer(citizen, 2)
    expect(locator).to_have_count(1)


@pytest.mark.whole
def test_the_pages_of_notices_can_be_used_by_everybody(people: Open) -> None:
    page = people()
    sign_in(page, "/knowledge/notices/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Notices")
    fine(page)
    page.get_by_role("link", name="Add a notice").click()
    fine(page)
    page.get_by_role("button", name="Add the notice").click()
    expect(page.get_by_role("alert")).to_be_visible()
    fine(page)
