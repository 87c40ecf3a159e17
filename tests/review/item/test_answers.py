from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.findings import pointer
from review.item.stages import LONGEST, AnswerView, answer_view, pretty


def marked(view: AnswerView) -> dict[str, tuple[int, ...]]:
    return {line.text.strip(): line.marks for line in view.lines if line.marks}


def test_it_marks_the_value_that_a_finding_points_at() -> None:
    raw = '{"a": {"score": 0.876, "b/c": [1, {"~q": "é"}]}}'
    view = answer_view(raw, ["/a/score", "/a/b~1c/1/~0q", "/a/score"])
    assert marked(view) == {'"score": 0.876,': (1, 3), '"~q": "é"': (2,)}


def test_it_marks_what_is_nearest_to_a_missing_field() -> None:
    view = answer_view('{"a": {"b": 1}}', ["/a/missing/deep", ""])
    assert marked(view) == {'"a": {': (1,), "{": (2,)}


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
    view = answer_view("x" * (LONGEST + 1), [])
    assert (len(view.before), view.cut) == (LONGEST, True)
    many = answer_view(json.dumps([1] * 1500), ["/0", "/1499"])
    assert many.cut
    assert marked(many) == {"[": (2,), "1,": (1,)} or many.lines[1].marks == (1,)


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
    shown = "".join(line.text for line in view.lines) or view.before + view.after
    assert bool(shown) == bool(raw)
    if view.lines:
        assert sum(1 in line.marks for line in view.lines) == 1
