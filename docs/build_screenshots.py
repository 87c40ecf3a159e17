"""Take the README's pictures: ``python docs/build_screenshots.py`` (needs Chromium)."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


QUESTIONS = (
    "My landlord wants to end my lease. He also says I owe him 4,000. What can I do?",
    "I moved here last month and I am pregnant. What do I have to register, and where?",
    "Can my cousin who lives abroad work in my shop for the summer?",
    "The letter of 3 March says I must pay back my allowance, but I never got any money.",
    "We want to close a street for a party on Saturday and sell food there.",
    "My father cannot look after himself any more. Who helps us, and what does it cost?",
)
"""Questions of which a person gets some: they fill the queue."""


def take(base_url: str, folder: Path) -> None:
    """Ask the demo's questions in Chromium and picture the chat, the queue and an item."""
    from playwright.sync_api import sync_playwright

    from tests.conftest import CHROMIUM_FLAGS

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(CHROMIUM_FLAGS)
        )
        _chat(browser, base_url, folder)
        for question in QUESTIONS:
            _waits(browser, base_url, question)
        _console(browser, base_url, folder)
        browser.close()


def _chat(browser: Browser, base_url: str, folder: Path) -> None:
    from tests.browser.steps import VISA, ask, connected, expect_answer

    page = browser.new_page(
        base_url=base_url, viewport={"width": 900, "height": 1060}, reduced_motion="reduce"
    )
    page.goto("/")
    connected(page)
    ask(page, VISA)
    expect_answer(page)
    page.locator("#question").blur()
    page.evaluate("window.scrollTo(0, 0)")
    page.screenshot(path=folder / "chat.png")


def _waits(browser: Browser, base_url: str, question: str) -> None:
    from tests.browser.steps import ask, connected

    context = browser.new_context(base_url=base_url)
    page = context.new_page()
    page.goto("/")
    connected(page)
    ask(page, question)
    held, none = page.get_by_text("A person will answer"), page.get_by_text("None of these")
    held.or_(none).or_(page.locator(".answer")).first.wait_for()
    if none.is_visible():
        none.click()
        held.first.wait_for()
    context.close()


def _console(browser: Browser, base_url: str, folder: Path) -> None:
    page = browser.new_page(
        base_url=base_url, viewport={"width": 1440, "height": 900}, reduced_motion="reduce"
    )
    page.goto("/staff/login/?next=/review/")
    page.locator("[name=username]").fill("caseworker")
    page.locator("[name=password]").fill("demo-caseworker")
    page.get_by_role("button", name="Log in").click()
    page.locator(".queue-row").first.wait_for()
    page.screenshot(path=folder / "queue.png")
    page.locator(".queue-row a").first.click()
    page.get_by_role("button", name="Claim this item").click()
    page.locator("#decide-form").wait_for()
    page.evaluate("window.scrollTo(0, 0)")
    page.screenshot(path=folder / "item.png")


def main() -> None:
    """Serve the demo knowledge on SQLite and picture it."""
    if shutil.which("chromium") is None:
        sys.exit("Chromium is needed (Debian: apt-get install chromium).")
    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    os.environ["DJANGO_SETTINGS_MODULE"] = "ieim.config.settings"
    import django

    django.setup()
    from tests.live import served

    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as base_url:
        take(base_url, ROOT / "docs" / "images")


if __name__ == "__main__":
    main()
