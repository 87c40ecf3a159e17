"""The demo knowledge as files: enough of it, whole, consistent, and plainly fictional."""

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

AGENCY_FIELDS = ("id", "name", "path", "description")
SERVICE_TEXTS = (
    "agency",
    "key",
    "name",
    "path",
    "overview",
    "applicability_summary",
    "fees",
    "processing_time",
    "contact",
    "url",
)
SERVICE_LISTS = {"categories": (1, 3), "requirements": (3, 6), "how_to_apply": (3, 5)}
LABEL_SETS = {
    "intents",
    "product_lines",
    "urgencies",
    "risk_flags",
    "entity_types",
    "key_types",
}
KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
CODE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
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
    lines = (DEMO / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def texts(value: Any) -> Iterator[str]:
    """Every string inside ``value``."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for each in value.values() for text in texts(each))
    elif isinstance(value, list):
        yield from (text for each in value for text in texts(each))


def repeated(values: list[Any]) -> list[Any]:
    """The values that occur more than once."""
    return [value for value, times in Counter(values).items() if times > 1]


def agency_ids() -> set[str]:
    return {agency["id"] for agency in rows("agencies")}


def service_keys() -> set[str]:
    return {service["key"] for service in rows("services")}


def tagged(tag: str) -> list[dict[str, Any]]:
    return [question for question in questions() if tag in question["tags"]]


def test_it_is_as_large_as_the_issue_asks() -> None:
    assert len(rows("agencies")) >= 8
    assert len(rows("dictionary")) >= 80
    assert len(rows("services")) >= 60
    assert len(questions()) >= 40


def test_it_says_everything_about_every_service() -> None:
    for service in rows("services"):
        assert set(service) == {*SERVICE_TEXTS, *SERVICE_LISTS}, service["key"]
        assert all(service[field].strip() for field in SERVICE_TEXTS), service["key"]
        for field, (least, most) in SERVICE_LISTS.items():
            assert least <= len(service[field]) <= most, (service["key"], field)
            assert all(item.strip() for item in service[field]), (service["key"], field)


def test_it_describes_every_service_at_length_and_in_its_own_words() -> None:
    short = [s["key"] for s in rows("services") if len(s["overview"].split()) < 40]
    assert short == []
    assert repeated([service["overview"] for service in rows("services")]) == []
    assert repeated([service["applicability_summary"] for service in rows("services")]) == []


def test_it_tells_apart_agencies_categories_and_services() -> None:
    agencies, services = rows("agencies"), rows("services")
    assert repeated([agency["id"] for agency in agencies]) == []
    assert repeated([(entry["agency"], entry["key"]) for entry in rows("dictionary")]) == []
    assert repeated([service["key"] for service in services]) == []
    assert repeated([service["url"] for service in services]) == []
    assert repeated([each["name"].casefold() for each in (*agencies, *services)]) == []


def test_it_writes_keys_in_lower_case_with_hyphens() -> None:
    for agency in rows("agencies"):
        assert set(agency) == set(AGENCY_FIELDS)
        assert KEY.fullmatch(agency["id"])
    for entry in rows("dictionary"):
        assert KEY.fullmatch(entry["key"])
    for service in rows("services"):
        prefix, _, slug = service["key"].partition(".")
        assert prefix == service["agency"]
        assert KEY.fullmatch(slug), service["key"]


def test_it_refers_only_to_what_exists_and_leaves_no_category_without_a_service() -> None:
    entries = {(entry["agency"], entry["key"]) for entry in rows("dictionary")}
    used = {(s["agency"], category) for s in rows("services") for category in s["categories"]}
    assert used == entries
    assert {agency for agency, _ in entries} == agency_ids()


def test_it_gives_every_category_three_to_eight_keywords() -> None:
    for entry in rows("dictionary"):
        assert entry["value"].strip()
        assert 3 <= len(entry["keywords"]) <= 8, entry["key"]
        assert repeated([keyword.casefold() for keyword in entry["keywords"]]) == [], entry["key"]


def test_it_links_only_to_the_reserved_domain() -> None:
    for agency in rows("agencies"):
        assert EXAMPLE_URL.fullmatch(agency["path"]), agency["id"]
        own = [s for s in rows("services") if s["agency"] == agency["id"]]
        for service in own:
            for url in (service["url"], service["path"]):
                assert EXAMPLE_URL.fullmatch(url), service["key"]
                assert url.startswith(agency["path"] + "/"), service["key"]


@pytest.mark.parametrize("table", ["agencies", "dictionary", "services", "labels"])
def test_it_has_no_address_phone_number_or_money_of_a_real_place(table: str) -> None:
    for text in texts(rows(table)):
        hosts = re.findall(r"(?:https?://|@)([^\s/,]+)", text)
        assert all(host.endswith(".example") for host in hosts), text
        phones = re.findall(r"\+\d[\d ]{5,}\d", text)
        assert all(re.fullmatch(r"\+999 20 555 01\d\d", phone) for phone in phones), text
        amounts = re.findall(r"\bMRK\b.{0,20}", text)
        assert all(re.match(r"MRK \d{1,3}(,\d{3})*\.\d\d(?!\d)", each) for each in amounts), text
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


def test_it_has_all_six_label_sets_with_distinct_codes() -> None:
    assert {label["set"] for label in rows("labels")} == LABEL_SETS
    assert repeated([(label["set"], label["code"]) for label in rows("labels")]) == []
    for label in rows("labels"):
        assert CODE.fullmatch(label["code"])
        assert label["name"].strip()
        assert label["description"].endswith(".")


def test_it_writes_thresholds_with_two_decimals_where_there_is_a_confidence() -> None:
    for label in rows("labels"):
        threshold = label.get("threshold")
        if threshold is not None:
            assert re.fullmatch(r"0\.\d\d|1\.00", threshold), label["code"]
            # A flag acts at any confidence; identity_assist gives none.
            assert label["set"] not in {"risk_flags", "key_types"}, label["code"]
    with_threshold = {label["set"] for label in rows("labels") if "threshold" in label}
    assert with_threshold == {"intents", "product_lines", "urgencies", "entity_types"}


def test_it_gives_an_effect_to_every_risk_flag_and_urgency_and_to_nothing_else() -> None:
    minutes = []
    for label in rows("labels"):
        if label["set"] == "risk_flags":
            assert label["effect"] in {"none", "hold", "escalate"}, label["code"]
        elif label["set"] == "urgencies":
            minutes.append(int(label["effect"]))
        else:
            assert "effect" not in label, label["code"]
    assert minutes == sorted(set(minutes))


def test_it_tells_where_help_is_in_every_flag_that_escalates() -> None:
    flags = {label["code"]: label for label in rows("labels") if label["set"] == "risk_flags"}
    assert flags["self_harm"]["effect"] == "escalate"
    for flag in flags.values():
        if flag["effect"] == "escalate":
            assert "112" in flag["description"], flag["code"]


def test_it_labels_questions_in_the_case_format() -> None:
    assert repeated([question["id"] for question in questions()]) == []
    assert repeated([(q["text"], str(q["history"])) for q in questions()]) == []
    for question in questions():
        assert set(question) == {
            "id",
            "lang",
            "text",
            "history",
            "expected",
            "tags",
            "labels",
            "source",
        }
        assert question["text"].strip()
        assert ("follow-up" in question["tags"]) == bool(question["history"]), question["id"]
        for item in question["history"]:
            assert item["role"] in {"user", "agent"}
            assert item["text"].strip()


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


def test_it_expects_an_answer_several_agencies_no_inquiry_or_a_person() -> None:
    for question in questions():
        expected, tags = question["expected"], question["tags"]
        assert ("multi-agency" in tags) == (len(expected["agencies"]) > 1), question["id"]
        if not expected["inquiry"]:
            assert {"small-talk", "out-of-scope"} & set(tags), question["id"]
        answered = bool(expected["agencies"])
        assert answered == (expected["inquiry"] and "vague" not in tags), question["id"]


def test_it_has_questions_of_every_kind() -> None:
    least = {
        "first-turn": 34,
        "follow-up": 8,
        "multi-agency": 6,
        "vague": 4,
        "injection": 2,
        "suggestion": 6,
    }
    assert {tag: n for tag, n in least.items() if len(tagged(tag)) < n} == {}
    assert len(tagged("typo")) + len(tagged("second-language")) >= 8
    assert len([q for q in questions() if not q["expected"]["inquiry"]]) >= 8


def test_it_suggests_short_and_different_first_questions() -> None:
    suggestions = tagged("suggestion")
    assert suggestions[0]["text"] == "I want to extend my tourist visa"
    assert suggestions[0]["expected"]["service"] == "immigration.extend-tourist-visa"
    for question in suggestions:
        assert len(question["text"]) <= 80, question["id"]
        assert question["history"] == []
        assert question["expected"]["inquiry"]
    assert repeated([str(q["expected"]["agencies"]) for q in suggestions]) == []
