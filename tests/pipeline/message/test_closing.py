"""Broken spellings of risk phrases: found wherever they stand, and nothing ordinary with them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.message import closing, risk
from ieim.pipeline.message.screen import MAX_CHARS
from ieim.search import examples
from tests.pipeline.message.test_risk import DEMO

SCRIPT = "\U0001d4c0\U0001d4be\U0001d4c1\U0001d4c1"  # kill


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I will k i l l  m y s e l f now", "k i l l  m y s e l f"),
        ("I will k.i.l.l. my self", "k.i.l.l. my self"),
        ("I W A N T  T O  D I E", "W A N T  T O  D I E"),
        ("w a n n a k i l l m y s e l f", "k i l l m y s e l f"),
        ("k-i-l-l m-y-s-e-l-f", "k-i-l-l m-y-s-e-l-f"),
        ("i_want_to_die", "want_to_die"),
        ("killmyself", "killmyself"),
        ("thinking of su1cide, to commit su1cide", "commit su1cide"),
        ("k1ll mys3lf", "k1ll mys3lf"),
        ("w@nt to d!e", "w@nt to d!e"),
        ("kiiilll myyyseeelf", "kiiilll myyyseeelf"),
        (f"{SCRIPT} myself", f"{SCRIPT} myself"),
        ("je veux m o u r i r", "veux m o u r i r"),
        ("ich will ster ben", "will ster ben"),
        ("Я б і л ь ш е не хочу жити", "б і л ь ш е не хочу жити"),
        ("أ ن أ م و ت ... أريد أن أمـوت", "أريد أن أمـوت"),
    ],
)
def test_it_finds_a_phrase_in_a_broken_spelling(text: str, words: str) -> None:
    by_key = {entry.code: entry for entry in risk.find(text)}
    assert "self_harm" in by_key
    assert words in text[by_key["self_harm"].start : by_key["self_harm"].end]


@pytest.mark.parametrize(
    "text",
    [
        "I want to diet",
        "Mein Mann hatte einen Schlaganfall und kann nicht mehr arbeiten",
        "my skill myself taught",
        "I don't want to live with my parents. Any more questions?",
        "Kill. Myself",
        "the bill kills\nmyself included",
        "Is it A 1 or B 2? I, a, o and y",
        "1 2 3 4 5, www.example.org, 112 or 911!!!",
        "My file number is K1LL-M7",
        "\u200b\u0301",
        "",
    ],
)
def test_it_finds_nothing_in_what_only_looks_like_it(text: str) -> None:
    assert risk.find(text) == []


@pytest.mark.whole
def test_no_ordinary_text_gets_loud_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    known = examples.crisis()
    texts = [text for text, code in zip(known.texts, known.codes, strict=True) if not code]
    with DEMO.open(encoding="utf-8") as lines:
        texts += [json.loads(line)["text"] for line in lines]
    assert len(texts) > 1000
    loud = {text: risk.find(text) for text in texts}
    monkeypatch.setattr(risk, "_broken", lambda text: ())
    assert {text: risk.find(text) for text in texts} == loud


@given(st.text(max_size=40), st.text(max_size=40))
def test_it_points_into_the_text_as_sent(before: str, after: str) -> None:
    text = f"{before}\n\nk i l l  m y s e l f\n\n{after}"
    flag = {entry.code: entry for entry in risk.find(text)}["self_harm"]
    assert 0 <= flag.start < flag.end <= len(text)
    assert "self_harm" in {entry.code for entry in risk.find(text[flag.start : flag.end])}


@given(st.text())
def test_every_reading_leads_back(text: str) -> None:
    for read in closing.readings(text):
        assert len(read.text) == len(read.at) == len(read.begins) == len(read.ends)
        assert list(read.at) == sorted(read.at)
        assert all(0 <= at < len(text) for at in read.at)


@pytest.mark.parametrize("piece", ["1!aaa ", "a ", "x!", "\u0301", "I|", "ﷺ"])
def test_a_message_of_any_kind_has_few_readings(piece: str) -> None:
    result = closing.readings((piece * MAX_CHARS)[:MAX_CHARS])
    assert len(result) <= 4
    assert sum(len(entry.text) for entry in result) <= 80 * MAX_CHARS
