"""What the browser tests share."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from tests import live
from tests.browser.office import Office, opened
from tests.model_server import scripted_model

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


@pytest.fixture(scope="module")
def office_of_the_file(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Office]:
    """A site with a scripted model, for the tests of one file."""
    with opened(browser, tmp_path_factory.mktemp("office")) as office:
        yield office


@pytest.fixture
def office(office_of_the_file: Office) -> Iterator[Office]:
    """The file's office; everybody leaves after the test: a page that is open goes on working."""
    yield office_of_the_file
    office_of_the_file.leave()


@pytest.fixture
def thinking_site(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[str, threading.Event]]:
    """A site whose model thinks about the service until the event is set; ``(base URL, event)``."""
    answer = threading.Event()
    script = {"service_select_v1": [answer] * 2}
    with scripted_model(script) as (_, server):
        model = {"IEIM_MODEL_BASE_URL": server.base_url, "IEIM_MODEL_NAME": "scripted"}
        with live.site(tmp_path_factory.mktemp("thinking"), **model) as site:
            yield site.base_url, answer
            answer.set()
