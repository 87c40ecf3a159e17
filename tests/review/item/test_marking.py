from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from review.item.message import LANES, Mark, near, numbered, segments


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
    for each in placed:
        under = [part for part in parts if each in part.marks]
        assert "".join(part.text for part in under) == text[each.start : each.end]
        assert sum(each in part.begins for part in parts) == 1


@given(marked())
def test_it_gives_overlapping_marks_lanes_of_their_own(case: tuple[str, list[Mark]]) -> None:
    placed = numbered(case[1])
    assert [each.number for each in placed] == list(range(1, len(placed) + 1))
    for part in segments(case[0], placed):
        lanes = [each.lane for each in part.marks]
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
    found = near(text, "I am insured")
    assert found is not None
    assert text[found.start : found.end] == found.words
    assert "injured" in found.words


def test_it_shows_no_hint_for_what_is_nothing_like_the_text() -> None:
    assert near("My flat was flooded.", "xylophone quark") is None
    assert near("", "flat") is None
    assert near("My flat", "  ") is None


@given(st.text(max_size=200), st.text(max_size=60))
def test_it_hints_at_words_of_the_text_only(text: str, quote: str) -> None:
    found = near(text, quote)
    assert found is None or text[found.start : found.end] == found.words
