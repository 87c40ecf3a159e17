"""Fixtures for every test. What only some tests need lives beside them."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection

from tests import live, services
from tests.audit.owner import flushable
from tests.live import REDIS_DATABASES_PER_WORKER

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


hypothesis.settings.register_profile("quick", deadline=None, max_examples=50)
hypothesis.settings.register_profile("whole", deadline=None, max_examples=1000)


def pytest_configure(config: pytest.Config) -> None:
    """Make passwords quick to check, and let no property fail because the machine is busy.

    WhiteNoise looks for a static file when it is asked for, as in development: otherwise each of
    hundreds of test clients looks through all of them first.
    """
    if not config.getoption("--hypothesis-profile"):
        hypothesis.settings.load_profile("quick")
    settings.WHITENOISE_AUTOREFRESH = True
    # Words alone: what needs meaning says so, and has a small embedder of its own.
    settings.IEIM_EMBEDDINGS = {**settings.IEIM_EMBEDDINGS, "KIND": "none"}
    settings.IEIM_LINK_CHECK = False  # a sweep at night would open the links of the demo
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def pytest_xdist_newgateway(gateway: Any) -> None:
    """Give each worker Redis databases of its own, before it reads the settings.

    Several sites of one worker take the numbers that follow (see tests.live).
    """
    if address := os.environ.get("REDIS_URL"):
        number = int(gateway.id.removeprefix("gw")) * REDIS_DATABASES_PER_WORKER
        address = f"{address.rpartition('/')[0]}/{number}"
        code = f"import os; os.environ['REDIS_URL'] = {address!r}"
        gateway.remote_exec(code).waitclose()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the tests of every operation where they do not run: collecting them takes long."""
    unused = "not whole" in config.getoption("markexpr")
    return True if unused and collection_path.name == "test_every_operation.py" else None


def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    """Skip what needs the other database; leave out on PostgreSQL what uses none."""
    other = "postgres" if connection.vendor == "sqlite" else "sqlite"
    skip = pytest.mark.skip(reason=f"needs the other database ({other}): make test runs it there")
    for item in items:
        if item.get_closest_marker(other):
            item.add_marker(skip)
    if connection.vendor == "sqlite":
        return
    left_out = [item for item in items if not _uses_a_database(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if _uses_a_database(item)]


def _uses_a_database(item: pytest.Item) -> bool:
    marks = ("django_db", "postgres", "sqlite", "processes", "both_databases")
    fixtures = {"db", "transactional_db", "live_site"}.intersection(
        getattr(item, "fixturenames", ())
    )
    return bool(fixtures) or any(map(item.get_closest_marker, marks))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what stays: modules, tests, contracts and phrases."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    """Begin with nothing in the cache: it says for a day what a sweep did, and who was limited."""
    cache.clear()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    tmp_path_factory: pytest.TempPathFactory,
    django_db_modify_db_settings_parallel_suffix: None,
) -> None:
    """Keep SQLite's test database in a file.

    Threads (the worker's, the consumers') then wait for each other's locks as they do in
    production; a shared database in memory refuses them at once.
    """
    if connection.vendor == "sqlite":
        folder = tmp_path_factory.mktemp("database")
        connection.settings_dict["TEST"]["NAME"] = str(folder / "test.sqlite3")
    elif hasattr(connection, "close_pool"):
        # Importing the site makes a pool of connections to the database that tests leave alone.
        connection.close_pool()


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
