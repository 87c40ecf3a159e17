"""Values in quotes. The tables are (quote, value)."""

from __future__ import annotations

import pytest

from ieim.pipeline.evidence import contains_value

STANDS = [
    ("my number is 1234 5678.", "12345678"),
    ("my number is 12345678.", "1234-5678"),
    ("my number is 12345678.", "1234 5678"),
    ("on 2024–05–01", "2024-05-01"),
    ("id AB 12 34 56 C", "ab123456c"),
    ("call 020 -7946 0958", "02079460958"),
    ("John  Smith", "john smith"),
    ("owes -5", "-5"),
    ("owes £1,250 now", "1,250"),
    ("card 4111 1111 1111 1234", "****1234"),
    ("card 4111111111111234", "XXXX-XXXX-XXXX-1234"),
    ("card 4111111111111234", "**** **** **** 1234"),
    ("card 4111111111111234", "xxxx–1234"),
    ("card 4111 1111 1111 1234", "4111********1234"),
    ("write to john@example.com", "j***@example.com"),
    ("born 12/05/1985", "XX/XX/1985"),
    ("tel (020) 7946 0958", "(***) **** 0958"),
    ("tel 020 7946 0958", "(***) **** 0958"),
    ("I am John Smith", "J*** S****"),
    ("I am John Smith", "[NAME] Smith"),
    ("anything", "****"),
    ("anything", "[EMAIL]"),
    ("anything", "<PHONE_NUMBER>"),
    ("anything", "[redacted]"),
    ("anything", "•••"),
    ("anything", "…"),
]

DOES_NOT_STAND = [
    ("my number is 1234 5678", "12345"),
    ("my number is 1234 5678", "2345678"),
    ("my number is 1234 5678", "12345679"),
    ("two visas", "visa"),
    ("owes £1,250", "1"),
    ("owes -5", "5"),
    ("owes 5", "-5"),
    ("owes €5", "£5"),
    ("card 4111111111111234", "****1235"),
    ("card 4111111111111234", "4112****1234"),
    ("card 1234 4111", "4111****1234"),
    ("id 987654", "***765"),
    ("id 987654", "876***"),
    ("write to jane@example.org", "j***@example.com"),
    ("owes 50", "£**"),
    ("I live in Edmonton", "Exxon"),
    ("I am John", "[John Smith]"),
    ("anything", ""),
    ("anything", " - "),
]


@pytest.mark.parametrize(("quote", "value"), STANDS, ids=ascii)
def test_it_finds_a_value_spaces_hyphens_and_masks_aside(quote: str, value: str) -> None:
    assert contains_value(quote, value)


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


@pytest.mark.parametrize(("quote", "value"), DOES_NOT_STAND, ids=ascii)
def test_it_misses_a_value_that_is_cut_or_different(quote: str, value: str) -> None:
    assert not contains_value(quote, value)
