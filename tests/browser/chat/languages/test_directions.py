"""Text of two directions in a real browser: what turns it is a sign, marks keep to themselves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.office import BAD, Office, checked_at_both_widths, opened
from tests.browser.steps import VISA

pytestmark = pytest.mark.browser

OVERRIDE = "\u202e"
TEXT = f"{VISA} {OVERRIDE}by 2026-05-03 (تأشيرة سياحية AB-123456)"


@pytest.fixture(scope="module")
def office(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with opened(browser, tmp_path_factory.mktemp("office")) as office:
        yield office


@pytest.mark.whole
def test_it_shows_an_override_as_a_sign_and_turns_nothing(office: Office) -> None:
    citizen = office.citizen(TEXT, category_select_v1=BAD)
    message = citizen.locator(".message__text")
    expect(citizen.locator("#question")).to_have_value("")  # the page knows its own words again
    sign = message.locator(".sign")
    expect(sign).to_be_visible()
    expect(sign).to_have_attribute("title", "Right-to-left override (U+202E)")
    expect(sign.locator("[aria-hidden]")).to_have_text("RLO")
    checked_at_both_widths(citizen)

    page = office.caseworker()
    page.goto("/review/")
    expect(page.locator(".queue-row__title .sign").first).to_be_visible()
    office.open(page, citizen)
    letter = page.locator("#message")
    expect(letter.locator(".sign")).to_be_visible()
    expect(letter).to_have_css("unicode-bidi", "plaintext")
    for element in letter.locator("mark, mark > bdi").all():
        expect(element).to_have_css("unicode-bidi", "isolate")
    # What follows the override stands where it is read: digits and letters from left to right.
    places = letter.evaluate(
        """(box) => {
          const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
          const range = document.createRange();
          const found = {};
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            for (const word of ["by", "2026", "AB"]) {
              const at = node.data.indexOf(word);
              if (at < 0 || node.parentElement.closest("[data-skip]")) continue;
              range.setStart(node, at);
              range.setEnd(node, at + 1);
              const first = range.getBoundingClientRect().left;
              range.setStart(node, at + 1);
              range.setEnd(node, at + 2);
              found[word] = range.getBoundingClientRect().left > first;
            }
          }
          return found;
        }"""
    )
    assert places == {"by": True, "2026": True, "AB": True}
    checked_at_both_widths(page)
