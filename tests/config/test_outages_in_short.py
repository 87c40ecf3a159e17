"""An outage is a line a minute in the log."""

from __future__ import annotations

import logging
import sys

import pytest
from django.db import OperationalError
from django.test import Client

from ieim.config.logs import OutagesInShort


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def record(error: Exception | None, name: str = "x", **extra: object) -> logging.LogRecord:
    info = None
    if error is not None:
        try:
            raise error
        except Exception:  # noqa: BLE001  # as a logger takes it
            info = sys.exc_info()
    made = logging.LogRecord(name, logging.ERROR, "f", 1, "It %s", ("failed",), info)
    vars(made).update(extra)
    return made


def test_the_same_outage_is_told_once_a_minute_with_how_often_it_was() -> None:
    clock = Clock()
    short = OutagesInShort(clock)
    first = record(OperationalError("no\nserver"))
    assert short.filter(first)
    assert (first.getMessage(), first.exc_info) == ("It failed (OperationalError: no server)", None)
    assert not any(short.filter(record(OperationalError("no"))) for _ in range(3))
    clock.now = 61.0
    again = record(OperationalError("no"))
    assert short.filter(again)
    assert again.getMessage().endswith("; 3 more like it since the last such line")


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("psycopg.pool", {}),
        ("opentelemetry.exporter.otlp", {}),
        ("django.request", {"status_code": 503}),
    ],
)
def test_what_only_tells_of_it_is_shortened_too(name: str, extra: dict[str, object]) -> None:
    short = OutagesInShort(Clock())
    assert [short.filter(record(None, name, **extra)) for _ in range(3)] == [True, False, False]


def test_all_else_goes_through_as_it_is() -> None:
    short = OutagesInShort(Clock())
    for _ in range(3):
        fault = record(ValueError("ours"))
        assert short.filter(fault)
        assert fault.exc_info is not None
        assert short.filter(record(None, "django.request", status_code=500))


@pytest.mark.django_db
def test_a_foreign_host_is_told_to_nobody_not_even_by_the_last_resort(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert Client().get("/", headers={"Host": "elsewhere.example"}).status_code == 400
    captured = capsys.readouterr()
    assert "elsewhere" not in captured.err + captured.out
    assert not logging.getLogger("django.security.DisallowedHost").isEnabledFor(logging.ERROR)
