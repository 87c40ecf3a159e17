"""What a caseworker has typed is not lost, and who loses a claim is told."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.office import BAD, Office, checked_at_both_widths, log_in, take
from tests.browser.steps import assert_accessible

pytestmark = pytest.mark.browser

REPLY = "Come to the office with your passport."
REASON = "The topic is plain."
HIDDEN = "Object.defineProperty(document, 'visibilityState', {get: () => 'hidden'})"
KEPT = "#kept"


def taken_item(office: Office, *, prepare: Callable[[Page], None] = lambda page: None) -> Page:
    """An item that a caseworker has taken."""
    page = office.caseworker()
    prepare(page)
    office.open(page, office.citizen(category_select_v1=BAD))
    take(page)
    page.wait_for_load_state()  # with the scripts that renew the claim and keep drafts
    return page


def begin(page: Page) -> None:
    """Type half a decision."""
    page.get_by_role("radio", name="Write the reply").check()
    page.get_by_label("The reply", exact=True).fill(REPLY)
    page.get_by_label("Why?").fill(REASON)


def expect_draft(page: Page) -> None:
    expect(page.get_by_label("The reply", exact=True)).to_have_value(REPLY)
    expect(page.get_by_label("Why?")).to_have_value(REASON)


def drafts(page: Page) -> list[str]:
    """The names under which the browser keeps drafts."""
    result = page.evaluate("Object.keys(localStorage).filter((n) => n.startsWith('ieim-draft:'))")
    return list(result)


def expect_no_draft(page: Page) -> None:
    # Not wait_for_function: its second look would be an eval, which the site's policy forbids.
    page.wait_for_load_state()
    page.evaluate(
        """() => new Promise((done) => {
          const there = () => Object.keys(localStorage).some((n) => n.startsWith("ieim-draft:"));
          const look = () => (there() ? requestAnimationFrame(look) : done());
          look();
        })"""
    )


def take_over(office: Office, address: str) -> Page:
    boss = office.caseworker("supervisor")
    boss.goto(address)
    boss.get_by_role("button", name=re.compile("Take over from")).click()
    expect(boss.get_by_role("heading", name="What do you want to do?")).to_be_visible()
    return boss


def end_session(page: Page) -> None:
    """Log somebody out as time does: nothing else of theirs goes."""
    page.context.clear_cookies(name="sessionid")


@pytest.mark.whole
def test_a_draft_outlives_a_reload_and_the_end_of_a_session(office: Office) -> None:
    page = taken_item(office)
    address = page.url
    begin(page)
    page.reload()
    expect_draft(page)
    end_session(page)
    log_in(page, "caseworker")
    page.goto(address)
    expect_draft(page)


@pytest.mark.whole
def test_who_logs_out_leaves_no_draft(office: Office) -> None:
    page = taken_item(office)
    address = page.url
    begin(page)
    page.get_by_role("button", name="Log out").click()
    log_in(page, "caseworker")
    page.goto(address)
    expect(page.get_by_label("Why?")).to_have_value("")
    assert not page.evaluate("Object.keys(localStorage).some((n) => n.startsWith('ieim-draft:'))")


@pytest.mark.whole
def test_nobody_else_sees_a_draft_in_the_same_browser(office: Office) -> None:
    page = taken_item(office)
    address = page.url
    begin(page)
    end_session(page)
    log_in(page, "supervisor")
    page.goto(address)
    expect(page.get_by_text(REASON)).to_have_count(0)
    page.get_by_role("button", name=re.compile("Take over from")).click()
    expect(page.get_by_label("Why?")).to_have_value("")
    expect(page.get_by_label("The reply", exact=True)).to_have_value("")
    page.get_by_label("Why?").fill("Mine")
    end_session(page)
    log_in(page, "caseworker")
    page.goto(address)
    locator = page.locator(KEPT)
    expect(locator).to_contain_text(REPLY)
    expect(locator).not_to_contain_text("Mine")
    checked_at_both_widths(page)


@pytest.mark.whole
@pytest.mark.parametrize("button", ["Confirm and stay here", "Confirm and open the next item"])
def test_a_draft_is_gone_once_the_decision_is_taken(office: Office, button: str) -> None:
    page = taken_item(office)
    address = page.url
    begin(page)
    page.get_by_role("button", name="See what happens").click()
    expect(page.get_by_role("button", name=button)).to_be_visible()  # the next page has come
    assert len(drafts(page)) == 1
    page.get_by_role("button", name=button).click()
    expect(page.locator("#confirm-form")).to_have_count(0)
    expect_no_draft(page)
    page.goto(address)
    expect(page.get_by_role("heading", name="This item is decided")).to_be_visible()
    expect(page.locator(KEPT)).not_to_be_visible()


@pytest.mark.whole
def test_a_draft_stays_where_the_decision_was_not_taken(office: Office) -> None:
    page = taken_item(office)
    address = page.url
    begin(page)
    page.get_by_role("button", name="See what happens").click()
    take_over(office, address)
    page.get_by_role("button", name="Confirm and stay here").click()
    expect(page.get_by_role("heading", name="Your decision was not taken")).to_be_visible()
    page.goto(address)
    expect(page.locator(KEPT)).to_contain_text(REPLY)


@pytest.mark.whole
def test_a_draft_is_dropped_after_a_day(office: Office) -> None:
    page = taken_item(office)
    begin(page)
    page.evaluate(
        """() => {
          const [name] = Object.keys(localStorage).filter((n) => n.startsWith('ieim-draft:'));
          const draft = JSON.parse(localStorage.getItem(name));
          draft.at -= 24 * 60 * 60 * 1000;
          localStorage.setItem(name, JSON.stringify(draft));
        }"""
    )
    page.goto("/review/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Items for a person")
    expect_no_draft(page)


def test_who_loses_a_claim_is_told_within_five_seconds(office: Office) -> None:
    page = taken_item(office, prepare=lambda page: page.clock.install())
    begin(page)
    take_over(office, page.url)
    page.clock.run_for(5_000)
    expect(page.locator("#claim")).to_contain_text("has this item until")
    expect(page).to_have_title(re.compile("^Not yours any more: "))
    expect(page.locator(".item__facts")).to_contain_text("You do not have it any more")
    expect(page.get_by_role("button", name="See what happens")).to_be_disabled()
    expect_draft(page)
    assert_accessible(page)
    page.reload()
    expect(page.locator(KEPT)).to_contain_text(REPLY)
    page.get_by_role("button", name="Throw it away").click()
    expect(page.locator(KEPT)).not_to_be_visible()
    expect_no_draft(page)


@pytest.mark.whole
def test_who_loses_a_claim_to_a_decision_is_told(office: Office) -> None:
    page = taken_item(office, prepare=lambda page: page.clock.install())
    elsewhere = page.context.new_page()
    elsewhere.goto(page.url)
    begin(elsewhere)
    elsewhere.get_by_role("button", name="See what happens").click()
    elsewhere.get_by_role("button", name="Confirm and stay here").click()
    expect(elsewhere.get_by_role("heading", name="This item is decided")).to_be_visible()
    page.clock.run_for(5_000)
    expect(page.locator("#claim")).to_contain_text("This item has been decided already.")


@pytest.mark.whole
def test_a_hidden_page_keeps_the_claim(office: Office) -> None:
    page = taken_item(office, prepare=lambda page: page.clock.install())
    page.evaluate(HIDDEN)
    with page.expect_response("**/renew/") as renewed:
        page.clock.run_for(60_000)
    assert renewed.value.ok


@pytest.mark.whole
def test_it_says_that_somebody_is_logged_out_and_goes_on_after(office: Office) -> None:
    page = taken_item(office, prepare=lambda page: page.clock.install())
    begin(page)
    elsewhere = page.context.new_page()
    end_session(page)
    page.clock.run_for(5_000)
    expect(page.locator("#claim")).to_contain_text("You are logged out")
    log_in(elsewhere, "caseworker")
    page.clock.run_for(5_000)
    expect(page.locator("#claim")).to_have_text("This item stays yours while this page is open.")
    page.reload()
    expect_draft(page)
