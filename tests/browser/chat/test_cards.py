"""An answer over several agencies, and one that opens with what was asked, in a real browser."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import live
from tests.browser.steps import ask, assert_accessible, assert_fits, expect_answer
from tests.visitor import Visitor

# The first test waits for a site that learns, on a machine where others work too.
pytestmark = [pytest.mark.browser, pytest.mark.timeout(420)]

BOTH = "We had a baby. How do we register the birth and claim child benefit?"
VISA = "I want to extend my tourist visa"
COST = "And how much does it cost?"
LEARNS_SECONDS = 300.0
THIRD = f"{BOTH} Where do I get a licence for my fishing boat?"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site that reads messages by meaning: it learns to while it answers by words."""
    with live.site(tmp_path_factory.mktemp("cards"), IEIM_EMBEDDINGS="embedded") as running:
        deadline = time.monotonic() + LEARNS_SECONDS
        while "answer__uncovered" not in Visitor(running.base_url).ask(THIRD):
            assert time.monotonic() < deadline, "The site has not learned what it knows nothing of."
        yield running.base_url


def shown(browser: Browser, site: str, *texts: str, width: int) -> Page:
    """Ask one after the other; return the page with all answers."""
    context = browser.new_context(base_url=site, viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto("/")
    for number, text in enumerate(texts, 1):
        ask(page, text)
        expect_answer(page, number)
    return page


@pytest.mark.whole
@pytest.mark.parametrize("width", [390, 1280])
def test_each_agency_has_a_card_with_its_checklist_and_contact(
    browser: Browser, site: str, width: int
) -> None:
    page = shown(browser, site, BOTH, width=width)
    cards = page.locator(".answer__card:not(.situation *)")
    expect(cards).to_have_count(2)
    for card in cards.all():
        for heading in ("What you need", "Contact"):
            expect(card.get_by_text(heading, exact=True)).to_be_visible()
        expect(card.get_by_text("What it costs", exact=True)).to_be_hidden()
        card.get_by_text("Everything about this:").click()
        expect(card.get_by_text("What it costs", exact=True)).to_be_visible()
        expect(card.locator(".answer__card-source a")).to_have_count(1)
        card.get_by_text("Everything about this:").click()
    expect(page.locator(".answer__sources")).to_have_count(0)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")  # else the box hides what is behind it
    assert_fits(page)
    assert_accessible(page)
    page.emulate_media(media="print")
    expect(cards.first.get_by_text("What it costs", exact=True)).to_be_visible()
    page.context.close()


@pytest.mark.whole
@pytest.mark.parametrize("width", [390, 1280])
def test_what_was_asked_leads_and_the_rest_stays_closed(
    browser: Browser, site: str, width: int
) -> None:
    page = shown(browser, site, VISA, COST, width=width)
    first, second = page.locator(".answer").all()
    # Nothing was asked of it in particular: what one needs, and the rest of it folded.
    for heading, opens in (("What you need", True), ("Contact", True), ("Who it is for", False)):
        expect(first.get_by_text(heading, exact=True)).to_be_visible(visible=opens)
    expect(first.get_by_text("Everything about this: Extend a tourist visa")).to_be_visible()
    expect(second.locator(".answer__first")).to_contain_text("What it costs")
    expect(second.locator(".answer__first")).to_contain_text("MRK")
    expect(second.get_by_text("What you need", exact=True)).to_be_hidden()
    second.get_by_text("Everything about this:").click()
    expect(second.get_by_text("What you need", exact=True)).to_be_visible()
    second.get_by_text("Everything about this:").click()
    # Its name stands above it, and what to do first in the answer before.
    expect(second.get_by_text("What to do first")).to_have_count(0)
    expect(second.locator(".answer__title")).to_have_count(0)
    assert_fits(page)
    assert_accessible(page)
    page.context.close()


@pytest.mark.whole
def test_a_part_that_nothing_covers_is_said_and_asked_by_itself(
    browser: Browser, site: str
) -> None:
    page = shown(browser, site, THIRD, width=390)
    left = page.locator(".answer__uncovered")
    expect(left).to_contain_text("Where do I get a licence for my fishing boat")
    expect(left).to_contain_text("Not answered here")
    assert_accessible(page)
    left.get_by_role("button", name="Ask this by itself").click()
    result = page.locator(".turn").nth(1)
    question = result.get_by_text("Where do I get a licence for my fishing boat?", exact=True)
    expect(question).to_be_visible()
    page.context.close()
