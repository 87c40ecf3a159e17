"""The parts of an item's page: a model's raw answer, and the message with its marks."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.findings import pointer
from review.item.message import LANES, Mark, near, numbered, segments
from review.item.stages import MAX_CHARACTERS, AnswerView, answer_view, pretty, statements
from tests.pipeline.build import RELEASE, valid


def marked_lines(view: AnswerView) -> dict[str, tuple[int, ...]]:
    return {line.text.strip(): line.marks for line in view.lines if line.marks}


def test_it_marks_the_value_that_a_finding_points_at() -> None:
    raw = '{"a": {"score": 0.876, "b/c": [1, {"~q": "é"}]}}'
    view = answer_view(raw, ["/a/score", "/a/b~1c/1/~0q", "/a/score"])
    assert marked_lines(view) == {'"score": 0.876,': (1, 3), '"~q": "é"': (2,)}


def test_it_marks_what_is_nearest_to_a_missing_field() -> None:
    view = answer_view('{"a": {"b": 1}}', ["/a/missing/deep", ""])
    assert marked_lines(view) == {'"a": {': (1,), "{": (2,)}


def test_it_shows_numbers_and_repeated_keys_as_they_were_written() -> None:
    lines = [line.text for line in answer_view('{"x": 1e400, "x": NaN, "y": 0.50}', []).lines]
    assert lines == ["{", '  "x": 1e400,', '  "x": NaN,', '  "y": 0.50', "}"]


def test_it_shows_where_reading_stopped() -> None:
    view = answer_view('{"a": 1} and more', [""])
    assert (view.lines, view.before, view.after) == ((), '{"a": 1} ', "and more")
    assert answer_view("```{}```", []).after == "```{}```"


def test_it_says_that_there_was_nothing() -> None:
    assert answer_view(" \n", []).empty
    assert not answer_view("{}", []).empty
    assert not answer_view("no", []).empty


def test_it_cuts_what_nobody_would_read() -> None:
    view = answer_view("x" * (MAX_CHARACTERS + 1), [])
    assert (len(view.before), view.cut) == (MAX_CHARACTERS, True)
    many = answer_view(json.dumps([1] * 1500), ["/0", "/1499"])
    assert many.cut
    assert marked_lines(many) == {"[": (2,), "1,": (1,)} or many.lines[1].marks == (1,)


def test_it_shows_nesting_without_end_as_text() -> None:
    for deep in (5000, 40):
        raw = "[" * deep + "]" * deep
        assert answer_view(raw, ["/0"]).before == raw


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@given(VALUES)
def test_it_can_read_what_it_formats(value: object) -> None:
    assert json.loads(pretty(json.dumps(value))) == value


@given(st.text(max_size=200), st.lists(st.text(max_size=20), max_size=3))
def test_it_shows_any_answer(raw: str, names: list[str]) -> None:
    view = answer_view(raw, [pointer(*names)])
    text = "".join(line.text for line in view.lines) or view.before + view.after
    assert bool(text) == bool(raw)
    if view.lines:
        assert sum(1 in line.marks for line in view.lines) == 1


def mark(start: int, end: int, kind: str = "intent") -> Mark:
    return Mark(start, end, kind, "Wants to", "Extend", "")


TEXTS = st.text(min_size=1, max_size=40)


@st.composite
def marked(draw: st.DrawFn) -> tuple[str, list[Mark]]:
    text = draw(TEXTS)
    at = st.integers(0, len(text))
    pairs = draw(st.lists(st.tuples(at, at), max_size=6))
    return text, [mark(min(pair), max(pair) + 1) for pair in pairs if max(pair) < len(text)]


@given(marked())
def test_it_cuts_a_text_without_losing_a_character(case: tuple[str, list[Mark]]) -> None:
    text, marks = case
    placed = numbered(marks)
    parts = segments(text, placed)

    assert "".join(part.text for part in parts) == text
    for entry in placed:
        under = [part for part in parts if entry in part.marks]
        assert "".join(part.text for part in under) == text[entry.start : entry.end]
        assert sum(entry in part.begins for part in parts) == 1


@given(marked())
def test_it_gives_overlapping_marks_lanes_of_their_own(case: tuple[str, list[Mark]]) -> None:
    placed = numbered(case[1])
    assert [entry.number for entry in placed] == list(range(1, len(placed) + 1))
    for part in segments(case[0], placed):
        lanes = [entry.lane for entry in part.marks]
        if len(lanes) <= LANES - 1 and max(lanes, default=0) < LANES - 1:
            assert len(set(lanes)) == len(lanes)


def test_it_draws_the_lowest_underline_around_the_others() -> None:
    long, short = numbered([mark(0, 9), mark(2, 4)])
    assert [(part.text, part.marks) for part in segments("abcdefghi", [long, short])] == [
        ("ab", (long,)),
        ("cd", (short, long)),
        ("efghi", (long,)),
    ]


def test_it_leaves_out_a_mark_outside_the_text() -> None:
    assert [part.marks for part in segments("abc", numbered([mark(2, 9)]))] == [()]


def test_it_shows_what_a_wrong_quote_may_have_meant() -> None:
    text = "My flat was flooded and I am injured. The fee was £50."
    result = near(text, "I am insured")
    assert result is not None
    assert text[result.start : result.end] == result.words
    assert "injured" in result.words


def test_it_shows_no_hint_for_what_is_nothing_like_the_text() -> None:
    assert near("My flat was flooded.", "xylophone quark") is None
    assert near("", "flat") is None
    assert near("My flat", "  ") is None


@given(st.text(max_size=200), st.text(max_size=60))
def test_it_hints_at_words_of_the_text_only(text: str, quote: str) -> None:
    result = near(text, quote)
    assert result is None or text[result.start : result.end] == result.words


@pytest.mark.parametrize(
    ("contract", "number", "formatted"),
    [("service_select_v1", "0.9", "score 0.90"), ("category_select_v1", "1", "(1.00)")],
)
def test_a_score_is_shown_with_two_decimals(contract: str, number: str, formatted: str) -> None:
    output = json.loads(json.dumps(valid(contract)), parse_float=lambda _: Decimal(number))
    (statement,) = statements(contract, output, RELEASE)
    assert f"{statement.what} {statement.remark}".strip().endswith(formatted)
