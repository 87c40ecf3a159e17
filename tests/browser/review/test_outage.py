"""An outage from its first question to its end: open pages, e-mails, and who waits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.office import Office, checked_at_both_widths, opened, sends_mail
from tests.browser.steps import ask, connected, expect_answer
from tests.conversations.mail.mailing import PostOffice, post_office

pytestmark = pytest.mark.browser

SINCE = "The model has given no answers since"


@pytest.fixture
def house(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Office, PostOffice]]:
    """A site with a mail server and operators."""
    with post_office() as mails:
        settings = {
            **sends_mail(mails.port),
            "IEIM_OPERATOR_MAIL": "ops@example.org",
        }
        with opened(browser, tmp_path_factory.mktemp("outage"), **settings) as office:
            yield office, mails
            office.leave()


@pytest.mark.whole
def test_a_wrong_key_is_seen_told_and_forgotten(house: tuple[Office, PostOffice]) -> None:
    office, mails = house
    queue = office.caseworker()
    queue.goto("/review/")
    office.model.script = {"judgement_v1": [401]}
    citizen = office.visitor()
    citizen.goto("/")
    connected(citizen)
    ask(citizen)
    banner = queue.locator("details", has_text=SINCE)
    expect(banner).to_contain_text("1 question waits for it.")
    banner.locator("summary").click()
    expect(banner.get_by_text("HTTP status 401.")).to_be_visible()
    expect(banner.get_by_text("was told by e-mail")).to_be_visible()
    assert len(mails.inbox) == 1
    checked_at_both_widths(queue)
    plain = office.visitor(java_script_enabled=False)
    plain.goto("/staff/login/?next=/review/")
    plain.locator("[name=username]").fill("caseworker")
    plain.locator("[name=password]").fill("demo-caseworker")
    plain.get_by_role("button", name="Log in").click()
    expect(plain.locator("summary", has_text=SINCE)).to_be_visible()
    # It is tried again after twenty seconds.
    expect(banner).to_have_count(0, timeout=60_000)
    expect_answer(citizen)
    assert len(mails.inbox) == 1  # the other comes when it has been over for a while
