"""An editor tries a draft, keeps golden questions and sees what a proposal would change."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests import live
from tests.browser.office import WIDE, checked_at_both_widths
from tests.browser.steps import VISA

pytestmark = pytest.mark.browser

TRY = "/knowledge/try/"
FEE = "MRK 99.00 for each person."


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site of its own: its draft is changed."""
    with live.served(tmp_path_factory.mktemp("trying")) as base_url:
        yield base_url


def editor(browser: Browser, site: str, **options: bool) -> Page:
    context = browser.new_context(base_url=site, viewport=WIDE, **options)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"/staff/login/?next={TRY}")
    page.get_by_label("User name").fill("editor")
    page.get_by_label("Password").fill("demo-editor")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Playground")
    return page


def complaint(said: ConsoleMessage) -> str:
    """An error with its address, empty for none; the admin has no icon, which is not ours."""
    where = said.location["url"]
    return f"{said.text} {where}" if said.type == "error" and "favicon" not in where else ""


def ask(page: Page, text: str = VISA) -> None:
    page.goto(TRY)
    page.get_by_label("Ask as a citizen would").fill(text)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_role("heading", name="What would change")).to_be_visible()


def change_the_fee(page: Page) -> None:
    page.goto("/knowledge/services/immigration/immigration.extend-tourist-visa/")
    page.get_by_label("What it costs").fill(FEE)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Saved in the draft.")


@pytest.mark.whole
def test_an_editor_sees_what_a_change_would_do(browser: Browser, site: str) -> None:
    page = editor(browser, site)
    problems: list[str] = []
    page.on("console", lambda said: problems.append(complaint(said)))
    page.on("pageerror", lambda error: problems.append(str(error)))
    checked_at_both_widths(page)

    page.goto(f"{TRY}questions/add/")
    page.get_by_label("The question").fill(VISA)
    page.get_by_role("button", name="Choose what is right").click()
    page.get_by_label("Extend a tourist visa").check()
    checked_at_both_widths(page)
    page.get_by_role("button", name="Keep it").click()
    expect(page.get_by_text("The golden question is kept.")).to_be_visible()
    checked_at_both_widths(page)

    ask(page)
    expect(page.get_by_text("The draft is the same as release 1")).to_be_visible()
    change_the_fee(page)
    ask(page)
    expect(page.get_by_text("the reply differs in “What it costs”")).to_be_visible()
    expect(page.locator(".trying-difference dd").filter(has_text=FEE)).to_be_visible()
    expect(page.locator(".answer--service")).to_have_count(2)
    for summary in page.locator(".trying-step > details > summary").all():
        summary.click()
    expect(page.get_by_text("Services to choose from, at most 5")).to_have_count(2)
    checked_at_both_widths(page)
    page.set_viewport_size(WIDE)
    left, right = (page.locator(".trying-side").nth(n).bounding_box() for n in (0, 1))
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] <= right["x"]

    page.goto("/knowledge/propose/")
    page.get_by_role("textbox").first.fill("The visa costs more.")
    page.get_by_role("button", name=re.compile("[Pp]ropose")).click()
    page.get_by_role("link", name=re.compile("Ask them|See the answers")).click()
    checked_at_both_widths(page)
    # They were asked as soon as it was proposed.
    expect(page.get_by_text("Nothing gets lost.")).to_be_visible()
    expect(page.get_by_role("table").get_by_text(VISA)).to_be_visible()
    checked_at_both_widths(page)
    assert [problem for problem in problems if problem] == []
    page.context.close()


@pytest.mark.whole
def test_it_sends_a_question_once(browser: Browser, site: str) -> None:
    page = editor(browser, site)
    page.evaluate(  # the answer is long in coming
        "document.addEventListener('submit', (event) => event.preventDefault())"
    )
    page.get_by_label("Ask as a citizen would").fill(VISA)
    button = page.get_by_role("button", name="Ask", exact=True)
    button.click()
    expect(button).to_be_disabled()
    expect(page.get_by_text("Asking. This can take a minute.")).to_be_visible()
    page.context.close()
