"""What the browser tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Response, expect

expect.set_options(timeout=15_000)


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
