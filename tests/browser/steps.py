"""What the browser tests do and look for, in a citizen's terms."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings
from playwright.sync_api import Page, expect

AXE = Path(settings.BASE_DIR) / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
VISA = "I want to extend my tourist visa"
PASSPORT = "I lost my passport. How do I get a new one?"


def ask(page: Page, text: str = VISA) -> None:
    page.get_by_role("textbox").fill(text)
    page.get_by_role("button", name="Ask", exact=True).click()


def expect_answer(page: Page, number: int = 1) -> None:
    # What comes last of an answer that builds up.
    # A caseworker's answer may be taken back for ten seconds before.
    expect(page.get_by_text("Why this answer")).to_have_count(number, timeout=40_000)


def connected(page: Page) -> None:
    expect(page.locator("html")).to_have_class(re.compile("app-live"))


def assert_accessible(page: Page) -> None:
    """Fail with what axe finds on the page as it is now."""
    page.wait_for_load_state()  # with its style sheet
    page.evaluate(AXE.read_text(encoding="utf-8"))
    result = page.evaluate("rules => axe.run({runOnly: rules})", RULES)
    results = [
        f"{violation['id']}: {node['html']} {node['failureSummary']}"
        for violation in result["violations"]
        for node in violation["nodes"]
    ]
    assert not results, "\n".join(results)


def assert_fits(page: Page) -> None:
    """Fail when the page scrolls sideways."""
    page.wait_for_load_state()
    # In the typeface that stays, not in the one that stands in for it while it loads.
    wide, result = page.evaluate(
        "document.fonts.ready.then(() => document.documentElement)"
        ".then((it) => [it.scrollWidth, it.clientWidth])"
    )
    assert wide <= result, f"{wide} px on a page of {result} px"
