"""What the browser tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, Response, expect

AXE = Path(settings.BASE_DIR) / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

expect.set_options(timeout=15_000)


def assert_accessible(page: Page) -> None:
    """Fail with what axe finds on the page as it is now."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    result = page.evaluate("rules => axe.run({runOnly: rules})", RULES)
    found = [
        f"{violation['id']}: {node['html']} {node['failureSummary']}"
        for violation in result["violations"]
        for node in violation["nodes"]
    ]
    assert found == []


def assert_fits(page: Page) -> None:
    """Fail when the page scrolls sideways."""
    wide, shown = page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide <= shown


@pytest.fixture
def quiet_page(page: Page) -> Iterator[Page]:
    """A page on which no error may turn up in the browser's console."""
    problems: list[str] = []

    def failed(response: Response) -> None:
        if response.status >= 500:
            problems.append(f"{response.status} {response.url}")

    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("response", failed)
    yield page
    assert problems == []
