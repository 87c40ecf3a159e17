"""Redaction: what is recognised, what is left, and that a kind never changes by accident."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from ieim.pipeline.personal.redaction import _stretches, prepare

CASES = yaml.safe_load(Path(__file__).with_name("redaction.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "redacted"), CASES["found"], ids=ascii)
def test_it_hides_personal_data(text: str, redacted: str) -> None:
    assert prepare(text).text == redacted


@pytest.mark.parametrize("text", CASES["left"], ids=ascii)
def test_it_leaves_what_is_not_personal(text: str) -> None:
    assert prepare(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "+49 1\u200b70 12\u202e34567\u202c",
        "+49\u00a0170\u20091234567",
        "+４９ １７０ １２３４５６７",
        "jo\u200bhn@ex\u00adample.\u2060org",
        "DE89\u200f3704\u200e0044 0532 0130 00",
        "5\U000e00413\ufeff6-90\u2011439\u200d9",
        "**536-90-4399**",
    ],
    ids=ascii,
)
def test_it_sees_through_what_people_cannot_see(text: str) -> None:
    prepared = prepare(text)
    assert len(prepared.segments) == 1
    assert not any(character.isdigit() for character in prepared.text.split("]")[1])
    assert not any(character.isalnum() for character in prepared.text.split("[")[0])


def test_it_numbers_each_kind_and_gives_one_value_one_placeholder() -> None:
    prepared = prepare("a@x.example, +49 170 1234567, b@x.example and a@x.example")
    assert prepared.text == "[EMAIL_1], [PHONE_1], [EMAIL_2] and [EMAIL_1]"
    assert [segment.kind for segment in prepared.segments] == ["EMAIL", "PHONE", "EMAIL", "EMAIL"]


def test_it_makes_one_stretch_of_finds_that_overlap() -> None:
    finds = [("ADDRESS", 10, 12, 1), ("EMAIL", 0, 5, 0), ("PHONE", 3, 9, 0), ("CARD", 10, 12, 0)]
    assert _stretches(finds) == [("PHONE", 0, 9), ("CARD", 10, 12)]
    # The local part looks like a telephone number.
    assert prepare("2025550143@example.org").text == "[EMAIL_1]"


def test_it_knows_the_national_numbers_of_the_regions_given() -> None:
    assert prepare("0712 345 678", regions=["KE"]).text == "[PHONE_1]"
    assert prepare("0712 345 678", regions=["US"]).text == "0712 345 678"


def test_it_keeps_personal_data_out_of_its_representation() -> None:
    assert "a@x.example" not in repr(prepare("a@x.example"))
