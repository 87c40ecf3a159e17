"""The settings of the people who review: when they work, how long a claim holds, who looks twice.

Nothing here raises: problems are noted on the :class:`~ieim.config.environment.env.Env` and told
together.
"""

from __future__ import annotations

import re
from typing import TypedDict
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ieim.config.environment.env import Env
from ieim.pipeline.knowledge import LABEL_SETS

_HOURS = re.compile(r"([01][0-9]|2[0-4]):([0-5][0-9])-([01][0-9]|2[0-4]):([0-5][0-9])", re.ASCII)
_DAY = 24 * 60


class SecondOpinion(TypedDict):
    """``settings.IEIM_SECOND_OPINION``: what needs a second person besides a crisis.

    What is decided on a turn that one of ``agencies`` (ids) has or had a part in, and items whose
    message carries a label of one of ``label_sets``.
    """

    agencies: list[str]
    label_sets: list[str]


def time_zone(env: Env) -> str:
    """The time zone of business hours and of every time that a page shows."""
    name = env.text("IEIM_TIME_ZONE", "UTC")
    try:
        ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        env.problem("IEIM_TIME_ZONE", f"is {name!r}. Set it to a time zone: Europe/Berlin")
        return "UTC"
    return name


def business_hours(env: Env) -> tuple[int, int]:
    """When people begin and stop working on a working day, in minutes of the day."""
    name, default = "IEIM_BUSINESS_HOURS", (9 * 60, 17 * 60)
    value = env.text(name)
    found = _HOURS.fullmatch(value)
    if found is None:
        if value:
            env.problem(name, f"is {value!r}. Set it to two times of a day: 09:00-17:00")
        return default
    hours = [int(part) for part in found.groups()]
    opens, closes = hours[0] * 60 + hours[1], hours[2] * 60 + hours[3]
    if not opens < closes <= _DAY:
        env.problem(name, f"is {value!r}, which has no time in it. Set it to hours: 09:00-17:00")
        return default
    return opens, closes


def holidays(env: Env) -> str:
    """The country whose public holidays nobody works on, empty for weekends only."""
    name = "IEIM_HOLIDAYS"
    value = env.text(name).upper()
    country, _, part = value.partition("-")
    if not value:
        return ""
    # It knows every country, so it is loaded only where one is named.
    from holidays import list_supported_countries

    parts = list_supported_countries().get(country)
    if parts is None or (part and part not in parts):
        env.problem(
            name, f"is {value!r}. Set it to a country (DE), or a part of one (DE-BY), by ISO 3166."
        )
        return ""
    return value


def choice_minutes(env: Env) -> int:
    """How many minutes a citizen has to choose a service before a person gets the question."""
    return int(env.number("IEIM_CHOICE_MINUTES", 30, low=1, high=7 * 24 * 60))


def claim_minutes(env: Env) -> int:
    """How long a claim holds that no open page renews."""
    return int(env.number("IEIM_CLAIM_MINUTES", 15, low=2, high=24 * 60))


def second_opinion(env: Env) -> SecondOpinion:
    """What needs a second person besides a crisis."""
    name = "IEIM_SECOND_OPINION"
    wanted: SecondOpinion = {"agencies": [], "label_sets": []}
    for key, values in env.table(name).items():
        if key not in wanted:
            env.problem(name, f"names {key!r}. Use these: {', '.join(wanted)}.")
        elif not isinstance(values, list) or not all(isinstance(v, str) for v in values):
            env.problem(name, f"has {key} that are no list of names. Set it to a JSON array.")
        elif key == "agencies":
            wanted["agencies"] = values
        elif unknown := sorted(set(values) - set(LABEL_SETS)):
            sets = ", ".join(LABEL_SETS)
            env.problem(name, f"names the label set {unknown[0]!r}. Use these: {sets}.")
        else:
            wanted["label_sets"] = values
    return wanted
