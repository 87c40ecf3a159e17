"""How often one may come, as the settings say it."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from ieim.config import environment
from ieim.config.env import Env


def test_it_reads_rates() -> None:
    usual = {
        "sessions": (60, 3600),
        "turns": (20, 60),
        "address": (60, 60),
        "everybody": (600, 60),
        "mail": (3, 86400),
        "mail_origin": (20, 3600),
        "tokens": (300, 60),
    }
    assert environment.rates(Env({})) == usual
    env = Env({"IEIM_API_SESSIONS_RATE": "none", "IEIM_API_TURNS_RATE": "5/second"})
    assert environment.rates(env) == {**usual, "sessions": None, "turns": (5, 1)}
    env.check()


@pytest.mark.parametrize("rate", ["60", "0/hour", "-1/hour", "1/fortnight", "1 / hour", "１/hour"])
def test_it_says_how_a_rate_is_written(rate: str) -> None:
    env = Env({"IEIM_API_TURNS_RATE": rate})
    assert environment.rates(env)["turns"] == (20, 60)
    with pytest.raises(ImproperlyConfigured, match=r"IEIM_API_TURNS_RATE .*20/minute"):
        env.check()


def test_a_day_has_a_budget_where_a_model_costs_something() -> None:
    served = {"IEIM_MODEL_BASE_URL": "https://models.example.org/v1", "IEIM_MODEL_NAME": "m"}
    assert environment.model(Env(served))["BUDGET"]["day"] == 100_000_000
    assert environment.model(Env({**served, "IEIM_BUDGET_DAY": "0"}))["BUDGET"]["day"] is None
    assert environment.model(Env({}))["BUDGET"]["day"] is None


def test_it_counts_for_all_processes_where_there_is_redis() -> None:
    assert environment.cache("")["BACKEND"].endswith("LocMemCache")
    assert environment.cache("redis://host:6379/0")["LOCATION"] == "redis://host:6379/0"
