"""Fixtures for every test. What only some tests need lives beside them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest
from django.conf import settings
from django.db import connection

from tests import live, services
from tests.audit.owner import flushable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest_plugins = ["tests.fixtures", "tests.processes"]

CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", help="run only the files of one part of several, such as 1/2")


def pytest_configure() -> None:
    """Make passwords quick to check, and let no property fail because the machine is busy.

    WhiteNoise looks for a static file when it is asked for, as in development: otherwise each of
    hundreds of test clients looks through all of them first.
    """
    hypothesis.settings.register_profile("untimed", deadline=None)
    hypothesis.settings.load_profile("untimed")
    settings.WHITENOISE_AUTOREFRESH = True
    # Words alone: what needs meaning says so, and has a small embedder of its own.
    settings.IEIM_EMBEDDINGS = {**settings.IEIM_EMBEDDINGS, "KIND": "none"}
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


DATABASE_FIXTURES = {"db", "transactional_db", "live_site"}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the other parts' files unread where a part is asked for."""
    part = config.getoption("--part")
    if part is None or not collection_path.match("test_*.py"):
        return None
    return collection_path not in _part(part, of_browser="browser" in collection_path.parts) or None


@cache
def _part(part: str, *, of_browser: bool) -> set[Path]:
    from tests.checks import dealt  # imports a plugin, which pytest wants to load first

    tests = Path(__file__).parent
    files = tests.rglob("test_*.py")
    return dealt((f for f in files if of_browser is ("browser" in f.parts)), part)


def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    """Skip what needs PostgreSQL on SQLite.

    On PostgreSQL leave out what knows no database: pytest-django lets no other test touch one; what
    starts processes on this run's database says so with a mark.
    """
    if connection.vendor == "sqlite":
        for item in items:
            if item.get_closest_marker("postgres"):
                item.add_marker(
                    pytest.mark.skip(reason="needs PostgreSQL: make test runs it there")
                )
    else:
        _leave_out(items, config, {item for item in items if not _knows_a_database(item)})


def _leave_out(items: list[pytest.Item], config: pytest.Config, left: set[pytest.Item]) -> None:
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


def _knows_a_database(item: pytest.Item) -> bool:
    marks = ("django_db", "postgres", "processes")
    fixtures = DATABASE_FIXTURES.intersection(getattr(item, "fixturenames", ()))
    return bool(fixtures) or any(map(item.get_closest_marker, marks))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what stays: modules, tests, contracts and phrases."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep SQLite's test database in a file.

    Threads (the worker's, the consumers') then wait for each other's locks as they do in
    production; a shared database in memory refuses them at once.
    """
    if connection.vendor == "sqlite":
        folder = tmp_path_factory.mktemp("database")
        connection.settings_dict["TEST"]["NAME"] = str(folder / "test.sqlite3")


@pytest.fixture(scope="session", autouse=True)
def _flushable() -> Iterator[None]:
    """Let Django empty append-only tables after a transactional test."""
    with flushable():
        yield


@pytest.fixture(scope="session")
def live_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of the real server: a process of its own, with the demo knowledge published.

    It has its own database, on the engine of this run, and the demo staff accounts.
    """
    with live.served(tmp_path_factory.mktemp("live-site")) as base_url:
        yield base_url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a window. Make contexts with ``base_url=live_site``."""
    chromium = services.chromium()
    if chromium is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium-headless-shell)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Each launch has a new user data directory of Playwright's own.
        browser = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM_FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, live_site: str) -> Iterator[Page]:
    """A page of a new visitor of the live site; addresses may start with ``/``."""
    # Requests that a service worker sees are not routed; test_offline.py tries it.
    context = browser.new_context(base_url=live_site, service_workers="block")
    yield context.new_page()
    context.close()
