"""Bad values: every error at once, with its file and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.knowledge.bundles import Tables, errors, one_error, tables, write


def changed(table: str, row: int, **values: Any) -> Tables:
    """The good bundle with these values in one row."""
    content = tables()
    content[table][row] |= values
    return content


@pytest.mark.parametrize(
    ("table", "row", "values", "expected"),
    [
        ("agencies", 0, {"id": ""}, "agencies.jsonl:1: id is missing"),
        ("agencies", 1, {"name": " "}, "agencies.jsonl:2: name is missing"),
        ("services", 1, {"key": None}, "services.jsonl:2: key is missing"),
        ("agencies", 1, {"colour": "red"}, "agencies.jsonl:2: the column 'colour' is unknown"),
        ("services", 0, {"fees": 80}, "services.jsonl:1: fees must be text, this is a number"),
        ("services", 0, {"fees": ["80"]}, "fees must be text, this is a list"),
        ("services", 0, {"fees": False}, "fees must be text, this is true or false"),
        ("services", 0, {"requirements": "A photo"}, "must be a list of texts, this is text"),
        ("services", 0, {"requirements": ["A", 2]}, "requirements entry 2 must be text"),
        ("services", 0, {"requirements": ["A", " "]}, "requirements entry 2 is blank"),
        ("services", 0, {"requirements": ["A"] * 101}, "has 101 entries: 100 is the limit"),
        ("services", 0, {"overview": "x" * 10_001}, "overview has 10,001 characters"),
        ("agencies", 1, {"id": "tax "}, "id begins or ends with a space"),
        ("services", 0, {"overview": "a\x00b"}, "overview contains the character NUL"),
        ("services", 0, {"overview": "\ud800"}, "overview contains half of a surrogate pair"),
        ("services", 0, {"url": "ftp://a.example"}, "services.jsonl:1: url is 'ftp://a.example'"),
        ("services", 0, {"url": "javascript:alert(1)"}, "it must begin with http"),
        ("services", 0, {"url": "https://[1"}, "which no browser can read"),
        ("services", 0, {"path": " Java\tScript : alert(1)"}, "path begins with javascript"),
        ("agencies", 0, {"path": "data:text/html,x"}, "path begins with data"),
        ("agencies", 0, {"path": "\u200bvbscript:x"}, "path begins with vbscript"),
        ("labels", 0, {"threshold": 0.555}, "threshold must be a number from 0 to 1"),
        ("labels", 0, {"threshold": 1.01}, "threshold must be a number from 0 to 1"),
        ("labels", 0, {"threshold": "0.5"}, "threshold must be a number from 0 to 1"),
        ("labels", 0, {"threshold": float("nan")}, "threshold must be a number from 0 to 1"),
        ("labels", 0, {"set": "moods"}, "labels.jsonl:1: set 'moods' is unknown"),
        ("labels", 0, {"effect": "hold"}, "only risk_flags, urgencies and entity_types have one"),
        ("labels", 0, {"set": "entity_types", "effect": "hold"}, "effect 'hold' is not mask"),
        ("labels", 1, {"effect": "soon"}, "effect 'soon' is not a whole number of minutes"),
        ("labels", 1, {"effect": 1.5}, "effect must be text, this is a number"),
        ("labels", 2, {"effect": "block"}, "effect 'block' is not one of none, hold, escalate"),
        ("dictionary", 1, {"agency": "nowhere"}, "agency 'nowhere' is not among the agencies"),
        ("services", 1, {"agency": "Tax"}, "services.jsonl:2: agency 'Tax' is not among"),
        (
            "services",
            1,
            {"categories": ["travel"]},
            "services.jsonl:2: category 'travel' is not in the dictionary of 'tax'",
        ),
        (
            "services",
            1,
            {"next_services": ["tax/none"]},
            "services.jsonl:2: service 'tax/none' is not there: write agency/key, or -",
        ),
        (
            "services",
            1,
            {"deadline_days": "two weeks"},
            "services.jsonl:2: deadline_days is 'two weeks': write a number of days from 1 to 9999",
        ),
        (
            "services",
            1,
            {"read_on": "20261129"},
            "services.jsonl:2: read_on is '20261129': write a day as 2026-11-29, or leave it blank",
        ),
        ("services", 1, {"read_on": "2026-02-30"}, "read_on is '2026-02-30': write a day as"),
        (
            "services",
            1,
            {"amounts": ["45.00 EUR", "45 euro"]},
            "services.jsonl:2: amounts entry 2 is '45 euro': write 45.00 EUR, or",
        ),
        (
            "agencies",
            1,
            {"hours": ["Mo-Fr 09:00-16:00", "We 15:00-18:00"]},
            "agencies.jsonl:2: hours has times on We that overlap: write one for both",
        ),
    ],
)
def test_it_refuses_a_bad_value(
    tmp_path: Path, table: str, row: int, values: dict[str, Any], expected: str
) -> None:
    content = changed(table, row, **values)
    if "id" in values:
        # What refers to that agency would be wrong as well.
        content["dictionary"], content["services"] = [], []
    assert expected in one_error(write(tmp_path, content))


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("agencies", "agencies.jsonl:3: has the same id as line 1 ('passports')"),
        ("dictionary", "dictionary.jsonl:3: has the same agency and key as line 1"),
        ("services", "services.jsonl:3: has the same agency and key as line 1 ('passports renew')"),
        ("labels", "labels.jsonl:4: has the same set and code as line 1"),
    ],
)
def test_it_refuses_what_is_there_twice(tmp_path: Path, table: str, expected: str) -> None:
    content = tables()
    content[table].append(content[table][0])
    assert one_error(write(tmp_path, content)).startswith(expected)


def test_it_reports_every_error_at_once(tmp_path: Path) -> None:
    content = changed("services", 0, fees=1, url="x", colour="red")
    content["agencies"].append({"name": "No id"})
    content["dictionary"][1]["agency"] = "nowhere"
    result = errors(write(tmp_path, content))
    assert len(result) == 5
    assert [error.partition(":")[0] for error in result] == [
        "agencies.jsonl",
        "services.jsonl",
        "services.jsonl",
        "services.jsonl",
        "dictionary.jsonl",
    ]
