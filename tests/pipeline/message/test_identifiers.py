"""What a citizen is asked about before it is stored, and the much that they are not asked about."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from ieim.pipeline.message.identifiers import find, is_without, without

ROOT = Path(__file__).resolve().parents[3]
CARD, IBAN = "4111111111111111", "DE89370400440532013000"

ASKED = [
    ("card 4111 1111 1111 1111 12/26", "card", "4111 1111 1111 1111"),
    ("IBAN: DE89 3704 0044 0532 0130 01", "account", "DE89 3704 0044 0532 0130 01"),
    ("I pay from de89370400440532013000.", "account", "de89370400440532013000"),
    ("In this case\nmy SSN 536-90-4399", "identity", "536-90-4399"),
    ("my SSN is 536-90-4399", "identity", "536-90-4399"),
    ("AB 12 34 56 C", "identity", "AB 12 34 56 C"),
    ("NHS number: 943 476 5919", "identity", "943 476 5919"),
    ("Steuer-ID 86 095 742 719", "identity", "86 095 742 719"),
    ("2 95 10 99 126 111 93", "identity", "2 95 10 99 126 111 93"),
    ("RSSMRA85T10A562S", "identity", "RSSMRA85T10A562S"),
    ("44051401359", "identity", "44051401359"),
    ("PESEL 02271409867", "identity", "02271409867"),
    ("880320-0016", "identity", "880320-0016"),
    ("my SIN 046 454 286", "identity", "046 454 286"),
    ("my passport is P1234567A", "identity", "P1234567A"),
]
DISGUISED = [
    "４１１１ １１１１ １１１１ １１１１",
    "٤١١١ ١١١١ ١١١١ ١١١١",
    " ".join(CARD),
    "-".join(CARD),
    "\n".join(CARD),
    "4111\u200b1111 1111\u202e1111",
    "4111 1111\n1111 1111",
    "4111\r\n1111\r\n1111\r\n1111",
    " ".join(IBAN),
    "DE89 3704 0044\n0532 0130 00",
    "ＤＥ８９ ３７０４ ００４４ ０５３２ ０１３０ ００",
    "A B 1 2 3 4 5 6 C",
]
LEFT = [
    "the passport costs 10.000 euros, or 1 200 000 rupiah",
    "Personalausweis 10115 Berlin",
    "passport 90210-1234",
    "a passport from 2024 2025",
    "call social security 020 7946 0958",
    "07911 123456 or +44 7911 123456 or (202) 555-0143",
    "jo@example.org",
    "case number 20231234567, invoice no. 4111111111111111",
    "my case A123456789B and reference K7M-4QX9",
    "from 30.05.2024 to 12.06.2024, 30.05.2024 12.06.2024",
    "I have 2 kids, 3 and 5, and earn 100000 a year",
    "1 2 3 4 5 6 7 8 9 10 11 12",
]
WORDS = st.sampled_from(["call me on", "it costs", "", "since", "my office is in", "on"])


@pytest.mark.parametrize(("text", "kind", "words"), ASKED)
def test_it_finds_identity_card_and_account_numbers(text: str, kind: str, words: str) -> None:
    assert [(entry.kind, text[entry.start : entry.end]) for entry in find(text)] == [(kind, words)]


@pytest.mark.parametrize("number", DISGUISED)
def test_it_finds_them_however_they_are_spelled(number: str) -> None:
    text = f"Please take it from {number} at once"
    (hit,) = find(text)
    assert text[hit.start : hit.end] == number


@pytest.mark.parametrize("text", LEFT)
def test_it_leaves_what_only_looks_alike(text: str) -> None:
    assert [text[entry.start : entry.end] for entry in find(text)] == []


@given(
    before=st.text(max_size=40),
    after=st.text(max_size=40),
    number=st.sampled_from(["4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "536-90-4399"]),
)
def test_nothing_of_them_is_left_without_them(before: str, number: str, after: str) -> None:
    text = f"{before}\nmy SSN {number}\n{after}"
    hits = find(text)
    shorter = without(text, hits, "[number removed]")
    assert number not in shorter
    assert find(shorter) == ()
    assert is_without(shorter, text, hits)
    assert all(0 <= entry.start < entry.end <= len(text) for entry in hits)


def in_words(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        for entry in value:
            yield from in_words(entry)
    elif isinstance(value, str):
        yield value


def test_it_asks_nobody_who_writes_like_the_demo() -> None:
    texts = [
        text
        for file in (ROOT / "ieim/knowledge/demo").glob("*.yaml")
        for text in in_words(yaml.safe_load(file.read_text(encoding="utf-8")))
    ]
    lines = (ROOT / "benchmarks/questions/demo.jsonl").read_text(encoding="utf-8").splitlines()
    texts += [text for line in lines for text in in_words(json.loads(line))]
    assert len(texts) > 1000
    # Totals only: the questions are for measuring, and nobody tunes on them.
    assert sum(bool(find(text)) for text in texts) == 0


@given(words=WORDS, day=st.dates(date(1920, 1, 1), date(2040, 1, 1)), form=st.integers(0, 3))
def test_it_asks_about_no_date(words: str, day: date, form: int) -> None:
    written = day.strftime(["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%d %B %Y"][form])
    assert find(f"passport {words} {written} and {written}") == ()


@given(amount=st.integers(1, 10**7), form=st.sampled_from(["{:,} euros", "€{}", "{} USD", "${:,}"]))
def test_it_asks_about_no_fee(amount: int, form: str) -> None:
    assert find(f"the passport costs {form.format(amount)}, and my identity card") == ()


@given(code=st.integers(0, 10**6 - 1), words=WORDS)
def test_it_asks_about_no_postcode(code: int, words: str) -> None:
    assert find(f"passport {words} {code:06d} or {code % 10**5:05d} Berlin") == ()


@given(
    start=st.sampled_from(["+49 30", "+1 202", "+44 20", "0170", "030", "tel. 202", "call 07911"]),
    rest=st.integers(10**6, 10**7 - 1),
)
@example(start="0170", rest=3042139)  # which passes a country's check digits
def test_it_asks_about_no_telephone_number(start: str, rest: int) -> None:
    assert find(f"I lost my passport, {start} {rest}") == ()


@given(
    lead=st.sampled_from(["case", "reference number", "Aktenzeichen", "invoice no.", "ticket:"]),
    number=st.integers(10**5, 10**17),
)
def test_it_asks_about_no_reference(lead: str, number: int) -> None:
    assert find(f"I wait since May, {lead} {number}") == ()
