"""Canonical JSON: Decimals verbatim, one digest a value."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ieim.pipeline.canonical import (
    DecimalDecoder,
    DecimalEncoder,
    digest,
    dumps,
    two_decimals,
    with_shown_scores,
)
from ieim.pipeline.findings import Code


def test_it_writes_compact_sorted_unescaped_json() -> None:
    value = {"b": [Decimal("0.90"), 1, None, True, False], "a": {}, "é": (), "c": 'x"\n'}
    assert dumps(value) == r'{"a":{},"b":[0.90,1,null,true,false],"c":"x\"\n","é":[]}'


@pytest.mark.parametrize("literal", ["0.90", "0.5", "-0.0", "1E+2", "0E-7", "1.10", "3"])
def test_it_writes_decimals_verbatim(literal: str) -> None:
    assert dumps(Decimal(literal)) == literal


def test_it_writes_mappings_and_codes() -> None:
    assert dumps(MappingProxyType({"code": Code.SCHEMA})) == '{"code":"schema"}'


@pytest.mark.parametrize(
    "value", [Decimal("NaN"), Decimal("-Infinity"), float("nan"), [float("inf")]], ids=repr
)
def test_it_refuses_what_is_no_number(value: object) -> None:
    with pytest.raises(ValueError, match="NaN and infinities"):
        dumps(value)
    with pytest.raises(ValueError, match="JCS"):
        digest(value)


@pytest.mark.parametrize(
    "value", [{1: "a"}, {"a"}, object(), b"x"], ids=["key", "set", "object", "bytes"]
)
def test_it_refuses_what_json_cannot_hold(value: object) -> None:
    with pytest.raises(TypeError):
        dumps(value)
    with pytest.raises(ValueError, match=r"keys must be strings|unsupported type"):
        digest(value)


def test_it_stores_and_reads_decimals_as_a_json_field_does() -> None:
    stored = json.dumps({"score": Decimal("0.90"), "n": 3}, cls=DecimalEncoder)
    assert stored == '{"score": 0.90, "n": 3}'
    read = json.loads(stored, cls=DecimalDecoder)
    assert repr(read) == "{'score': Decimal('0.90'), 'n': 3}"


def test_it_honours_the_options_of_json_dumps() -> None:
    value = {"b": "é", "a": [1, 2]}
    for options in ({"sort_keys": True}, {"ensure_ascii": False}, {"separators": (",", ":")}):
        assert json.dumps(value, cls=DecimalEncoder, **options) == json.dumps(value, **options)
    text = json.dumps([{1, 2}], cls=DecimalEncoder, default=sorted)
    assert text == "[[1, 2]]"


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(exclude_categories=[]))
    | st.decimals(allow_nan=False, allow_infinity=False, places=2),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(deadline=None, database=None)
@given(JSON_VALUES)
def test_it_round_trips_every_string_and_number(value: Any) -> None:
    written = json.dumps(value, cls=DecimalEncoder)
    assert json.loads(written, cls=DecimalDecoder) == value
    assert json.loads(dumps(value), cls=DecimalDecoder) == value


def test_it_digests_the_rfc_8785_bytes() -> None:
    value = {"b": Decimal("0.90"), "a": [1, "é", 1e30]}
    expected = hashlib.sha256('{"a":[1,"é",1e+30],"b":0.9}'.encode()).hexdigest()
    assert digest(value) == expected


def test_it_digests_equal_numbers_alike() -> None:
    assert digest([Decimal("0.90")]) == digest([0.9]) == digest([Decimal("9E-1")])
    assert digest([Decimal("1.00")]) == digest([1]) == digest([1.0])
    assert digest([2**60]) == digest([float(2**60)]) == digest([Decimal(2**60)])
    assert digest([True]) != digest([1])


def test_it_refuses_to_digest_what_no_double_or_text_holds() -> None:
    with pytest.raises(ValueError, match="range"):
        digest([10**400])
    with pytest.raises(ValueError, match="UTF-8"):
        digest(["\ud800"])


@pytest.mark.parametrize(
    ("literal", "written"), [("5e-1", "0.50"), ("1", "1.00"), ("0.9", "0.90"), ("0.870", "0.87")]
)
def test_it_shows_scores_with_two_decimals(literal: str, written: str) -> None:
    assert str(two_decimals(Decimal(literal))) == written


@pytest.mark.parametrize("literal", ["0.876", "0.5700000000000001", "1e-9", "NaN", "Infinity"])
def test_it_never_rounds_a_score(literal: str) -> None:
    with pytest.raises(ValueError, match="two decimals"):
        two_decimals(Decimal(literal))


def test_scores_are_shown_with_two_decimals_whatever_their_precision() -> None:
    fields = {
        "score": Decimal("0.9"),
        "risk_flags": [{"confidence": 0.9912, "label": "a"}],
        "n": 0.5,
    }
    assert with_shown_scores({"score": True, "confidence": "0.9"}) == {
        "score": True,
        "confidence": "0.9",
    }
    result = json.dumps(with_shown_scores(fields), cls=DecimalEncoder)
    assert result == '{"score": 0.90, "risk_flags": [{"confidence": 0.99, "label": "a"}], "n": 0.5}'
