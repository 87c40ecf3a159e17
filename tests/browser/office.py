"""The office of the browser tests: citizens who ask, and caseworkers at their items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from tests import live
from tests.browser.steps import VISA, ask, assert_accessible, assert_fits, connected, expect_answer
from tests.model_server import ScriptedServer, scripted_model

BAD = ["no json", "```{}```"]
WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 375, "height": 812}
HELD = "A person will answer this question"


@dataclass
class Office:
    """A site whose model says what a test wants, and its people."""

    base_url: str
    model: ScriptedServer
    browser: Browser
    contexts: list[BrowserContext] = field(default_factory=list)

    def citizen(self, text: str = VISA, *, held: bool = True, **says: list[Any]) -> Page:
        """Ask a question that goes wrong where ``says`` scripts the model; the page stays open.

        ``held`` says whether the answer has to wait for it.
        """
        self.model.script = {name: list(answers) for name, answers in says.items()}
        page = self.visitor()
        page.goto("/")
        connected(page)
        ask(page, text)
        if held:
            expect(page.get_by_role("heading", name=HELD)).to_be_visible()
        else:
            expect_answer(page)
        return page

    def caseworker(self, name: str = "caseworker", **options: Any) -> Page:
        """Log in."""
        page = self.visitor(viewport=WIDE, **options)
        log_in(page, name)
        return page

    def visitor(self, **options: Any) -> Page:
        """Open a browser that nobody has used."""
        options = {"service_workers": "block", **options}
        self.contexts.append(self.browser.new_context(base_url=self.base_url, **options))
        return self.contexts[-1].new_page()

    def leave(self) -> None:
        """Close every browser."""
        while self.contexts:
            self.contexts.pop().close()

    def open(self, page: Page, citizen: Page, *, tab: str = "open") -> None:
        """Open the item of a citizen's question in a list."""
        page.goto(f"/review/?tab={tab}")
        row = page.locator(".queue-row", has_text=reference(citizen))
        new = page.get_by_role("link", name="Show it")  # where it came after the page
        expect(row.or_(new).first).to_be_visible()
        if not row.count():
            new.click()
        row.get_by_role("link").click()
        expect(page.locator(".item__reason")).to_be_visible()
        page.wait_for_load_state()  # with its style sheet


def sends_mail(port: int) -> dict[str, str]:
    """Return the settings of a site that hands its e-mails to a server on this port."""
    return {
        "IEIM_SMTP_HOST": "127.0.0.1",
        "IEIM_SMTP_PORT": str(port),
        "IEIM_SMTP_SECURITY": "none",
        "IEIM_PUBLIC_URL": "{base_url}",
    }


@contextmanager
def opened(browser: Browser, folder: Path, **extra: str) -> Iterator[Office]:
    """Serve an office of its own, its data in ``folder``; ``extra`` are environment variables."""
    with scripted_model({}) as (_, server):
        model = {"IEIM_MODEL_BASE_URL": server.base_url, "IEIM_MODEL_NAME": "scripted"}
        with live.site(folder, **model, **extra) as site:
            yield Office(site.base_url, server, browser)


def log_in(page: Page, name: str) -> None:
    """Log in with a demo account."""
    page.goto("/staff/login/")
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(f"demo-{name}")
    page.get_by_role("button", name="Log in").click()
    expect(page).not_to_have_url(re.compile("/staff/login/"))


def reference(citizen: Page) -> str:
    """Return the reference that a citizen is shown."""
    return citizen.get_by_role("region", name="This conversation").locator("strong").inner_text()


def take(page: Page) -> None:
    """Have the item that is open: from the queue it is claimed by opening it, else with a key."""
    button = page.get_by_role("button", name="Claim this item")
    title = page.get_by_role("heading", name="What do you want to do?")
    expect(button.or_(title)).to_be_visible()
    if button.count():
        expect(button).to_be_focused()
        page.keyboard.press("Enter")
    expect(title).to_be_visible()
    page.wait_for_load_state()  # with its scripts, which keep the claim and check what is written


def look(page: Page, reason: str = "The topic is plain.") -> None:
    """Give the reason and look at what happens."""
    page.get_by_label("Why?").fill(reason)
    page.get_by_role("button", name="See what happens").click()
    expect(page.get_by_role("button", name="Confirm and open the next item")).to_be_visible()
    page.wait_for_load_state()


def checked_at_both_widths(page: Page) -> None:
    """Fail with what axe finds, or where something sticks out, on a screen and on a phone."""
    for size in (NARROW, WIDE):
        page.set_viewport_size(size)
        assert_fits(page)
        assert_accessible(page)


LOOKED = "() => new Promise((seen) => setTimeout(seen, 750))"
"""Ends once a person can have looked at a page: until then it takes no Enter for a decision."""


def decide_with(page: Page, key: str) -> None:
    """Decide by two keys."""
    page.evaluate(LOOKED)
    page.keyboard.press(key)
    page.keyboard.press("Enter")
