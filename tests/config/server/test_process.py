"""What a process has read before its first citizen comes."""

from __future__ import annotations

import pytest
from django.db import DatabaseError
from pytest_django import DjangoAssertNumQueries

from ieim.config import process
from ieim.knowledge import selectors

pytestmark = pytest.mark.django_db


@pytest.mark.usefixtures("published")
def test_it_has_loaded_the_current_release(
    django_assert_num_queries: DjangoAssertNumQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    selectors.forget_unused(before=float("inf"))
    monkeypatch.setattr("ieim.config.process.connection.close", lambda: None)
    process.warm_up()
    # Which release is current is asked each time; its content is not read again.
    with django_assert_num_queries(1):
        release = selectors.current_release()
    assert release is not None


def test_it_starts_without_a_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ieim.config.process.connection.close", lambda: None)
    process.warm_up()
    assert selectors.current_release() is None


def test_it_starts_while_the_database_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails() -> None:
        raise DatabaseError("no connection")

    monkeypatch.setattr("ieim.knowledge.selectors.newest", fails)
    monkeypatch.setattr("ieim.config.process.connection.close", lambda: None)
    process.warm_up()
    assert "does not answer yet" in caplog.text
