"""The API's settings."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from ieim.config import api, parts
from ieim.config.env import Env


def test_it_reads_rates() -> None:
    assert api.rates(Env({})) == {"sessions": "60/hour", "turns": "20/minute"}
    env = Env({"IEIM_API_SESSIONS_RATE": "none", "IEIM_API_TURNS_RATE": "5/second"})
    assert api.rates(env) == {"sessions": None, "turns": "5/second"}
    env.check()


@pytest.mark.parametrize("rate", ["60", "0/hour", "-1/hour", "1/fortnight", "1 / hour", "１/hour"])
def test_it_says_how_a_rate_is_written(rate: str) -> None:
    env = Env({"IEIM_API_TURNS_RATE": rate})
    assert api.rates(env)["turns"] == "20/minute"
    with pytest.raises(ImproperlyConfigured, match=r"IEIM_API_TURNS_RATE .*20/minute"):
        env.check()


def test_it_counts_for_all_processes_where_there_is_redis() -> None:
    assert parts.cache("")["BACKEND"].endswith("LocMemCache")
    assert parts.cache("redis://host:6379/0")["LOCATION"] == "redis://host:6379/0"
