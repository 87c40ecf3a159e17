"""The way back from redacted text: right for every text, whatever stands in it."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ieim.pipeline.message.legible import legible
from ieim.pipeline.message.screen import screen
from ieim.pipeline.personal.redaction import prepare

PIECES = st.sampled_from(
    [
        "a@x.example",
        "b+c@bücher.example",
        "+49 170 1234567",
        "(202) 555-0143",
        "DE89370400440532013000",
        "4111 1111 1111 1111",
        "536-90-4399",
        "ssn 1234567",
        "born 3 May 1985",
        "12 Main Street",
        "[EMAIL_1]",
        "[email_2]",
        "[PHO\u200bNE_1]",
        "EMAIL_",
        "_1]",
        "[",
        "\u202e",
        "\ufeff",
        "\U000e0041",
        "\u200b",
        "\x00",
        "\ud800",
        " ",
        "\n",
        ", ",
        "½",
        "ﬁ",
        "é",
        "e\u0301",
        "0",
        "1",
        "²",
        "@",
        "visa",
    ]
)


def _is_bare(text: str) -> bool:
    """Whether nothing of a text is markup: a part of such a text reads as it does in the whole."""
    return legible(text).text == screen(text).text


TEXTS = st.one_of(st.lists(PIECES, max_size=12).map("".join), st.text(max_size=60))


@given(TEXTS)
def test_it_restores_the_legible_text(text: str) -> None:
    prepared = prepare(text)
    assert prepared.restore(prepared.text) == legible(text).text


@given(TEXTS)
def test_its_segments_stand_where_they_say(text: str) -> None:
    assume(_is_bare(text))
    prepared = prepare(text)
    last = last_redacted = 0
    for segment in prepared.segments:
        assert last <= segment.start < segment.end <= len(text)
        assert last_redacted <= segment.redacted_start
        result = prepared.text[segment.redacted_start : segment.redacted_end]
        assert result == segment.placeholder
        assert prepared.to_original(segment.redacted_start, segment.redacted_end) == (
            segment.start,
            segment.end,
        )
        original = screen(text[segment.start : segment.end]).text
        assert prepared.restore(segment.placeholder) == original
        last, last_redacted = segment.end, segment.redacted_end


@given(TEXTS, st.data())
def test_it_maps_every_range_to_what_it_stands_for(text: str, data: st.DataObject) -> None:
    assume(_is_bare(text))
    prepared = prepare(text)
    size = len(prepared.text)
    start = data.draw(st.integers(0, size))
    end = data.draw(st.integers(start, size))
    first, beyond = prepared.to_original(start, end)
    assert 0 <= first <= beyond <= len(text)
    touched = [s for s in prepared.segments if s.redacted_start < end and start < s.redacted_end]
    # A placeholder counts as a whole: widen to the whole ones, then both sides read the same.
    if start < end:
        begin = min([start, *(s.redacted_start for s in touched)])
        stop = max([end, *(s.redacted_end for s in touched)])
        result = prepared.text[begin:stop]
        assert prepared.restore(result) == screen(text[first:beyond]).text
    for segment in touched:
        assert first <= segment.start < segment.end <= beyond


@given(TEXTS)
def test_it_never_gives_a_placeholder_that_the_citizen_wrote(text: str) -> None:
    prepared = prepare(text)
    ours = {segment.placeholder for segment in prepared.segments}
    result = screen(text).text.upper()
    assert not [placeholder for placeholder in ours if placeholder in result]


@given(TEXTS, st.text(max_size=40))
def test_it_restores_only_its_own_placeholders(text: str, other: str) -> None:
    prepared = prepare(text)
    if not any(segment.placeholder in other for segment in prepared.segments):
        assert prepared.restore(other) == other


@given(TEXTS)
@example("")
def test_it_refuses_ranges_outside_the_text(text: str) -> None:
    prepared = prepare(text)
    for start, end in [(-1, 0), (0, len(prepared.text) + 1), (1, 0)]:
        with pytest.raises(ValueError, match="no range"):
            prepared.to_original(start, end)


def test_it_maps_across_stripped_characters() -> None:
    text = "\u202eI am\u200f jo@x.example\ufeff, yes"
    prepared = prepare(text)
    assert prepared.text == "I am [EMAIL_1], yes"
    assert prepared.to_original(0, 4) == (1, 5)
    assert text[slice(*prepared.to_original(6, 7))] == "jo@x.example"
    assert text[slice(*prepared.to_original(14, 19))] == ", yes"
    assert text[slice(*prepared.to_original(2, 19))] == "am\u200f jo@x.example\ufeff, yes"


def test_it_maps_an_empty_range_to_a_place() -> None:
    prepared = prepare("to jo@x.example.")
    assert prepared.to_original(3, 3) == (3, 3)
    assert prepared.to_original(5, 5) == (3, 15)
    end = len(prepared.text)
    assert prepared.to_original(end, end) == (16, 16)
    assert prepare("").to_original(0, 0) == (0, 0)


def test_it_leaves_out_the_numbers_that_the_citizen_wrote() -> None:
    prepared = prepare("[EMAIL_1] and [ema\u200bil_02]: a@x.example, b@x.example")
    assert [segment.placeholder for segment in prepared.segments] == ["[EMAIL_3]", "[EMAIL_4]"]
    assert prepared.restore("[EMAIL_1] [EMAIL_3]") == "[EMAIL_1] a@x.example"
