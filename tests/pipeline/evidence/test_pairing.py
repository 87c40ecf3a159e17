"""Quotes: with a model's own quotation marks around them, and several times in one answer."""

from __future__ import annotations

from typing import Any

import pytest

from ieim.pipeline.evidence import locate
from tests.pipeline.build import judged, valid

QUOTED = [
    ("my passport is lost", '"my passport"', "my passport"),
    ("My passport is lost", " “my passport” ", "My passport"),
    ("my passport is lost", "'passport'", "passport"),
    ("my passport is lost", "„passport“", "passport"),
    ("my passport is lost", "»passport«", "passport"),
    ("ビザの費用", "「ビザ」", "ビザ"),
    ("I can't pay in 2024", "'I can't pay in 2024'", "I can't pay in 2024"),
    ("the “visa” office", '"visa"', "“visa”"),
    ("my “visa” office", '"my “visa” office"', "my “visa” office"),
]

NOT_QUOTED = [
    ("5' and 6 days", "'5' and 6'"),
    ('5" and 6 days', '"5" and 6"'),
    ("I can't pay", '"I can pay"'),
    ("pay £50", "“pay €50”"),
    ("my visa", '"my visa'),
    ("my visa", "\"my visa'"),
    ("my visa", "′my visa′"),
    ("my visa", '""my visa""'),
    ("my visa", '""'),
    ("my visa", "'"),
    ("costs £1,250 now", '"£1"'),
    ("the dependent", "'depend'"),
]


@pytest.mark.parametrize(("text", "quote", "expected"), QUOTED, ids=ascii)
def test_it_leaves_out_a_models_own_quotation_marks(text: str, quote: str, expected: str) -> None:
    span = locate(text, quote)
    assert span is not None
    assert text[span.start : span.end] == expected


@pytest.mark.parametrize(("text", "quote"), NOT_QUOTED, ids=ascii)
def test_it_changes_nothing_else_between_quotation_marks(text: str, quote: str) -> None:
    assert locate(text, quote) is None


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
    return {"entities": [{**entity, "evidence_snippets": each} for each in quotes]}


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
