"""Facts are found whatever they are written like, and compare as people would."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.facts import Fact, facts, matches, url_value
from tests.selection import sample


def values(text: str) -> list[tuple[str, str]]:
    return [(fact.kind, fact.value) for fact in facts(text)]


def only(text: str) -> Fact:
    result = facts(text)
    assert len(result) == 1, result
    return result[0]


def covers(known: str, stated: str) -> bool:
    return matches(only(stated), facts(known))


CASES = yaml.safe_load(Path(__file__).with_name("facts.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [(kind, *case) for kind in ("money", "date", "phone", "url") for case in CASES[kind]],
    ids=ascii,
)
def test_it_finds_a_fact_however_it_is_written(kind: str, text: str, value: str) -> None:
    assert values(text) == [(kind, value)]


@pytest.mark.parametrize("text", CASES["nothing"], ids=ascii)
def test_it_finds_no_fact_in_what_only_looks_like_one(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(("known", "stated", "covered"), CASES["compared"], ids=ascii)
def test_it_compares_facts(known: str, stated: str, covered: bool) -> None:
    result = facts(stated)
    assert (bool(result) and matches(result[0], facts(known))) is covered


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("EUR 40 to 50", ["EUR 40", "EUR 50"]),
        ("€40-50", ["EUR 40", "EUR 50"]),
        ("40–50 EUR", ["EUR 40", "EUR 50"]),
        ("40 or 50 EUR", ["EUR 40", "EUR 50"]),
        ("USD 40 USD 50", ["USD 40", "USD 50"]),
        ("40 EUR 50 USD", ["EUR 40", "USD 50"]),
    ],
)
def test_it_finds_both_ends_of_a_range(text: str, amounts: list[str]) -> None:
    assert values(text) == [("money", amount) for amount in amounts]


def test_it_takes_currencies_that_no_standard_lists() -> None:
    assert facts("MRK 60 or 60 MRK") == []
    result = facts("MRK 60 or 60.00 MRK", currencies={"MRK"})
    assert [fact.value for fact in result] == ["MRK 60", "MRK 60"]


def test_it_leaves_open_whose_dollars_but_not_which_currency() -> None:
    assert covers("USD 40", "$40.00")
    assert covers("$40", "40 dollars")
    assert not covers("USD 40", "CAD 40")
    assert not covers("EUR 40", "$40")
    assert not covers("USD 40", "$41")


@pytest.mark.parametrize(
    "text", ["12%", "12 %", "12 percent", "12 per cent", "12.0%", "１２％", "١٢٪"]
)
def test_it_finds_percentages(text: str) -> None:
    assert values(text) == [("percent", "12")]


def test_it_finds_both_percentages_of_a_range() -> None:
    assert values("5 to 7.50%") == [("percent", "5"), ("percent", "7.5")]


def test_it_finds_every_day_of_a_row() -> None:
    days = [("date", "2026-03-01"), ("date", "2026-03-08"), ("date", "2026-03-15")]
    assert values("1, 8 and 15 March 2026") == days
    assert values("March 1-15, 2026") == [("date", "--03-01"), days[2]]
    assert values("Jan 1 - Mar 31") == [("date", "--01-01"), ("date", "--03-31")]


def test_it_finds_the_second_short_number() -> None:
    assert values("call 112 or 999") == [("phone", "112"), ("phone", "999")]


def test_it_gives_offsets_into_the_text_as_it_was() -> None:
    text = "\u200b  The  fée:\n€\u200b１２.50\u200b, or call +44\u00a020 7946 0000!"
    result = facts(text)
    assert only("e.g.example.gov, please").text == "example.gov"
    assert [fact.text for fact in result] == ["€\u200b１２.50", "+44\u00a020 7946 0000"]
    assert all(text[fact.start : fact.end] == fact.text for fact in result)


def test_it_lets_the_longest_reading_win() -> None:
    assert values("https://a.gov/2026-03-01/020-7946-0000?fee=$40") == [
        ("url", "a.gov/2026-03-01/020-7946-0000?fee=$40")
    ]


def test_it_tells_lookalike_hosts_apart() -> None:
    (cyrillic,) = facts("exаmple.gov")
    (accented,) = facts("example.gov/é")
    assert not matches(cyrillic, facts("https://example.gov"))
    assert not matches(accented, facts("https://example.gov/e"))
    assert matches(accented, facts("https://example.gov/e\u0301"))


def test_it_finds_every_link_of_a_markdown_link_whose_words_are_one() -> None:
    assert values("[https://a.gov/b](https://evil.org/b)") == [
        ("url", "a.gov/b"),
        ("url", "evil.org/b"),
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://www.a.gov/b/", "a.gov/b"),
        ("HTTP://A.GOV", "//a.gov/"),
        ("a.gov", "a.gov."),
    ],
)
def test_it_gives_two_spellings_of_a_url_one_value(one: str, other: str) -> None:
    assert url_value(one) == url_value(other)


def test_it_keeps_the_case_of_a_path_and_other_schemes() -> None:
    assert url_value("a.gov/B") != url_value("a.gov/b")
    assert url_value("FTP://a.gov") == "ftp://a.gov"


@pytest.mark.parametrize(
    "text",
    ["Write to Visit@Example.gov.", "mailto:visit@example.gov", "[us](mailto:visit@example.gov)"],
)
def test_it_finds_email_addresses(text: str) -> None:
    assert values(text) == [("email", "visit@example.gov")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("forty-five euros", "EUR 45"),
        ("One hundred and twenty US dollars", "USD 120"),
        ("a\u00a0hundred pounds", "pound 100"),
        ("two thousand five hundred rupees", "rupee 2500"),
        ("a million yen", "JPY 1000000"),
        ("twenty Swiss francs", "franc 20"),
        ("zero euro", "EUR 0"),
        ("fifty pence", "GBP 0.5"),
        ("five cents", "cent 0.05"),
    ],
)
def test_it_finds_an_amount_in_words(text: str, value: str) -> None:
    result = facts(f"It costs {text}, or less.")
    assert [(fact.kind, fact.value, fact.text) for fact in result] == [("money", value, text)]


def test_it_compares_it_with_one_in_figures() -> None:
    (stated,) = facts("It costs forty-five euros.")
    assert matches(stated, facts("€45.00"))
    assert not matches(stated, facts("€46.00"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The fee is 46.", "? 46"),
        ("It costs 1,250.00 for adults", "? 1250"),
        ("Price: 46", "? 46"),
        ("a fee of 46, or", "? 46"),
        ("the fee is 46 US dollars", "USD 46"),
        ("it costs 46 MRK", "MRK 46"),
    ],
)
def test_it_finds_an_amount_that_is_called_one(text: str, value: str) -> None:
    (result,) = facts(text, currencies={"MRK"})
    assert (result.kind, result.value) == ("money", value)


def test_an_amount_may_leave_its_currency_out_but_not_bring_one() -> None:
    (unsaid,), (said,) = facts("The fee is 46."), facts("The fee is €46.")
    assert matches(unsaid, [said])
    assert not matches(said, [unsaid])


_PIECES = [
    *["€", "$", "EUR", "%", ".", ",", "-", "/", "(", ")", "+", ":", "@", "1", "12", "250", "0000"],
    *["2026", "March", "may", "www.", ".gov", "https://", "call", "](", "javascript:", " to ", " "],
    *["\u200b", "\u0301", "٤", "²", "\n", "\ud800"],
]


@given(
    st.lists(
        st.one_of(
            st.text(max_size=8),
            st.sampled_from(_PIECES),
        ),
        max_size=30,
    ).map("".join)
)
def test_it_takes_any_text_and_gives_ordered_places_in_it(text: str) -> None:
    result = facts(text)
    ends = 0
    for fact in result:
        assert ends <= fact.start < fact.end
        assert text[fact.start : fact.end] == fact.text
        assert matches(fact, [fact])
        ends = fact.end


_UNITS = [
    *["1", "1 ", "12 ", "123 ", "12,345 ", "1.", "1-", "1/", "1)", "+1", "€1", "1€", "EUR 1 "],
    *["a", "a.", "a-", "..", "a@b.", "https://", "javascript:", "data:a/", "](", "[](", "(", ")"],
    *["March 1 ", "1 March ", "1 and ", "1, ", "call 112 or ", "on at the ", "e.g.", "www.", "_"],
    *["\u0301", "e\u0316\u0301", "\u200b", "１", "²", "\n", " ", "\ud800", "1 million ", "24/7 "],
    *["one ", "one euro ", "a hundred ", "euro ", "one and "],
]


@pytest.mark.parametrize("unit", sample(_UNITS, keep=8))
def test_it_takes_linear_time(unit: str) -> None:
    text = unit * (60_000 // len(unit)) + "x"
    started = time.process_time()
    facts(text)
    # Quadratic time would be minutes.
    assert time.process_time() - started < 10
