"""Languages: a clear foreign question is told, an English one never is, names tip nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.message import language
from ieim.pipeline.message.language import best, detect, unsupported

DEMO = settings.BASE_DIR / "ieim" / "knowledge" / "demo" / "golden.jsonl"
CASES = Path(__file__).parents[4] / "shared" / "data" / "cases"

TEXTS = yaml.safe_load(Path(__file__).with_name("language.yaml").read_text(encoding="utf-8"))
QUESTIONS = [(code, text) for code, texts in TEXTS["questions"].items() for text in texts]


@pytest.mark.parametrize(("code", "text"), QUESTIONS)
def test_it_tells_a_clear_question_in_another_language(code: str, text: str) -> None:
    assert unsupported(text, ["en"]) == code
    assert best(text, ["en"]) == code
    assert next(iter(detect(text))) == code
    assert unsupported(text, ["en", code]) is None
    assert best(text, ["en", code]) == code


@pytest.mark.parametrize("text", TEXTS["not_clear"])
def test_it_holds_nothing_that_is_not_clear(text: str) -> None:
    assert unsupported(text, ["en"]) is None


@pytest.mark.parametrize("text", TEXTS["no_language"])
def test_it_names_no_language_for_letters_that_are_none(text: str) -> None:
    assert unsupported(text, ["en"]) is None
    assert best(text, ["en"]) == ""


def test_it_tells_english_where_english_is_not_supported() -> None:
    assert unsupported("I want to renew my passport today", ["de", "fr"]) == "en"


def test_it_does_not_hold_a_language_for_being_confused_with_a_supported_one() -> None:
    assert unsupported("Як продовжити паспорт?", ["en", "ru"]) is None
    assert unsupported("Как продлить паспорт?", ["en", "uk"]) is None


def test_it_listens_to_the_script_that_most_of_the_text_is_in() -> None:
    assert unsupported("我叫 John Smith 我想要延长我的学生签证需要多少钱", ["en"]) == "zh"
    assert detect("My name is 王小明 and I need a visa") == detect("My name is and I need a visa")


def test_it_stores_no_language_for_too_little_text() -> None:
    assert detect("visa") == {}
    assert best("visa", ["en"]) == ""
    assert best("How do I renew my passport?", ["en"]) == "en"


def test_it_gives_probabilities_with_the_likeliest_first() -> None:
    result = detect("Wo kann ich mein Auto anmelden?")
    values = list(result.values())
    assert values == sorted(values, reverse=True)
    assert 0.95 < sum(values) <= 1.001
    assert result["de"] > 0.9


@given(st.text(max_size=80))
def test_it_takes_any_text(text: str) -> None:
    other = unsupported(text, ["en"])
    assert other != "en"
    assert other is None or best(text, ["en"]) == other


def test_it_is_never_wrong_about_the_demo_questions() -> None:
    with DEMO.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    assert [text for text in texts if unsupported(text, ["en"])] == []


def corpus() -> Iterator[str]:
    for name in ("inquiries", "not_inquiries", "multi_agency"):
        lines = (CASES / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
        for case in map(json.loads, filter(None, lines)):
            yield case["text"]
            yield from (item["text"] for item in case["history"] if item["role"] == "user")


@pytest.mark.skipif(
    not CASES.exists(), reason="the citizens' questions (../shared/data) are not on this machine"
)
def test_it_is_never_wrong_about_real_english_questions_by_a_margin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = list(corpus())
    assert len(texts) > 700
    monkeypatch.setattr(language, "MOST_SUPPORTED", 2 * language.MOST_SUPPORTED)
    assert [text for text in texts if unsupported(text, ["en"])] == []


HELPED = frozenset(["en", "fr", "de", "es", "pt", "ar", "zh"])


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("mein Vater atmet nicht", {"de"}),
        ("je me tue", {"fr"}),
        ("mon mari me frappe", {"fr"}),
        ("mi marido me pega", {"es", "pt"}),
        ("我想死", {"zh"}),
        ("انتحار", {"ar"}),
        ("I want to die", {"en"}),
        ("kill me", {"en"}),
    ],
)
def test_the_likely_ones_of_a_short_text_hold_its_language(text: str, read: set[str]) -> None:
    result = language.likely(text, HELPED)
    assert read <= set(result)
    assert len(result) <= language.MOST_LIKELY


@given(st.text(max_size=80))
def test_the_likely_ones_are_always_among_those_given(text: str) -> None:
    result = language.likely(text, HELPED)
    assert set(result) <= HELPED
    assert len(result) == len(set(result))
