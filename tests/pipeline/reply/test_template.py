"""Every placeholder of a template has something behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ieim.pipeline.findings import Code
from ieim.pipeline.knowledge import Agency, Service
from ieim.pipeline.reply.template import check, opening, resolve

AGENCY = Agency("visas", "Visa Office", "https://visas.example", "Visas for everybody.")
SERVICE = Service(
    agency="visas",
    key="extend",
    name="Extend a visa",
    overview="Stay longer.",
    requirements=("A passport", " ", "A photo"),
    fees="MRK 45.00",
    contact=" ",
    url="https://visas.example/extend",
)
GIVEN: dict[str, Any] = {
    "service": SERVICE,
    "agency": AGENCY,
    "category_value": "Visa extensions",
    "entities": {"ENT_DATE": "3 May", "ENT_NAME": " "},
}


def template(*keys: str, rules: str = "") -> dict[str, Any]:
    placeholders = {key: f"{{{key}}}" for key in keys}
    return {"placeholders": placeholders, "rules": rules or " ".join(placeholders.values())}


def faults(given: dict[str, Any], **changes: Any) -> list[tuple[Code, str]]:
    return [(f.code, f.path) for f in check(given, **(GIVEN | changes))]


def test_it_resolves_every_field_of_a_bundle() -> None:
    keys = [
        *("service_agency", "service_key", "service_name", "service_path", "service_overview"),
        *("service_applicability_summary", "service_categories", "service_requirements"),
        *("service_fees", "service_processing_time", "service_how_to_apply", "service_contact"),
        *("service_url", "agency_id", "agency_name", "agency_path", "agency_description"),
    ]
    assert list(resolve(dict.fromkeys(keys), **GIVEN)) == keys
    assert faults(template(*keys)) == []


def test_it_keeps_lists_wraps_scalars_and_empties_blanks() -> None:
    keys = ["service_requirements", "service_fees", "service_contact", "service_how_to_apply"]
    keys += ["category_value", "entity_ENT_DATE", "agency_name"]
    assert resolve(dict.fromkeys(keys), **GIVEN) == {
        "service_requirements": ("A passport", "A photo"),
        "service_fees": ("MRK 45.00",),
        "service_contact": (),
        "service_how_to_apply": (),
        "category_value": ("Visa extensions",),
        "entity_ENT_DATE": ("3 May",),
        "agency_name": ("Visa Office",),
    }


def test_it_leaves_out_what_it_does_not_know() -> None:
    keys = dict.fromkeys(["service_price", "entity_ENT_AGE", "entity_ENT_NAME", "category_value"])
    assert resolve(keys, **(GIVEN | {"category_value": None})) == {}


@pytest.mark.parametrize(
    "key", ["service_price", "agency_services", "name", "entity_ENT_AGE", "entity_ENT_NAME", "x/~y"]
)
def test_it_stops_a_placeholder_with_nothing_behind_it(key: str) -> None:
    path = "/template/placeholders/" + key.replace("~", "~0").replace("/", "~1")
    assert faults(template("service_name", key)) == [(Code.TEMPLATE_UNRESOLVED, path)]


@pytest.mark.parametrize("value", [None, ""])
def test_it_stops_a_category_that_was_not_selected(value: str | None) -> None:
    path = "/template/placeholders/category_value"
    assert faults(template("category_value"), category_value=value) == [
        (Code.TEMPLATE_UNRESOLVED, path)
    ]


@pytest.mark.parametrize(
    "value",
    ["MRK 45.00", "service_fees", "{service_fees} ", "{{service_fees}}", "{service_name}", 1],
)
def test_it_stops_a_value_that_is_not_its_key_in_braces(value: Any) -> None:
    given = {"placeholders": {"service_fees": value}, "rules": "{service_fees}"}
    assert faults(given) == [(Code.TEMPLATE_UNRESOLVED, "/template/placeholders/service_fees")]


def test_it_lets_an_empty_field_pass() -> None:
    assert faults(template("service_processing_time", "service_contact")) == []
    assert faults(template("agency_path"), agency=replace(AGENCY, path="")) == []


def test_it_stops_each_token_of_the_rules_that_is_no_placeholder_once() -> None:
    rules = (
        "Open with {service_name}, {service_fees}, { service_url } and {service_fees}; {} { } ok."
    )
    assert (
        faults(template("service_name", rules=rules))
        == [(Code.TEMPLATE_UNRESOLVED, "/template/rules")] * 2
    )


@pytest.mark.parametrize(
    ("rules", "keys"),
    [
        ("{service_fees} {service_contact}", ("service_fees", "service_contact")),
        ("1. {service_fees}\n2. {service_contact}", ("service_fees", "service_contact")),
        ("Open with {service_fees}, then {service_contact}.", ("service_fees", "service_contact")),
        (
            "Greet, list {service_how_to_apply}, end with {service_fees}.",
            ("service_how_to_apply", "service_fees"),
        ),
        ("D’abord {service_contact}; puis {service_fees}", ("service_contact", "service_fees")),
        ("Say all that there is.", ()),
    ],
)
def test_a_reply_opens_with_the_tokens_of_the_rules_wherever_they_stand(
    rules: str, keys: tuple[str, ...]
) -> None:
    assert opening(rules) == keys


def test_it_takes_rules_full_of_braces() -> None:
    assert len(faults(template("service_name", rules="{" * 60_000 + "a}"))) == 1
    assert opening("{a} and " * 20_000 + "never") == ("a",)


def test_rules_without_a_token_are_recorded_and_stop_nothing() -> None:
    (finding,) = check(template("service_name", rules="Say all that there is."), **GIVEN)
    assert finding.code is Code.TEMPLATE_UNORDERED
    assert finding.path == "/template/rules"
    assert not finding.stops
    assert check(template("service_name", rules="Greet, then {service_name}."), **GIVEN) == []
