"""Being told by e-mail, from the form to the answer: with a mail server."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.office import Office, checked_at_both_widths, opened, sends_mail
from tests.browser.review.test_talking import answers_plainly, asks_plainly
from tests.browser.steps import assert_accessible, assert_fits
from tests.conversations.mail.mailing import ADDRESS, PostOffice, post_office

pytestmark = pytest.mark.browser

OFFER = "Tell me by e-mail when the answer is there"


@pytest.fixture(scope="module")
def house(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Office, PostOffice]]:
    """A site with a mail server."""
    with post_office() as mails:
        settings = {
            **sends_mail(mails.port),
            "IEIM_MAIL_RATE": "none",
            "IEIM_MAIL_ORIGIN_RATE": "none",
        }
        with opened(browser, tmp_path_factory.mktemp("mail"), **settings) as office:
            yield office, mails


def link_of(mails: PostOffice, number: int) -> str:
    """Wait for a message (from 1); returns the first link in it."""
    with mails.arrived:
        result = mails.arrived.wait_for(lambda: len(mails.inbox) >= number, timeout=30)
    assert result, "the message did not come"
    match = re.search(r"http://\S+", mails.inbox[number - 1].get_content())
    assert match is not None
    return match.group()


@pytest.mark.whole
def test_from_the_form_to_the_answer(house: tuple[Office, PostOffice]) -> None:
    office, mails = house
    mails.inbox.clear()
    citizen = office.visitor()
    asks_plainly(citizen)
    citizen.get_by_role("button", name=OFFER).click()
    citizen.get_by_label("Your e-mail address").fill("ana")
    citizen.get_by_role("button", name="Send me the message").click()
    expect(citizen.locator(".govuk-error-summary")).to_be_visible()
    checked_at_both_widths(citizen)
    citizen.get_by_label("Your e-mail address").fill(ADDRESS)
    citizen.get_by_role("button", name="Send me the message").click()
    expect(citizen.get_by_text("We send a message to your e-mail address")).to_be_visible()
    checked_at_both_widths(citizen)
    mailbox = office.visitor()
    mailbox.goto(link_of(mails, 1))
    checked_at_both_widths(mailbox)
    mailbox.get_by_role("button", name="Yes, tell me by e-mail").click()
    expect(mailbox.get_by_role("heading", name="is confirmed")).to_be_visible()
    citizen.goto("/")
    expect(citizen.get_by_text("We tell you by e-mail when the answer is there")).to_be_visible()
    answers_plainly(office, citizen)
    link = link_of(mails, 2)
    mailbox.goto(link)
    expect(mailbox.get_by_text("which this browser does not know")).to_be_visible()
    checked_at_both_widths(mailbox)
    citizen.goto(link)
    citizen.get_by_role("button", name="Read the answer").click()
    expect(citizen.get_by_text("Good morning.")).to_be_visible()
    office.leave()


@pytest.mark.whole
def test_it_reads_from_right_to_left_on_a_phone(house: tuple[Office, PostOffice]) -> None:
    office, mails = house
    mails.inbox.clear()
    page = office.visitor(viewport={"width": 390, "height": 844}, locale="ar")
    page.goto("/person/")
    page.locator("#text").fill("I will see you in court about the bridge")
    page.locator(".person-page form button[type=submit]").last.click()
    offer = page.locator(".mail__offer")
    expect(offer).to_have_attribute("href", re.compile("/turns/.*/mail/"))
    assert_fits(page)
    assert_accessible(page)
    offer.click()
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    assert_fits(page)
    assert_accessible(page)
    page.locator("#address").fill(ADDRESS)
    page.locator("form:has(#address) button").click()
    expect(page.locator(".mail")).to_be_visible()
    page.goto(link_of(mails, 1))
    assert_fits(page)
    assert_accessible(page)
    assert str(mails.inbox[0]["Content-Language"]) == "ar"
    office.leave()
