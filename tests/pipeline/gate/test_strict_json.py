"""Strict JSON: one object, or findings; never an exception."""

from __future__ import annotations

import json
import sys
import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ieim.pipeline.findings import Code
from ieim.pipeline.gate.strict_json import MAX_DEPTH, parse

FENCE = "`" * 3


def found(raw: str) -> list[tuple[Code, str]]:
    value, findings = parse(raw)
    assert (value is None) == bool(findings)
    return [(finding.code, finding.path) for finding in findings]


def test_it_reads_fractions_as_decimal_and_integers_as_int() -> None:
    value, findings = parse(' {"a": [0.90, 5e-1, 1, -0, 1E+2]}\n')
    assert findings == []
    assert value is not None
    assert [repr(number) for number in value["a"]] == [
        "Decimal('0.90')",
        "Decimal('0.5')",
        "1",
        "0",
        "Decimal('1E+2')",
    ]


def test_it_reads_escaped_surrogate_pairs_as_one_character() -> None:
    assert parse(r'{"a": "\ud83d\ude00"}') == ({"a": "😀"}, [])


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ("", "empty"),
        (" \n", "empty"),
        (f'{FENCE}json\n{{"a": 1}}\n{FENCE}', "code fence"),
        (f'{{"a": 1}}\n{FENCE}', "code fence"),
        ('Here it is: {"a": 1}', "begins with text"),
        ('\ufeff{"a": 1}', "begins with text"),
        ("\u00a0{}", "begins with text"),
        ("// note\n{}", "begins with text"),
        ('{"a": 1} I hope this helps', "followed by more text"),
        ("{} {}", "followed by more text"),
        ('{"a": "x', "ends before"),
        ('{"a": {"b": 1}', "ends before"),
        # From Python 3.13 on the decoder points at the comma, before at what follows it.
        ('{"a": 1,}', f"line 1, column {8 if sys.version_info >= (3, 13) else 9}"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 01}', "line 1"),
        ('{"a": .5}', "line 1"),
        ('{"a": "x\ny"}', "line 1, column 9"),
        (r'{"a": "\x41"}', "line 1"),
        ("]" * 40, "begins with text"),
    ],
)
def test_it_says_why_a_text_is_not_one_json_text(raw: str, says: str) -> None:
    value, findings = parse(raw)
    assert value is None
    assert [finding.code for finding in findings] == [Code.JSON_SYNTAX]
    assert says in findings[0].message


@pytest.mark.parametrize("raw", ["[]", '["a"]', '"a"', "1", "0.5", "null", "true"])
def test_it_takes_objects_only(raw: str) -> None:
    assert found(raw) == [(Code.JSON_NOT_OBJECT, "")]


def test_it_names_every_repeated_key_once() -> None:
    raw = '{"a": 1, "a": 2, "a": 3, "b": [{"c/d": 1, "c/d": 1}]}'
    assert found(raw) == [
        (Code.JSON_DUPLICATE_KEY, "/a"),
        (Code.JSON_DUPLICATE_KEY, "/b/0/c~1d"),
    ]


def test_it_sees_a_repeated_key_behind_an_escape() -> None:
    assert found(r'{"a": 1, "\u0061": 2}') == [(Code.JSON_DUPLICATE_KEY, "/a")]


@pytest.mark.parametrize(
    "literal",
    [
        "NaN",
        "Infinity",
        "-Infinity",
        "1e999",
        "-1e999",
        "9" * 310,
        "1e-400",
        "-0.0001e-400",
        "1" * 401,
        "9" * 5000,
        "0." + "1" * 400,
        "0e-999999999999999999999",
    ],
    ids=lambda literal: literal[:12],
)
def test_it_stops_numbers_that_no_double_holds(literal: str) -> None:
    assert found(f'{{"a": [0, {literal}]}}') == [(Code.JSON_NUMBER, "/a/1")]


@pytest.mark.parametrize("literal", ["0.0", "-0.0", "0e10", "0e-400", "1e308", "5e-324", "9" * 300])
def test_it_lets_every_other_number_through(literal: str) -> None:
    assert found(f'{{"a": {literal}}}') == []


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (r'{"a": "\ud800"}', "/a"),
        (r'{"a": ["x", "\u0000"]}', "/a/1"),
        ('{"a": "\x00"}', "/a"),
        ('{"a": "\udcff"}', "/a"),
        (r'{"k\u0000": 1}', "/k\ufffd"),
    ],
    ids=ascii,
)
def test_it_stops_what_cannot_be_stored(raw: str, path: str) -> None:
    assert found(raw) == [(Code.JSON_ENCODING, path)]


def test_it_reports_bad_bytes_outside_strings_beside_the_syntax() -> None:
    assert found("\x00{}") == [(Code.JSON_ENCODING, ""), (Code.JSON_SYNTAX, "")]


def test_it_collects_all_findings_in_the_order_of_the_text() -> None:
    assert found(r'{"a": NaN, "b": "\ud800", "a": [1e999], "c": 1}') == [
        (Code.JSON_NUMBER, "/a"),
        (Code.JSON_ENCODING, "/b"),
        (Code.JSON_DUPLICATE_KEY, "/a"),
        (Code.JSON_NUMBER, "/a/0"),
    ]


def test_it_counts_the_outermost_object_as_depth_one() -> None:
    deepest = '{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH
    assert found(deepest) == []
    assert found(f'{{"a":{deepest}}}') == [(Code.JSON_TOO_DEEP, "")]


def test_it_looks_at_nothing_else_when_the_text_is_too_deep() -> None:
    assert found("[" * 100_000 + "NaN") == [(Code.JSON_TOO_DEEP, "")]


def test_it_does_not_count_brackets_inside_strings() -> None:
    assert found(json.dumps({"a": "[{" * 40, 'b"': '\\"[[' * 40})) == []


def test_it_keeps_a_long_key_out_of_the_path() -> None:
    value, findings = parse('{"' + "k" * 10_000 + '": [NaN, NaN]}')
    assert value is None
    assert [finding.path for finding in findings] == [f"/{'k' * 100}…/{i}" for i in range(2)]


def test_it_never_quotes_the_answer() -> None:
    for raw in ('{"a": Smith}', "Smith", '{"a": 1} Smith', '{"a": "Smith', r'{"a": "\Smith"}'):
        _, findings = parse(raw)
        assert findings
        assert not any("Smith" in finding.message for finding in findings)


def test_it_takes_time_in_proportion_to_the_length() -> None:
    for text in ('"' * 200_000, '{"a":"' + "\\" * 200_000, "[]" * 100_000, "{" + '"a":1,' * 30_000):
        began = time.perf_counter()
        assert found(text)
        assert time.perf_counter() - began < 2


@settings(deadline=None, database=None)
@given(st.text(alphabet='{}[]",:\\/0123456789.eE+-ntfNaIu \n\x00\ud800é'))
def test_it_never_raises(raw: str) -> None:
    value, findings = parse(raw)
    assert (value is None) == bool(findings)
    if value is not None:
        assert json.loads(raw, parse_float=Decimal) == value


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc/~é"), inner),
    max_leaves=5,
)


@settings(database=None)
@given(st.dictionaries(st.text("abc"), JSON_VALUES))
def test_it_reads_all_valid_objects(value: dict[str, object]) -> None:
    parsed, findings = parse(json.dumps(value))
    assert findings == []
    assert parsed == json.loads(json.dumps(value), parse_float=Decimal)
