"""Words, stems, folding, and the marks in a citizen's text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.search.analysis import fold, matching_spans, query_words


def marked(text: str, passage: str) -> list[str]:
    """The words of ``text`` that the spans cover."""
    return [text[start:end] for start, end in matching_spans(text, passage)]


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Straße", "strasse"),
        ("Élève élève", "eleve eleve"),
        ("cafe\u0301", "cafe"),
        ("Łódź", "łodz"),
        ("ﬁne", "fine"),
        ("ex\u00adten\u200bsion", "extension"),
        ("Ελλάδα", "ελλαδα"),
        ("हिन्दी", "हिन्दी"),
        ("ガ", "ガ"),
        ("a\ud800b", "a b"),
    ],
)
def test_it_folds_case_accents_and_forms_but_no_letters(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_it_leaves_out_stop_words_and_repeated_stems() -> None:
    words = query_words("I don't know how to renew my VISA, or which visas are renewed")
    assert [plain for _, plain in words] == ["renew", "visa"]


def test_it_cuts_scripts_without_spaces_into_characters() -> None:
    assert [plain for _, plain in query_words("東京 visa")] == ["東", "京", "visa"]


@pytest.mark.parametrize("text", ["", "   ", "?!… 🏛", "the and of", "\x00\ufffe", "x" * 500])
def test_it_finds_no_words_where_there_are_none(text: str) -> None:
    assert query_words(text) == []


def test_it_marks_words_by_stem_and_not_stop_words() -> None:
    text = "I want to be EXTENDING my tourist visas"
    assert marked(text, "You can extend a visa for tourists.") == ["EXTENDING", "tourist", "visas"]


def test_it_marks_accented_words_where_they_stand() -> None:
    assert marked("🏛 Le RÉNOUVELLEMENT du\u00a0passe\u0301port", "renouvellement passéport") == [
        "RÉNOUVELLEMENT",
        "passe\u0301port",
    ]


def test_it_counts_code_points() -> None:
    assert matching_spans("🏛🏛 \ud800 visa", "visa") == [(5, 9)]


@pytest.mark.parametrize("passage", ["", "the and of", "?!"])
def test_it_marks_nothing_without_a_word_to_match(passage: str) -> None:
    assert matching_spans("the visa of ?!", passage) == []


@given(st.text(max_size=60), st.text(max_size=60))
def test_it_gives_ordered_spans_that_do_not_overlap(text: str, passage: str) -> None:
    ends = 0
    for start, end in matching_spans(text, passage + text):
        assert ends <= start < end <= len(text)
        ends = end


@given(st.text(alphabet="aàbßéĳ東ü \u0301\u00ad'", max_size=40))
def test_it_folds_once_and_for_all(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_it_marks_no_stop_words_of_the_citizens_language() -> None:
    text, passage = "J'ai reçu une amende pour excès de vitesse", "Une amende pour excès de vitesse"
    results = [text[start:end] for start, end in matching_spans(text, passage, "fr")]
    assert results == ["amende", "excès", "vitesse"]
    assert len(matching_spans(text, passage)) > len(results)
    assert matching_spans(text, passage, "xx") == matching_spans(text, passage)
