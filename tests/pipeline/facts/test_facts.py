"""Facts are found whatever they are written like, and compare as people would."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.facts import Fact, facts, matches, url_value


def values(text: str) -> list[tuple[str, str]]:
    return [(fact.kind, fact.value) for fact in facts(text)]


def only(text: str) -> Fact:
    found = facts(text)
    assert len(found) == 1, found
    return found[0]


def covers(known: str, stated: str) -> bool:
    return matches(only(stated), facts(known))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12.50 EUR", "EUR 12.5"),
        ("€12.50", "EUR 12.5"),
        ("12,50 €", "EUR 12.5"),
        ("€ 12.5", "EUR 12.5"),
        ("12.50 euros", "EUR 12.5"),
        ("1 250 €", "EUR 1250"),
        ("1\u00a0250 €", "EUR 1250"),
        ("1\u202f250,00 €", "EUR 1250"),
        ("1.250,00 €", "EUR 1250"),
        ("EUR 1,250.00", "EUR 1250"),
        ("CHF 1'250", "CHF 1250"),
        ("CHF 1’250.50", "CHF 1250.5"),
        ("INR 1,00,000", "INR 100000"),
        ("USD 40", "USD 40"),
        ("US$40", "USD 40"),
        ("40 US dollars", "USD 40"),
        ("40 dollars", "dollar 40"),
        ("$40", "dollar 40"),
        ("$1.5 million", "dollar 1500000"),
        ("€2bn", "EUR 2000000000"),
        ("50 cents", "cent 0.5"),
        ("50p", "GBP 0.5"),
        ("Fee (EUR): 40", "EUR 40"),
        ("| EUR | 40 |", "EUR 40"),
        ("€\u200b4０", "EUR 40"),
        ("٤٠ EUR", "EUR 40"),
        ("४० EUR", "EUR 40"),
        ("€0.40", "EUR 0.4"),
        ("€0.125", "EUR 0.125"),
        ("KWD 1,250.500", "KWD 1250.5"),
        ("in 2026 EUR 40 is due", "EUR 40"),
        ("the fee is €40²", "EUR 40"),
        ("Kshs. 1,500", "KES 1500"),
    ],
)
def test_it_finds_money(text: str, value: str) -> None:
    assert values(text) == [("money", value)]


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
    found = facts("MRK 60 or 60.00 MRK", currencies={"MRK"})
    assert [fact.value for fact in found] == ["MRK 60", "MRK 60"]


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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-03-01", "2026-03-01"),
        ("2026-03-01T10:00", "2026-03-01"),
        ("1 March 2026", "2026-03-01"),
        ("1st of March, 2026", "2026-03-01"),
        ("March 1, 2026", "2026-03-01"),
        ("Mar. 1st 2026", "2026-03-01"),
        ("01-Mar-2026", "2026-03-01"),
        ("1.3.2026", "2026-03-01"),
        ("01/03/2026", "2026-03-01|2026-01-03"),
        ("13/01/2026", "2026-01-13"),
        ("01/13/2026", "2026-01-13"),
        ("3/3/2026", "2026-03-03"),
        ("31.12.26", "2026-12-31"),
        ("March 2026", "2026-03"),
        ("1 March", "--03-01"),
        ("March 1", "--03-01"),
        ("may 2026", "2026-05"),
        ("May 5", "--05-05"),
        ("１ March ２０２６", "2026-03-01"),
        ("1\u00a0Mar\u200bch\n2026", "2026-03-01"),
        ("81 March 2026", "2026-03-81"),
        ("99/99/2026", "99/99/2026"),
    ],
)
def test_it_finds_dates(text: str, value: str) -> None:
    assert values(text) == [("date", value)]


def test_it_finds_every_day_of_a_row() -> None:
    days = [("date", "2026-03-01"), ("date", "2026-03-08"), ("date", "2026-03-15")]
    assert values("1, 8 and 15 March 2026") == days
    assert values("March 1-15, 2026") == [("date", "--03-01"), days[2]]
    assert values("Jan 1 - Mar 31") == [("date", "--01-01"), ("date", "--03-31")]


@pytest.mark.parametrize(
    ("known", "stated", "covered"),
    [
        ("1 March 2026", "01/03/2026", True),
        ("3 January 2026", "01/03/2026", True),
        ("01/03/2026", "2026-03-01", True),
        ("01/03/2026", "01-03-2026", True),
        ("01/03/2026", "03/01/2026", False),
        ("2 March 2026", "01/03/2026", False),
        ("1 March 2026", "March 2026", True),
        ("1 March 2026", "1 March", True),
        ("March 2026", "1 March 2026", False),
        ("1 March", "1 March 2026", False),
        ("1 March 2026", "1 April", False),
    ],
)
def test_it_compares_dates(known: str, stated: str, covered: bool) -> None:
    assert covers(known, stated) is covered


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("+44 20 7946 0000", "+442079460000"),
        ("+44 (0)20 7946 0000", "+442079460000"),
        ("0044 20 7946 0000", "+442079460000"),
        ("020 7946 0000", "02079460000"),
        ("(020) 7946-0000", "02079460000"),
        ("(555) 123-4567", "5551234567"),
        ("(1-877-222-8387)", "18772228387"),
        ("+999 20 555 0110", "+999205550110"),
        ("01.23.45.67.89", "0123456789"),
        ("800 - 772 - 1213", "8007721213"),
        ("＋44\u00a020\u200b 7946 0000", "+442079460000"),
        ("tel:+15551234567", "+15551234567"),
        ("0800 123 4567 24 hours a day", "08001234567"),
        ("0800 123 4567, 24/7", "08001234567"),
        ("call us on 112", "112"),
        ("Tel.: 1919", "1919"),
        ("dial ١١٢", "112"),
        ("call 116 117", "116117"),
        ("the helpline is 1919", "1919"),
    ],
)
def test_it_finds_telephone_numbers(text: str, value: str) -> None:
    assert values(text) == [("phone", value)]


def test_it_finds_the_second_short_number() -> None:
    assert values("call 112 or 999") == [("phone", "112"), ("phone", "999")]


@pytest.mark.parametrize(
    ("known", "stated", "covered"),
    [
        ("+44 20 7946 0000", "020 7946 0000", True),
        ("020 7946 0000", "+44 20 7946 0000", True),
        ("020 7946 0000", "7946 0000", True),
        ("1-800-772-1213", "800-772-1213", True),
        ("800-772-1213", "1-800-772-1213", True),
        ("7946 0000", "020 7946 0000", False),
        ("555-1234", "+1 212 555 1234", False),
        ("+44 20 7946 0000", "+49 20 7946 0000", False),
        ("020 7946 0000", "030 7946 0000", False),
        ("+44 20 7946 0000", "000 7946 0000", False),
        ("9179 4600", "0179 4600", False),
        ("call 112", "call 12", False),
    ],
)
def test_it_compares_telephone_numbers(known: str, stated: str, covered: bool) -> None:
    found = facts(stated)
    assert (bool(found) and matches(found[0], facts(known))) is covered


@pytest.mark.parametrize(
    "text",
    [
        "open 24/7 and 24/7/365",
        "form 21P-530, SSA-1099, I-130, Post-9/11",
        "section 3.2, article 3.2.10, v2.0.1",
        "2 weeks, 8-10 weeks, 60 days",
        "case 123456",
        "the year 2026, tax year 2024-2025, 2024 2025",
        "09.00-17.00, 08:30 to 16:30",
        "call 100 days before",
        "only 1 may apply, you may 2 times",
        "photo 35 by 45 millimetres",
        "bring ALL 3 forms, the TOP 10",
        "bring 2 documents",
        "Title 38 U.S.C. 1151",
    ],
)
def test_it_finds_nothing_in_other_numbers(text: str) -> None:
    assert values(text) == []


def test_it_gives_offsets_into_the_text_as_it_was() -> None:
    text = "\u200b  The  fée:\n€\u200b１２.50\u200b, or call +44\u00a020 7946 0000!"
    found = facts(text)
    assert only("e.g.example.gov, please").text == "example.gov"
    assert [fact.text for fact in found] == ["€\u200b１２.50", "+44\u00a020 7946 0000"]
    assert all(text[fact.start : fact.end] == fact.text for fact in found)


def test_it_lets_the_longest_reading_win() -> None:
    assert values("https://a.gov/2026-03-01/020-7946-0000?fee=$40") == [
        ("url", "a.gov/2026-03-01/020-7946-0000?fee=$40")
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("see https://www.Example.gov/Visa/Extend/ now", "example.gov/Visa/Extend"),
        ("see http://example.gov.", "example.gov"),
        ("see www.example.gov, please", "example.gov"),
        ("(example.gov.xx/path)", "example.gov.xx/path"),
        ("EXAMPLE.GOV", "example.gov"),
        ("**https://a.gov/b**", "a.gov/b"),
        ("<https://a.gov/b>", "a.gov/b"),
        ("_www.a.gov_", "a.gov"),
        ("the form (https://a.gov/b_(c)).", "a.gov/b_(c)"),
        ("https://a.gov/b?c=1#d", "a.gov/b?c=1#d"),
        ("[apply](https://a.gov/b).Then wait", "a.gov/b"),
        ("[apply](/visas/extend/)", "/visas/extend"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("java\u200bscript: alert(1)", "javascript: alert(1)"),
        ("data:text/html,hello", "data:text/html,hello"),
        ("ftp://a.gov/b", "ftp://a.gov/b"),
        ("https://a.gov@evil.org/", "a.gov@evil.org"),
        ("ｗｗｗ．ｅｘａｍｐｌｅ．ｇｏｖ", "example.gov"),
        ("exam\u00adple\u200b.gov", "example.gov"),
        ("example。gov", "example.gov"),
        ("wait...example.gov", "example.gov"),
        ("ask e.g.example.gov", "example.gov"),
        ("go to example.gov.Then wait", "example.gov"),
        ("gov—example.gov", "example.gov"),
        ("ID.me", "id.me"),
        ("scam.shop", "scam.shop"),
    ],
)
def test_it_finds_urls(text: str, value: str) -> None:
    assert values(text) == [("url", value)]


@pytest.mark.parametrize(
    "text",
    [
        "Pay the fee.It is due.",
        "e.g. a form, i.e. this one, e.g.passport",
        "at 9 a.m. in the U.S. today",
        "upload photo.jpg or form.pdf",
        "note: this and/or that",
        "section 3.2.1.4",
        "Node no. 5",
        "see [the note]",
    ],
)
def test_it_finds_no_url_in_prose(text: str) -> None:
    assert values(text) == []


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
    found = facts(text)
    ends = 0
    for fact in found:
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


@pytest.mark.parametrize("unit", _UNITS)
def test_it_takes_linear_time(unit: str) -> None:
    text = unit * (60_000 // len(unit)) + "x"
    started = time.perf_counter()
    facts(text)
    # Quadratic time would be minutes.
    assert time.perf_counter() - started < 10
