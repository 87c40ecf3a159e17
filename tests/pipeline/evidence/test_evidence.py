"""Where a quote or a value stands, case by case (``places.yaml``)."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from ieim.pipeline.evidence import (
    Span,
    contains_value,
    is_trivial,
    locate,
    locate_each,
    snippet_sha256,
)
from tests.pipeline.build import judged, valid

PLACES = yaml.safe_load(Path(__file__).with_name("places.yaml").read_text(encoding="utf-8"))

FILLER = ["", " ", "?!", "a", "5", "the", "And THE", "of the", "I'm", "how do I", "x \u200b", "税"]
FILLER += ["der die", "de la", "c'est", "el la", "per la", "o que"]
FILLER += ["where is the", "why", "when"]
CONTENT = ["visa", "ID", "12", "No", "can't", "do not", "my son", "if I die", "税金", "the visa"]
CONTENT += ["US", "nicht", "n'ai pas", "a car", "of war", "two hats", "é5", "my İd"]


def rows(*names: str) -> list[list[str]]:
    return [row for name in names for row in PLACES[name]]


@pytest.mark.parametrize(("text", "quote", "piece"), rows("same", "whole", "quoted"), ids=ascii)
def test_it_finds_what_means_the_same_in_whole_words(text: str, quote: str, piece: str) -> None:
    span = locate(text, quote)
    assert span is not None
    assert text[span.start : span.end] == piece


@pytest.mark.parametrize(("text", "quote"), rows("different", "cut", "not_quoted"), ids=ascii)
def test_it_never_folds_a_meaning_and_cuts_nothing(text: str, quote: str) -> None:
    assert locate(text, quote) is None


@pytest.mark.parametrize(("quote", "value"), rows("value"), ids=ascii)
def test_it_finds_a_value_spaces_hyphens_and_masks_aside(quote: str, value: str) -> None:
    assert contains_value(quote, value)


@pytest.mark.parametrize(("quote", "value"), rows("no_value"), ids=ascii)
def test_it_misses_a_value_that_is_cut_or_different(quote: str, value: str) -> None:
    assert not contains_value(quote, value)


@pytest.mark.parametrize(
    ("text", "value", "stands"),
    [
        ("card 4111111111111234", "****1234", False),
        ("card ending ****1234", "****1234", True),
        ("card ending **** 1234", "****1234", True),
        ("card 4111 1111", "41111111", True),
        ("anything", "****", False),
    ],
)
def test_it_takes_a_mask_as_it_is_written_where_none_is_allowed(
    text: str, value: str, stands: bool
) -> None:
    assert contains_value(text, value, masks=False) is stands


def test_it_prefers_the_exact_slice() -> None:
    assert locate("Visa, visa", "visa") == Span(6, 10, occurrences=1)
    assert locate("Visa, visa", "VISA") == Span(0, 4, occurrences=2)


def test_it_goes_on_to_the_folded_search_when_the_exact_slice_is_cut() -> None:
    assert locate("visas and Visa", "visa") == Span(10, 14, occurrences=1)


def test_it_counts_code_points() -> None:
    assert locate("😀😀 visa", "visa") == Span(3, 7, occurrences=1)


def test_it_maps_a_single_quote_to_the_first_of_its_occurrences() -> None:
    assert locate("no, no and no", "no") == Span(0, 2, occurrences=3)


def test_it_maps_repeated_quotes_to_successive_occurrences() -> None:
    spans = locate_each("visa or visa", ["visa", "nothing", "VISA", "visa"])
    assert spans == [Span(0, 4, 2), None, Span(8, 12, 2), Span(8, 12, 2)]


def test_it_maps_repeats_in_other_typography_to_other_places() -> None:
    spans = locate_each("Visa or visa", ["visa", "Visa"])
    assert spans == [Span(8, 12, 1), Span(0, 4, 1)]


def test_it_never_raises_on_lone_surrogates() -> None:
    assert locate("a \ud800 b", "\ud800 B") == Span(2, 5, occurrences=1)
    assert len(snippet_sha256("\ud800", Span(0, 1, 1))) == 64


def test_it_hashes_the_slice_and_not_the_quote() -> None:
    text = "Café Visa"
    span = locate(text, "visa")
    assert span is not None
    assert snippet_sha256(text, span) == hashlib.sha256(b"Visa").hexdigest()
    assert snippet_sha256(text, Span(0, 4, 1)) == hashlib.sha256("Café".encode()).hexdigest()


@pytest.mark.parametrize("quote", FILLER, ids=ascii)
def test_it_takes_filler_for_nothing(quote: str) -> None:
    assert is_trivial(quote)


@pytest.mark.parametrize("quote", CONTENT, ids=ascii)
def test_it_takes_words_with_content_for_evidence(quote: str) -> None:
    assert not is_trivial(quote)


PAID = "I paid MRK 20 on 3 May and MRK 20 on 9 May."
FIRST, SECOND = (7, 13), (27, 33)


def places(contract: str, answer: dict[str, Any], text: str = PAID) -> list[tuple[int, int]]:
    """The places of the quotes of an answer, in the order of the answer."""
    judgement = judged(contract, answer, user_prompt=text)
    assert judgement.passed, judgement.findings
    return [(span.start, span.end) for span in judgement.evidence]


def amounts(*quotes: list[str]) -> dict[str, Any]:
    """An extract answer with an amount of money for each list of quotes."""
    entity = {"entity_type": "date", "value_redacted": "MRK 20", "confidence": 0.9}
    return {"entities": [{**entity, "evidence_snippets": quote} for quote in quotes]}


@pytest.mark.parametrize(
    ("quotes", "expected"),
    [
        ([["MRK 20"], ["MRK 20"]], [FIRST, SECOND]),
        ([["MRK 20"], ["“mrk 20”"]], [FIRST, SECOND]),
        ([["MRK 20", "MRK 20"]], [FIRST, SECOND]),
        ([["MRK 20"], ["MRK 20", "MRK 20 on"]], [FIRST, SECOND, (7, 16)]),
        ([["MRK 20"], ["MRK 20"], ["MRK 20"]], [FIRST, SECOND, SECOND]),
        ([["MRK 20 on 9 May"], ["MRK 20 on 9 May"]], [(27, 42), (27, 42)]),
    ],
)
def test_it_points_facts_with_one_quote_to_its_successive_occurrences(
    quotes: list[list[str]], expected: list[tuple[int, int]]
) -> None:
    assert places("extract", amounts(*quotes)) == expected


def test_it_points_keys_with_one_quote_to_its_successive_occurrences() -> None:
    answer = valid("identity_assist")
    answer["keys"] *= 2
    text = "Is my passport AB-123456 or the passport AB-123456 of my son lost?"
    assert places("identity_assist", answer, text) == [(6, 24), (32, 50)]


def test_it_lets_several_labels_rest_on_the_first_occurrence_of_one_quote() -> None:
    answer = valid("classify")
    for label in (*answer["intents"], answer["product_line"], answer["urgency"]):
        label["evidence_snippets"] = ["MRK 20"]
    assert places("classify", answer) == [FIRST] * 3
    answer["urgency"]["evidence_snippets"] *= 2
    assert places("classify", answer) == [FIRST, FIRST, FIRST, SECOND]
