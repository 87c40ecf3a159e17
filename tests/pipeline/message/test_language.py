"""Languages: a clear foreign question is told, an English one never is, names tip nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.message import language
from ieim.pipeline.message.language import best, detect, unsupported

DEMO = settings.BASE_DIR / "ieim" / "knowledge" / "demo" / "questions.jsonl"
CASES = Path(__file__).parents[4] / "shared" / "data" / "cases"

FOREIGN = {
    "de": [
        "Ich möchte meinen Reisepass verlängern.",
        "Wie beantrage ich Wohngeld?",
        "wo bekomme ich eine geburtsurkunde",
        "ICH MÖCHTE MEINEN PASS VERLÄNGERN",
        "Mein Vermieter zahlt die Kaution nicht zurück, was kann ich tun?",
    ],
    "fr": [
        "Je voudrais renouveler mon passeport.",
        "Où déclarer la naissance de mon fils ?",
        "comment obtenir un visa de travail",
    ],
    "es": [
        "Quiero renovar mi pasaporte.",
        "¿Cuánto cuesta el permiso de conducir?",
        "dónde puedo pedir cita para el DNI",
    ],
    "it": ["Come rinnovo il passaporto?"],
    "pl": ["Jak przedłużyć paszport?", "Zgubiłem dowód osobisty, co mam zrobić?"],
    "tr": ["Pasaportumu nasıl yenileyebilirim?", "evlilik için hangi belgeler gerekli"],
    "ar": ["كيف أجدد جواز سفري؟", "فقدت بطاقة هويتي ماذا أفعل"],
    "zh": ["我想延长我的签证", "如何更换护照?"],
    "ru": ["Как продлить паспорт?", "потерял водительские права что делать"],
    "uk": ["Як продовжити паспорт?", "Я хочу отримати допомогу на дитину."],
    "ja": ["パスポートを更新したいです"],
    "hi": ["मैं अपना पासपोर्ट कैसे नवीनीकृत करूं?"],
    "vi": ["Làm thế nào để gia hạn hộ chiếu?"],
}
QUESTIONS = [(code, text) for code, texts in FOREIGN.items() for text in texts]

NOT_CLEAR = [
    "",
    "Hello",
    "ok",
    "Hola",
    "Visum",
    "42",
    "?!",
    "[EMAIL_1] [PHONE_1] [DATE_OF_BIRTH_12] [ADDRESS_3] [NATIONAL_ID_2]",
    "https://www.bundesregierung.de/breg-de/themen/wie-beantrage-ich-wohngeld",
    "wo.bekomme.ich.eine.urkunde@rathaus-duesseldorf.de",
    "My name is Juan Carlos García Fernández",
    "I live in Königsallee 12, Düsseldorf",
    "Nguyễn Văn Anh needs a visa",
    "Wojciech Szczepański, Katarzyna Nowak",
    "Muhammad Abdullah Al-Rashid",
    "Rosa Maria Rodriguez Lopez de la Cruz wants to marry",
    "My landlord Herr Müller from Friedrichstraße 20 in Berlin keeps my deposit",
    "I am Oleksandr Kovalenko from Kyiv, how do I register?",
    "My name is 王小明 and I need a visa",
    "Hola, I need help with my passport please",
    "What is an Aufenthaltstitel?",
    "USCIS I-485 EAD RFE status",
    "LOST MY PASSPORT",
    "nguyen van anh needs a visa",
]
NO_LANGUAGE = [
    "ytqwei uqu qiyp kfsh",
    "euy yyfz oelmf eojynw pjsw esduv",
    "dklk jlas cmzm yuw assfsd",
    "ahlka aashjs hjjj",
    "hdsgl gdaf dlk",
    "wertyu asdfgh",
]
"""Keys that were hit at random: none of them is a word of a language."""


@pytest.mark.parametrize(("code", "text"), QUESTIONS)
def test_it_tells_a_clear_question_in_another_language(code: str, text: str) -> None:
    assert unsupported(text, ["en"]) == code
    assert best(text, ["en"]) == code
    assert next(iter(detect(text))) == code


@pytest.mark.parametrize(("code", "text"), QUESTIONS)
def test_it_takes_a_question_in_a_supported_language(code: str, text: str) -> None:
    assert unsupported(text, ["en", code]) is None
    assert best(text, ["en", code]) == code


@pytest.mark.parametrize("text", NOT_CLEAR, ids=[text[:24] for text in NOT_CLEAR])
def test_it_holds_nothing_that_is_not_clear(text: str) -> None:
    assert unsupported(text, ["en"]) is None


@pytest.mark.parametrize("text", NO_LANGUAGE)
def test_it_names_no_language_for_letters_that_are_none(text: str) -> None:
    assert unsupported(text, ["en"]) is None
    assert best(text, ["en"]) == ""


def test_it_tells_english_where_english_is_not_supported() -> None:
    assert unsupported("I want to renew my passport today", ["de", "fr"]) == "en"


def test_it_does_not_hold_a_language_for_being_confused_with_a_supported_one() -> None:
    assert unsupported("Як продовжити паспорт?", ["en", "ru"]) is None
    assert unsupported("Как продлить паспорт?", ["en", "uk"]) is None


def test_it_counts_the_dialects_of_a_language_together() -> None:
    assert detect("كيف أجدد جواز سفري؟")["ar"] > 0.9
    assert detect("如何更换护照?")["zh"] > 0.9


def test_it_listens_to_the_script_that_most_of_the_text_is_in() -> None:
    assert unsupported("我叫 John Smith 我想要延长我的学生签证需要多少钱", ["en"]) == "zh"
    assert detect("My name is 王小明 and I need a visa") == detect("My name is and I need a visa")


def test_it_stores_no_language_for_too_little_text() -> None:
    assert detect("visa") == {}
    assert best("visa", ["en"]) == ""
    assert best("How do I renew my passport?", ["en"]) == "en"


def test_it_gives_probabilities_with_the_likeliest_first() -> None:
    found = detect("Wo kann ich mein Auto anmelden?")
    values = list(found.values())
    assert values == sorted(values, reverse=True)
    assert 0.95 < sum(values) <= 1.001
    assert found["de"] > 0.9


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
    found = language.likely(text, HELPED)
    assert read <= set(found)
    assert len(found) <= language.MOST_LIKELY


def test_a_clear_text_has_one_likely_language() -> None:
    text = "Ich weiß nicht mehr weiter und möchte nicht mehr leben, bitte helfen Sie mir"
    assert language.likely(text, HELPED) == ["de"]


@given(st.text(max_size=80))
def test_the_likely_ones_are_always_among_those_given(text: str) -> None:
    found = language.likely(text, HELPED)
    assert set(found) <= HELPED
    assert len(found) == len(set(found))
