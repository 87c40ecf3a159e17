"""Amounts whose number is written out, or whose currency is left out."""

from __future__ import annotations

import time

import pytest

from ieim.pipeline.facts import facts, matches


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
    found = facts(f"It costs {text}, or less.")
    assert [(fact.kind, fact.value, fact.text) for fact in found] == [("money", value, text)]


def test_it_compares_it_with_one_in_figures() -> None:
    (stated,) = facts("It costs forty-five euros.")
    assert matches(stated, facts("€45.00"))
    assert not matches(stated, facts("€46.00"))


@pytest.mark.parametrize(
    "text",
    [
        "the euro, in euros",
        "three people won",
        "one of the pound's signs",
        "six ft",
        "everyone euro",
        "fifty-franc note",
    ],
)
def test_it_finds_nothing_in_other_words(text: str) -> None:
    assert facts(text) == []


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
    (found,) = facts(text, currencies={"MRK"})
    assert (found.kind, found.value) == ("money", value)


@pytest.mark.parametrize(
    "text",
    [
        "it costs 2 visits",
        "fees are 2 weeks late",
        "Fees: 1. Visas 2. Passports",
        "Fees:\n1. Visas",
        "Fees 2026",
        "the fee is 0.",
        "coffees 3.",
    ],
)
def test_it_finds_no_amount_in_what_is_counted(text: str) -> None:
    assert facts(text) == []


def test_an_amount_may_leave_its_currency_out_but_not_bring_one() -> None:
    (unsaid,), (said,) = facts("The fee is 46."), facts("The fee is €46.")
    assert matches(unsaid, [said])
    assert not matches(said, [unsaid])


@pytest.mark.parametrize("unit", ["one ", "one euro ", "a hundred ", "euro ", "one and "])
def test_it_takes_linear_time(unit: str) -> None:
    text = unit * (60_000 // len(unit)) + "euro"
    started = time.perf_counter()
    facts(text)
    assert time.perf_counter() - started < 10
