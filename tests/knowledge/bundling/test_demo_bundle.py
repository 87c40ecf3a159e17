"""The demo knowledge as files: consistent, and plainly fictional."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

DEMO = Path(__file__).parents[3] / "ieim" / "knowledge" / "demo"

EXAMPLE_URL = re.compile(r"https://([a-z0-9-]+\.)+example(/[a-z0-9/-]*)?")


@cache
def rows(table: str) -> list[dict[str, Any]]:
    """The rows of one table of the bundle; every scalar is the text that stands in the file."""
    text = (DEMO / f"{table}.yaml").read_text(encoding="utf-8")
    # BaseLoader makes nothing but strings, lists and mappings: "0.60" keeps its zero.
    loaded: list[dict[str, Any]] = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    return loaded


@cache
def questions() -> list[dict[str, Any]]:
    """The example questions, in the order of the file."""
    lines = (DEMO / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def texts(value: Any) -> Iterator[str]:
    """Every string inside ``value``."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for entry in value.values() for text in texts(entry))
    elif isinstance(value, list):
        yield from (text for entry in value for text in texts(entry))


def repeated(values: list[Any]) -> list[Any]:
    """The values that occur more than once."""
    return [value for value, times in Counter(values).items() if times > 1]


def agency_ids() -> set[str]:
    return {agency["id"] for agency in rows("agencies")}


def service_keys() -> set[str]:
    return {service["key"] for service in rows("services")}


def tagged(tag: str) -> list[dict[str, Any]]:
    return [question for question in questions() if tag in question["tags"]]


def test_it_links_only_to_the_reserved_domain() -> None:
    for agency in rows("agencies"):
        assert EXAMPLE_URL.fullmatch(agency["path"]), agency["id"]
        services = [s for s in rows("services") if s["agency"] == agency["id"]]
        for service in services:
            for url in (service["url"], service["path"]):
                assert EXAMPLE_URL.fullmatch(url), service["key"]
                assert url.startswith(agency["path"] + "/"), service["key"]


@pytest.mark.parametrize("table", ["agencies", "dictionary", "services", "labels"])
def test_it_has_no_address_phone_number_or_money_of_a_real_place(table: str) -> None:
    written = [{n: v for n, v in row.items() if n != "amounts"} for row in rows(table)]
    for amount in (amount for row in rows(table) for amount in row.get("amounts", ())):
        assert re.fullmatch(r"(0|\d{1,3}\.\d\d) MRK( \([\w ,-]+\))?", amount), amount
    for text in texts(written):
        hosts = re.findall(r"(?:https?://|@)([^\s/,]+)", text)
        assert all(host.endswith(".example") for host in hosts), text
        phones = re.findall(r"\+\d[\d ]{5,}\d", text)
        assert all(re.fullmatch(r"\+999 20 555 01\d\d", phone) for phone in phones), text
        amounts = re.findall(r"\bMRK\b.{0,20}", text)
        assert all(re.match(r"MRK \d{1,3}(,\d{3})*\.\d\d(?!\d)", amount) for amount in amounts), (
            text
        )
        assert not re.search(r"[$€£¥]|\b(USD|EUR|GBP)\b", text), text


def test_it_names_no_other_service_or_agency_inside_a_text() -> None:
    # Whatever an answer names it must cite; a name in passing would stop good answers.
    names = {agency["name"]: agency["id"] for agency in rows("agencies")}
    names |= {service["name"]: service["key"] for service in rows("services")}
    for service in rows("services"):
        about = "\n".join(texts({k: v for k, v in service.items() if k != "name"}))
        for name, owner in names.items():
            if owner not in (service["key"], service["agency"]):
                assert not re.search(rf"\b{re.escape(name)}\b", about, re.IGNORECASE), (
                    f"{service['key']} names {name!r}"
                )


def test_it_tells_where_help_is_in_every_flag_that_escalates() -> None:
    flags = {label["code"]: label for label in rows("labels") if label["set"] == "risk_flags"}
    assert flags["self_harm"]["effect"] == "escalate"
    for flag in flags.values():
        if flag["effect"] == "escalate":
            assert "112" in flag["description"], flag["code"]


def test_it_expects_only_agencies_and_services_that_exist() -> None:
    for question in questions():
        expected = question["expected"]
        acceptable = expected["acceptable_services"]
        agencies = expected["agencies"]
        assert set(agencies) <= agency_ids(), question["id"]
        assert set(acceptable) <= service_keys(), question["id"]
        if expected["service"] is not None:
            assert acceptable[0] == expected["service"], question["id"]
            assert agencies == [expected["service"].split(".")[0]], question["id"]
        elif acceptable:
            assert {key.split(".")[0] for key in acceptable} == set(agencies), question["id"]


def test_it_suggests_short_and_different_first_questions() -> None:
    suggestions = tagged("suggestion")
    assert suggestions[0]["text"] == "I want to extend my tourist visa"
    assert suggestions[0]["expected"]["service"] == "immigration.extend-tourist-visa"
    for question in suggestions:
        assert len(question["text"]) <= 80, question["id"]
        assert question["history"] == []
        assert question["expected"]["inquiry"]
    assert repeated([str(q["expected"]["agencies"]) for q in suggestions]) == []
