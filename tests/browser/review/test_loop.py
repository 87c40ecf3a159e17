"""The whole loop: a citizen asks, a step fails, a caseworker decides, the citizen is answered."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest
from playwright.sync_api import Page, expect

from tests.browser.office import BAD, HELD, Office, checked_at_both_widths, look, reference, take
from tests.browser.steps import expect_answer
from tests.selection import sample

pytestmark = pytest.mark.browser

BABY = "We had a baby. How do we register the birth and claim child benefit?"
RISKY = "I want to kill myself because my tourist visa runs out. How do I extend my visa?"
FACTS = "I want to extend my tourist visa before 3 March. My case number is AB-123456."


def queue(page: Page) -> None:
    page.goto("/review/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Items for a person")


def confirm(page: Page) -> None:
    page.get_by_role("button", name="Confirm and stay here").click()
    expect(page.get_by_role("heading", name="This item is decided")).to_be_visible()


def expect_reply_now_and_later(citizen: Page, words: str) -> None:
    """Expect a reply on the page that is open, and again after a reload."""
    expect_answer(citizen)
    expect(citizen.get_by_text(words)).to_be_visible()
    expect(citizen.get_by_role("heading", name=HELD)).to_have_count(0)
    citizen.reload()
    expect_answer(citizen)
    expect(citizen.get_by_text(words)).to_be_visible()


def test_from_an_empty_queue_to_an_answer_and_back(office: Office) -> None:
    page = office.caseworker()
    queue(page)
    expect(page.get_by_text("Nothing is waiting.")).to_be_visible()
    checked_at_both_widths(page)

    citizen = office.citizen(service_select_v1=BAD)
    page.get_by_role("link", name="Show it").click()
    row = page.locator(".queue-row", has_text=reference(citizen))
    checked_at_both_widths(page)
    row.get_by_role("checkbox").check()

    row.get_by_role("link").click()
    take(page)
    # The best answer is chosen, and shown as the citizen will read it.
    expect(page.get_by_role("radio", name="Send a service")).to_be_focused()
    expect(page.locator(".best")).to_contain_text("Extend a tourist visa")
    checked_at_both_widths(page)
    page.get_by_role("radio", name="Correct the step").check()
    page.get_by_role("radio", name="Extend a tourist visa").check()
    checked_at_both_widths(page)
    look(page, "It is the tourist visa.")
    checked_at_both_widths(page)
    expect(page.get_by_text("The citizen gets this reply at once.")).to_be_visible()
    promised = page.locator(".answer").inner_text()
    expect(citizen.get_by_role("heading", name=HELD)).to_be_visible()
    confirm(page)
    checked_at_both_widths(page)

    expect_reply_now_and_later(citizen, "A caseworker chose this answer from the service list.")
    assert citizen.locator(".answer").inner_text() == promised
    page.reload()
    expect(page.get_by_text("What the citizen got")).to_be_visible()
    checked_at_both_widths(page)


@pytest.mark.whole
def test_a_second_person_lets_a_risky_answer_go(office: Office) -> None:
    citizen = office.citizen(RISKY)
    first = office.caseworker()
    office.open(first, citizen)
    item = first.url
    take(first)
    first.get_by_role("radio", name="Approve it").check()
    first.get_by_label("Why?").fill("The answer is right.")
    first.get_by_role("button", name="See what happens").click()
    expect(first.get_by_text("until a second person has agreed")).to_be_visible()
    checked_at_both_widths(first)
    first.get_by_role("button", name="Go on to the last question").click()
    first.get_by_role("button", name="Send this answer all the same").click()
    first.goto(item)
    expect(first.get_by_text("You decided this item yourself.")).to_be_visible()
    expect(first.get_by_role("button", name="Claim this item")).to_have_count(0)
    checked_at_both_widths(first)
    expect(citizen.get_by_role("heading", name=HELD)).to_be_visible()

    other = office.caseworker("supervisor")
    other.goto("/review/?tab=second")
    checked_at_both_widths(other)
    other.locator(".queue-row", has_text=reference(citizen)).get_by_role("link").click()
    take(other)
    other.get_by_role("radio", name="Agree", exact=True).check()
    checked_at_both_widths(other)
    look(other, "The reply is right.")
    confirm(other)
    expect_reply_now_and_later(citizen, "A caseworker checked this answer.")


def check(*names: str) -> Callable[[Page], None]:
    def fill(page: Page) -> None:
        for name in names:
            page.locator(".choice__fields:visible").get_by_label(name).first.check()

    return fill


def write(page: Page) -> None:
    page.get_by_label("The answer").fill("First register the birth.")
    check("Register a birth", "Claim child benefit")(page)


def label(**rows: tuple[str, str]) -> Callable[[Page], None]:
    def fill(page: Page) -> None:
        for name, (code, words) in rows.items():
            page.locator(f"#{name}-0-label").select_option(code)
            page.locator(f"#{name}-0-quote").fill(words)

    return fill


FORMS: Mapping[str, Callable[[Page], None]] = {
    "judgement_v1": check("Yes. The assistant"),
    "agency_detect_v1": check("Immigration and Visa Service"),
    "category_select_v1": check("Visa extensions"),
    "semantic_analysis_v1": check("Births", "Child benefit", "National Civil Registry"),
    "multi_agency_service_answer_v1": write,
    "classify": label(
        intents=("extend", "extend my tourist visa"),
        product_line=("visas_and_residence", "tourist visa"),
        urgency=("normal", "before 3 March"),
    ),
    "extract": label(entities=("date", "3 March")),
    "identity_assist": label(keys=("case_reference", "AB-123456")),
}
TRIAGE = ("classify", "extract", "identity_assist")


@pytest.mark.whole
@pytest.mark.parametrize("contract", sample(FORMS))
def test_each_step_is_corrected_with_its_own_form(office: Office, contract: str) -> None:
    several = contract in ("semantic_analysis_v1", "multi_agency_service_answer_v1")
    text, script = BABY if several else FACTS, {contract: BAD}
    if contract in ("extract", "identity_assist"):  # only a person's turn is asked for these
        script["service_select_v1"] = BAD
    citizen = office.citizen(text, held=contract != "classify", **script)
    page = office.caseworker()
    office.open(page, citizen, tab="triage" if contract in TRIAGE else "open")
    take(page)
    page.get_by_role("radio", name="Correct the step").check()
    FORMS[contract](page)
    checked_at_both_widths(page)
    look(page)
    checked_at_both_widths(page)
    confirm(page)
    if contract not in TRIAGE:
        expect_reply_now_and_later(citizen, "A caseworker chose this answer from the service list.")


AT_FIRST = """
new MutationObserver((_, observer) => {
  if (document.body === null) return;
  globalThis.atFirst = location.href;
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });
"""
"""Remembers the address that a page has when the first of it can be seen."""


@pytest.mark.whole
@pytest.mark.parametrize("button", ["Confirm and stay here", "Confirm and open the next item"])
def test_back_after_a_decision_shows_the_item_and_sends_nothing_again(
    office: Office, button: str
) -> None:
    page = office.caseworker()
    page.add_init_script(AT_FIRST)
    office.open(page, office.citizen(category_select_v1=BAD))
    address = page.url
    take(page)
    page.get_by_role("radio", name="Ask the citizen").check()
    page.get_by_role("button", name="See what happens").click()  # it is refused: no question
    expect(page).to_have_title(re.compile("^Error: "))
    page.locator("#ask-text").fill("Which visa do you have?")
    page.get_by_label("Why?").fill("It could be two.")
    page.get_by_role("button", name="See what happens").click()
    expect(page.get_by_role("heading", name="What the citizen will see")).to_be_visible()
    # Whoever presses a button at once must have the address already.
    assert page.evaluate("atFirst") == address
    page.get_by_role("button", name=button).click()
    expect(page.locator("#confirm-form")).to_have_count(0)
    for _ in range(2):  # the look before confirming, and the page that said what was missing
        page.go_back()
        expect(page.get_by_role("heading", name="This item is decided")).to_be_visible()
        assert page.url.partition("?")[0] == address.partition("?")[0]
