"""A caseworker at an item: what the page shows, and how it is worked with."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.office import (
    BAD,
    LOOKED,
    Office,
    checked_at_both_widths,
    decide_with,
    look,
    take,
)
from tests.browser.steps import VISA, assert_accessible, expect_answer

pytestmark = pytest.mark.browser
HELD_DOWN = """() => document.dispatchEvent(new KeyboardEvent("keydown", {
    key: "Enter", ctrlKey: true, repeat: true, bubbles: true, cancelable: true
}))"""


@pytest.mark.whole
def test_it_shows_what_is_wrong_and_where(office: Office) -> None:
    page = office.caseworker()
    office.open(page, office.citizen(category_select_v1=BAD))
    take(page)
    page.get_by_role("radio", name="Correct the step").check()
    page.get_by_role("button", name="See what happens").click()
    expect(page).to_have_title(re.compile("^Error: "))
    expect(page.locator(".govuk-error-summary")).to_be_focused()
    checked_at_both_widths(page)
    link = page.locator(".govuk-error-summary a").first
    wrong = page.locator(str(link.get_attribute("href")))
    link.click()
    expect(wrong).to_be_focused()


def test_it_needs_no_mouse(office: Office) -> None:
    citizen = office.citizen(category_select_v1=BAD)
    page = office.caseworker()
    office.open(page, citizen)
    take(page)
    expect(page.get_by_role("radio").first).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).not_to_be_visible()
    page.keyboard.press("4")
    expect(page.get_by_role("radio", name="Ask the citizen")).to_be_checked()
    page.keyboard.press("Tab")
    page.keyboard.type("Which visa do you have?")
    page.evaluate(LOOKED)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".just")).to_contain_text("It takes effect in some seconds.")
    assert_accessible(page)
    question = citizen.get_by_text("Which visa do you have?")
    expect(question).to_be_visible(timeout=40_000)


def test_a_usual_decision_takes_two_keys_and_can_be_taken_back(office: Office) -> None:
    citizen = office.citizen(service_select_v1=BAD)
    page = office.caseworker()
    office.open(page, citizen)
    take(page)
    page.evaluate(LOOKED)
    # A key that is held down, or was pressed for the page before, decides nothing.
    page.evaluate(HELD_DOWN)
    page.keyboard.press("Enter")  # nor does Enter before anything is chosen
    expect(page.get_by_role("heading", name="What do you want to do?")).to_be_visible()
    decide_with(page, "2")
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_role("heading", name="What do you want to do?")).to_be_visible()
    expect(page.locator(".records")).to_contain_text("Taken back at once.")
    decide_with(page, "2")
    expect(page.locator(".just")).to_contain_text("sent a service")
    expect_answer(citizen)
    expect(
        citizen.get_by_text("A caseworker chose this answer from the service list.")
    ).to_be_visible()


@pytest.mark.whole
def test_it_checks_an_answer_while_it_is_written(office: Office) -> None:
    page = office.caseworker()
    office.open(page, office.citizen(category_select_v1=BAD))
    take(page)
    page.get_by_role("radio", name="Write the reply").check()
    page.get_by_label("The reply", exact=True).fill("It costs £999.")
    checked = page.locator(".choice__fields:visible .checked")
    expect(checked).to_contain_text("£999")
    checked_at_both_widths(page)
    page.get_by_label("The reply", exact=True).fill("Please pay the fee by card.")
    page.locator("#write-words").fill("tourist visa extend")
    page.get_by_role("checkbox", name="Extend a tourist visa").check()
    expect(checked).to_contain_text("found nothing wrong")


@pytest.mark.whole
def test_who_is_logged_out_meanwhile_comes_back_to_what_they_wrote(office: Office) -> None:
    page = office.caseworker()
    office.open(page, office.citizen(category_select_v1=BAD))
    take(page)
    place = page.url
    page.get_by_role("radio", name="Write the reply").check()
    page.context.clear_cookies(name="sessionid")
    reply = page.get_by_label("The reply", exact=True)
    reply.fill("Please pay the fee by card.")
    checked = page.locator(".choice__fields:visible .checked")
    expect(checked).to_contain_text("You are logged out, so nothing was done.")
    expect(page.locator("h1")).to_have_count(1)
    page.get_by_role("link", name="Log in again").click()
    page.get_by_label("User name").fill("caseworker")
    page.get_by_label("Password").fill("demo-caseworker")
    page.get_by_role("button", name="Log in").click()
    expect(page).to_have_url(place)
    expect(reply).to_have_value("Please pay the fee by card.")


@pytest.mark.whole
def test_it_takes_selected_words_of_the_message(office: Office) -> None:
    def wrong(quote: str) -> dict[str, Any]:
        snippet = [quote]
        return {
            "entities": [
                {
                    "entity_type": "date",
                    "value_redacted": quote,
                    "confidence": 0.9,
                    "evidence_snippets": snippet,
                }
            ]
        }

    text = f"{VISA} before 3 March."
    citizen = office.citizen(text, category_select_v1=BAD, extract=[wrong("5 May")] * 2)
    page = office.caseworker()
    office.open(page, citizen, tab="triage")
    take(page)
    page.get_by_role("radio", name="Correct the step").check()
    expect(page.locator(".row__said")).to_contain_text("The model said: Date")
    page.locator("#entities-0-label").select_option(label="Date")
    page.evaluate(
        """() => {
          const box = document.getElementById("message");
          const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
          const range = document.createRange();
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            if (node.data.includes("visa")) range.setStart(node, node.data.indexOf("visa"));
            if (node.data.includes("3 March")) {
              range.setEnd(node, node.data.indexOf("3 March") + "3 March".length);
            }
          }
          getSelection().removeAllRanges();
          getSelection().addRange(range);
        }"""
    )
    page.get_by_role("button", name="Take the selected words").first.click()
    expect(page.locator("#entities-0-quote")).to_have_value("visa before 3 March")
    page.locator("#entities-0-value").fill("3 March")
    look(page)
    expect(page.get_by_text("3 March").first).to_be_visible()


@pytest.mark.whole
def test_it_keeps_the_item_while_the_page_is_open(office: Office) -> None:
    page = office.caseworker()
    page.clock.install()
    office.open(page, office.citizen(category_select_v1=BAD))
    take(page)
    page.clock.run_for(61_000)
    expect(page.locator("#claim")).to_have_text("This item stays yours while this page is open.")
    page.get_by_role("radio", name="Write the reply").check()
    page.get_by_label("The reply", exact=True).fill("Half a reply")
    boss = office.caseworker("supervisor")
    boss.goto(page.url)
    boss.get_by_role("button", name=re.compile("Take over from")).click()
    expect(boss.get_by_role("heading", name="What do you want to do?")).to_be_visible()
    page.clock.run_for(61_000)
    expect(page.locator("#claim")).to_contain_text("What you have typed is still here")
    expect(page.get_by_label("The reply", exact=True)).to_have_value("Half a reply")
    expect(page.get_by_role("button", name="See what happens")).to_be_disabled()
    assert_accessible(page)


def test_it_works_without_javascript(office: Office) -> None:
    citizen = office.citizen(service_select_v1=BAD)
    page = office.caseworker(java_script_enabled=False)
    office.open(page, citizen)
    page.get_by_role("button", name="Claim this item").click()
    expect(page.locator(".best")).to_be_visible()
    page.get_by_role("radio", name="Correct the step").check()
    step = page.get_by_role("group", name="Which service answers")
    tourist = step.get_by_role("radio", name="Extend a tourist visa")
    page.locator("#service-words").fill("student")
    step.get_by_role("button", name="Find", exact=True).click()
    expect(step).to_be_visible()
    expect(tourist).to_have_count(0)
    page.locator("#service-words").fill("tourist visa")
    step.get_by_role("button", name="Find", exact=True).click()
    tourist.check()
    page.get_by_label("Why?").fill("It is the tourist visa.")
    page.get_by_role("button", name="See what happens").click()
    expect(page.get_by_role("heading", name="What to do first")).to_be_visible()
    page.get_by_role("button", name="Change it").click()
    expect(tourist).to_be_checked()
    page.get_by_role("button", name="See what happens").click()
    page.get_by_role("button", name="Confirm and stay here").click()
    expect(page.get_by_text("It takes effect in some seconds.")).to_be_visible()
    expect_answer(citizen)
    page.reload()
    expect(page.get_by_role("heading", name="This item is decided")).to_be_visible()


@pytest.mark.whole
def test_what_is_technical_unfolds_and_can_be_read_in_the_dark(office: Office) -> None:
    page = office.caseworker(color_scheme="dark")
    office.open(page, office.citizen(category_select_v1=BAD))
    expect(page.get_by_text("json.syntax").first).not_to_be_visible()
    page.evaluate("document.querySelectorAll('.item details').forEach((d) => (d.open = true))")
    expect(page.get_by_text("reading stopped here").first).to_be_visible()
    checked_at_both_widths(page)
    take(page)
    page.get_by_role("radio", name="Correct the step").check()
    assert_accessible(page)
