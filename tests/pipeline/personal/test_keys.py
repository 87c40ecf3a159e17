"""Keys: valid, invalid or unverified, and by which check."""

from __future__ import annotations

import pytest
import yaml
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.personal.keys import CHECKS, MOST_CHARS, KeyStatus, compile_patterns, validate
from ieim.pipeline.personal.national import IN_FIGURES, WITH_LETTERS, Outcome, check

LABELS = yaml.safe_load(
    (settings.BASE_DIR / "ieim" / "knowledge" / "bundles" / "labels.yaml").read_text(
        encoding="utf-8"
    )
)
KEY_TYPES = [label["code"] for label in LABELS if label["set"] == "key_types"]
NAMES = sorted(
    {name for names in CHECKS.values() for name in names}
    | {name for names in IN_FIGURES.values() for name, _ in names}
    | set(WITH_LETTERS)
    | {"iban"}
)
VALID, INVALID, UNVERIFIED = KeyStatus.VALID, KeyStatus.INVALID, KeyStatus.UNVERIFIED


@pytest.mark.parametrize(
    ("key_type", "value", "status", "by"),
    [
        ("iban", "DE89 3704 0044 0532 0130 00", VALID, "iban (ISO 13616)"),
        ("iban", "de89370400440532013000", VALID, "iban (ISO 13616)"),
        ("iban", "DE89 3704 0044 0532 0130 01", INVALID, "iban (ISO 13616)"),
        ("iban", "12345678", UNVERIFIED, ""),
        ("iban", "1234-1234-16 1234567890", VALID, "es.ccc"),
        ("phone", "+49 170 1234567", VALID, "phone (E.164 numbering plan)"),
        ("phone", "0049 170 1234567", VALID, "phone (E.164 numbering plan)"),
        ("phone", "(202) 555-0143", VALID, "phone (E.164 numbering plan)"),
        ("phone", "+1 202 555", INVALID, "phone (E.164 numbering plan)"),
        ("phone", "none", INVALID, "phone (E.164 numbering plan)"),
        ("email", "jo+tax@bücher.example", VALID, "e-mail form"),
        ("email", "jo@example", INVALID, "e-mail form"),
        ("email", "jo..x@example.org", INVALID, "e-mail form"),
        ("email", "jo@example.org, al@example.org", INVALID, "e-mail form"),
        ("email", "jo@1.2.3.4", INVALID, "e-mail form"),
        ("national_id", "44051401359", VALID, "pl.pesel"),
        ("national_id", "AB123456C", VALID, "gb.nino"),
        ("national_id", "GB123456C", INVALID, "gb.nino"),
        ("national_id", "131052-308T", VALID, "fi.hetu"),
        ("national_id", "131052\u2011308T", VALID, "fi.hetu"),
        ("national_id", "12345678A", INVALID, "es.dni, cl.rut"),
        ("national_id", "DEM-12", UNVERIFIED, ""),
        ("social_security_number", "536-90-4399", VALID, "us.ssn"),
        ("tax_number", "GB980780684", VALID, "gb.vat"),
        ("health_card_number", "943 476 5919", VALID, "gb.nhs"),
        ("company_number", "732 829 320", VALID, "fr.siren"),
        ("passport_number", "X1234567", UNVERIFIED, ""),
        ("case_reference", "2024-000123", UNVERIFIED, ""),
        ("no_such_type", "1", UNVERIFIED, ""),
        ("national_id", "", UNVERIFIED, ""),
    ],
)
def test_it_says_what_is_known_about_a_key(
    key_type: str, value: str, status: KeyStatus, by: str
) -> None:
    assert validate(key_type, value) == (status, by)


def test_it_names_only_the_first_checks_that_fail() -> None:
    status, by = validate("national_id", "44051401358")
    assert status is INVALID
    assert by.count(",") == 2
    assert by.endswith("more")


def test_it_asks_a_deployments_own_patterns_alone() -> None:
    patterns = compile_patterns({"case_reference": [r"[A-Z]{3}-\d{4}", r"REF\d+"]})
    assert validate("case_reference", " REF123 ", patterns=patterns) == (
        VALID,
        "pattern 2 of case_reference",
    )
    for value in ("REF", "xREF123", "REF123x", "ABC-1234\nx"):
        assert validate("case_reference", value, patterns=patterns) == (
            INVALID,
            "patterns of case_reference",
        )
    assert validate("national_id", "44051401359", patterns=patterns) == (VALID, "pl.pesel")
    long = "9" * (MOST_CHARS + 1)
    assert validate("case_reference", long, patterns={"case_reference": [r"\d+"]})[0] is INVALID
    own = {"national_id": [r"DEM-\d{2}"]}
    assert validate("national_id", "DEM-12", patterns=own)[0] is VALID
    assert validate("national_id", "44051401359", patterns=own)[0] is INVALID
    assert validate("national_id", "44051401359", patterns={"national_id": []})[0] is VALID


@pytest.mark.parametrize(
    "pattern",
    ["", "(", "[a", "*", "(a+)+", "(a|b)*", "(?:a?){3}", "((a*)b){2,9}", "(?P<x>\\d+-)*", 7, None],
)
def test_it_refuses_a_pattern_that_is_wrong_or_may_take_for_ever(pattern: str) -> None:
    with pytest.raises(ValueError, match="Pattern 2 of case_reference"):
        compile_patterns({"case_reference": ["fine", pattern]})


@pytest.mark.parametrize(
    "pattern",
    [r"(?:[A-Z]{2}-)?\d{4,8}", r"(\d{3} ){3}", r"\(a+\)+", "[(a+)]+", "[]()+]+x", r"(\d+-)?x"],
)
def test_it_takes_a_harmless_pattern(pattern: str) -> None:
    assert compile_patterns({"case_reference": [pattern]})["case_reference"][0].pattern == pattern


def test_it_refuses_patterns_that_are_no_list() -> None:
    with pytest.raises(ValueError, match="patterns of case_reference must be a list"):
        compile_patterns({"case_reference": "[A-Z]+"})


def test_it_has_checks_only_for_key_types_that_there_are() -> None:
    assert set(CHECKS) <= set(KEY_TYPES)


@pytest.mark.parametrize("name", NAMES)
def test_it_knows_every_check_by_name(name: str) -> None:
    assert check(name, "") is not Outcome.PASSED


def test_it_survives_a_place_that_the_library_knows_in_part() -> None:
    assert check("cn.ric", "411111111111111111") is Outcome.FAILED


@given(st.sampled_from(NAMES), st.text("0123456789-. /ABXYZabc+", max_size=24))
def test_it_survives_every_number(name: str, number: str) -> None:
    assert check(name, number) in Outcome


@given(st.sampled_from(KEY_TYPES), st.one_of(st.text(max_size=40), st.text(min_size=MOST_CHARS)))
def test_it_takes_any_value(key_type: str, value: str) -> None:
    status, by = validate(key_type, value, patterns={"case_reference": [".*"]})
    assert (status is UNVERIFIED) == (by == "")
