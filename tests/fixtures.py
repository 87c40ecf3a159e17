"""Fixtures that many tests need: a published release, and messages through the real services."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from django.conf import settings
from django.core.management.color import no_style
from django.db import connection, connections, models, transaction
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from conversations.models import Turn
from conversations.turns import running, services
from ieim.administration import selectors as administration
from ieim.audit.models import PEOPLE_CHAIN, AuditEvent, AuditHead
from ieim.knowledge.bundles.bundle import Bundle, read_bundle
from ieim.knowledge.models import Publication, Release
from ieim.pipeline.ports import Model
from ieim.studio.drafts import publishing
from ieim.studio.drafts import services as knowledge
from ieim.studio.models import DRAFT_MODELS, Change

DEMO = Path(settings.BASE_DIR) / "ieim" / "knowledge" / "demo"
VISA = "I want to extend my tourist visa"

Ask = Callable[..., Turn]
T = TypeVar("T")


@pytest.fixture
def office_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set now to a moment such as ``2026-11-23 20:08``, by the clock of the office."""

    def set_to(text: str) -> None:
        moment = datetime.fromisoformat(text).replace(tzinfo=administration.current().hours.zone)
        monkeypatch.setattr(timezone, "now", lambda: moment)

    return set_to


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a call be tried again at once."""
    monkeypatch.setattr(running, "BACKOFF", (0.0, 0.0))


@pytest.fixture(autouse=True)
def _no_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test ask as often as it likes: all tests come from one address."""
    monkeypatch.setattr(settings, "IEIM_RATES", dict.fromkeys(settings.IEIM_RATES))


@cache
def demo_bundle() -> Bundle:
    """The demo knowledge, read once: hundreds of tests publish it."""
    return read_bundle(DEMO)


PUBLISHING: tuple[type[models.Model], ...] = (
    *DRAFT_MODELS.values(),
    Change,
    Release,
    Publication,
    AuditHead,
    AuditEvent,
)
"""Where publishing writes."""

_published: dict[type[models.Model], tuple[str, Any]] = {}
"""The rows of the first publication of a run, to be written as they are: hundreds of tests begin
with the same ones. A statement each, and its rows: PostgreSQL's in the form of its COPY."""


_around: ExitStack | None = None
"""The transaction around the tests of a module that begin with the published release."""
_can_share = False
"""Whether the test that is being set up may run inside it."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave the transaction around the published release before a test that begins without."""
    global _can_share
    mark = item.get_closest_marker("django_db")
    names = getattr(item, "fixturenames", ())
    transactional = "transactional_db" in names or bool(mark and mark.kwargs.get("transaction"))
    _can_share = "published" in names and not transactional
    if not _can_share:
        _leave()


@pytest.fixture(scope="module")
def _published_around(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Publish once for a module, outside the transactions of its tests."""
    global _around
    if _can_share:
        with django_db_blocker.unblock(), ExitStack() as stack:
            stack.callback(django_db_blocker.restore)
            stack.enter_context(transaction.atomic())
            stack.callback(transaction.set_rollback, True)
            stack.callback(django_db_blocker.unblock)
            _publish()
            _around = stack.pop_all()
    yield
    _leave()


def _leave() -> None:
    global _around
    if _around is not None:
        _around.close()
        _around = None


@pytest.fixture
def published(_published_around: None, db: None) -> None:
    """The demo knowledge as release 1: by the real services, later on by the rows they wrote."""
    if _around is None:
        _publish()


def _publish() -> None:
    empty = not any(_rows(model).exists() for model in PUBLISHING)
    if empty and _published:
        _restore()
        return
    knowledge.import_bundle(bundle=demo_bundle(), by=None)
    publishing.publish(note="demo", by=None)
    if empty:
        _keep()


def _rows(model: type[models.Model]) -> models.QuerySet[models.Model]:
    """The rows of publishing: what the record says of people is not of it."""
    rows = model._default_manager.all()
    return rows.exclude(chain=PEOPLE_CHAIN) if model in (AuditEvent, AuditHead) else rows


def _keep() -> None:
    with connection.cursor() as cursor:
        for model in PUBLISHING:
            # Somebody may have logged in meanwhile: events are numbered anew.
            skipped = "id" if model is AuditEvent else ""
            columns = [field.column or "" for field in model._meta.concrete_fields]
            columns = [column for column in columns if column != skipped]
            into = f"{model._meta.db_table} ({', '.join(map(connection.ops.quote_name, columns))})"
            query = _rows(model).order_by("pk").values_list(*columns).query
            select, values = query.sql_with_params()
            if connection.vendor == "postgresql":
                with cursor.copy(f"COPY ({select}) TO STDOUT", values) as copy:
                    _published[model] = f"COPY {into} FROM STDIN", b"".join(copy)
            else:
                cursor.execute(select, values)
                places = ", ".join(["%s"] * len(columns))
                insert = f"INSERT INTO {into} VALUES ({places})"  # noqa: S608  # our names
                _published[model] = insert, cursor.fetchall()


def _restore() -> None:
    with connection.cursor() as cursor:
        for statement, rows in _published.values():
            if connection.vendor == "postgresql":
                with cursor.copy(statement) as copy:
                    copy.write(rows)
            else:
                cursor.executemany(statement, rows)
        for sql in connection.ops.sequence_reset_sql(no_style(), list(PUBLISHING)):
            cursor.execute(sql)


@pytest.fixture
def ask(published: None) -> Ask:
    """Send a message and run its turn to the end, as a worker would.

    Whose message has numbers of theirs in it has chosen to send it as it is.
    """

    def send(text: str = VISA, *, secret: str | None = None, model: Model | None = None) -> Turn:
        secret = secret or services.new_secret()
        turn = services.receive(session=secret, text=text, personal_data="send", enqueue=False)[0]
        running.run_turn(turn_id=turn.pk, model=model)
        return Turn.objects.select_related("session").get(pk=turn.pk)

    return send


@pytest.fixture
def in_threads(transactional_db: None) -> Callable[[list[Callable[[], T]]], list[T]]:
    """Run functions at once, each on a connection of its own; returns what they return."""

    def closing(function: Callable[[], T]) -> T:
        try:
            return function()
        finally:
            connections.close_all()

    def run(functions: list[Callable[[], T]]) -> list[T]:
        with ThreadPoolExecutor(len(functions)) as pool:
            return list(pool.map(closing, functions))

    return run
