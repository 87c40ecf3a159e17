"""Where a quote stands, case by case. The tables are (citizen's text, quote, expected slice)."""

from __future__ import annotations

import hashlib

import pytest

from ieim.pipeline.evidence import Span, is_trivial, locate, locate_each, snippet_sha256

SAME = [
    ("How much is a Visa?", "much is a Visa", "much is a Visa"),
    ("How much is a Visa?", "HOW MUCH", "How much"),
    ("How much is a Visa?", "  is   a\n visa ", "is a Visa"),
    ("one\r\n\ttwo", "one two", "one\r\n\ttwo"),
    ("one\u00a0two\u3000three", "one two three", "one\u00a0two\u3000three"),
    ("one \u200b two", "one two", "one \u200b two"),
    ("one\x0btwo", "one two", "one\x0btwo"),  # as people see it
    ("one\x0btwo", "onetwo", "one\x0btwo"),  # as it reads once screened
    ("cafe\u0301 au lait", "Café", "cafe\u0301"),
    ("café au lait", "cafe\u0301 AU", "café au"),
    ("Vie\u0323\u0302t", "vi\u00ea\u0323t", "Vie\u0323\u0302t"),
    ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글", "\u1112\u1161\u11ab\u1100\u1173\u11af"),
    ("J\u030c x", "\u01f0", "J\u030c"),
    ("Don’t “panic”", 'don\'t "panic"', "Don’t “panic”"),
    ("«oui» ‹non›", "\"oui\" 'non'", "«oui» ‹non›"),
    ("wait… please", "Wait... please", "wait… please"),
    ("wait... please", "wait… please", "wait... please"),
    ("oﬃce…\u200b ‘x’", "office... 'x'", "oﬃce…\u200b ‘x’"),
    ("I don′t know", "I don't know", "I don′t know"),
    ("I don't know", "i don′t", "I don't"),
    ("a 5′ walk", "5' walk", "5′ walk"),
    ("pages 3–5", "pages 3-5", "pages 3–5"),
    ("at −5 degrees", "at -5", "at −5"),
    ("oﬃcial ﬁle", "official file", "oﬃcial ﬁle"),
    ("Ĳmuiden", "ijmuiden", "Ĳmuiden"),
    ("ＶＩＳＡ　１２％", "visa 12%", "ＶＩＳＡ　１２％"),
    ("ｶﾞｽ料金", "ガス", "ｶﾞｽ"),
    ("in\u00adfor\u200bma\u2060tion", "information", "in\u00adfor\u200bma\u2060tion"),
    ("pay\U000e0041ment", "payment", "pay\U000e0041ment"),
    ("vi\u202esa", "visa", "vi\u202esa"),
    ("STRAẞE", "straße", "STRAẞE"),
    ("ΟΔΟΣ", "οδος", "ΟΔΟΣ"),
    ("İstanbul", "i̇stanbul", "İstanbul"),
    ("I\u0307stanbul", "İstanbul", "I\u0307stanbul"),
    ("α\u0345 x", "\u1fbc", "α\u0345"),
    ("family 👨‍👩‍👧 visa", "👨‍👩‍👧 VISA", "👨‍👩‍👧 visa"),
]

DIFFERENT = [
    ("pay 50", "pay 51"),
    ("pay £50", "pay €50"),
    ("pay 50%", "pay 50‰"),
    ("pay 50", "pay 50%"),
    ("+5 days", "-5 days"),
    ("area 5 m²", "5 m2"),
    ("٣ days", "3 days"),
    ("résumé", "resume"),
    ("resume", "résumé"),
    ("Straße", "Strasse"),
    ("Strasse", "Straße"),
    ("İzmir", "izmir"),
    ("ısı", "isi"),
    ("œuvre", "oeuvre"),
    ("α\u0345 x", "αι"),
    ("x\u0345", "xι"),
    ("I can pay", "I can't pay"),
    ("I can't pay", "I cant pay"),
    ("I did not pay", "I did pay"),
    ("I was injured", "I was insured"),
    ("the hearing", "the heating"),
    ("5′ or 5", "5″"),
    ("5″ long", "5' long"),
    ("5 days", "5′"),
    ("5 days", "5'"),
    ("wait. please", "wait… please"),
    ("wait.. please", "wait… please"),
    ("wait please", "wait… please"),
    ("my old visa", "my … visa"),
    ("my visa", "my visa…"),
    ("", "visa"),
    ("visa", ""),
    ("visa", " \n"),
    ("visa \u200b", "\u200b"),
]

CUT = [
    ("costs £1,250 now", "£1"),
    ("costs £1,250 now", "£1,"),
    ("wait… 5", "wait.."),
    ("at 5′30″", "5"),
    ("I can′t", "I can"),
    ("costs £1,250 now", "250 now"),
    ("costs £1,250 now", ",250 now"),
    ("rate 3.75", "rate 3"),
    ("rate 3.75", "75"),
    ("rate 3·75", "3"),
    ("１，２５０", "1"),
    ("1'250 francs", "1"),
    ("1’250 francs", "250 francs"),
    ("١٬٢٥٠", "١"),
    ("at 12:30", "at 12"),
    ("half 1/2", "2"),
    ("1⁄2", "1"),
    ("10\u00a0000 euros", "10"),
    ("10\u202f000 euros", "000 euros"),
    ("10\u2009000 euros", "\u2009000 euros"),
    ("costs £1 250 now", "£1"),
    ("costs £1 250 now", "250 now"),
    ("costs 1 250 EUR", "250 EUR"),
    ("costs 1 250 000,50 € now", "1 250"),
    ("costs .5 mg", "5 mg"),
    ("costs £.50", "50"),
    ("費用は3万円", "3"),
    ("1½ cups", "1"),
    ("50% off", "50"),
    ("at -5 degrees", "5 degrees"),
    ("at −5 degrees", "5"),
    ("+44 20", "44"),
    ("±5 days", "5 days"),
    ("owes -£5", "£5"),
    ("5-10 days", "-10 days"),
    ("COVID-19", "-19"),
    ("the dependent", "the depend"),
    ("the dependent", "pendent"),
    ("in\u00adformation", "formation"),
    ("snake_case", "snake"),
    ("A4 paper", "4 paper"),
    ("5km", "5"),
    ("I can't", "can"),
    ("I can’t", "I can"),
    ("I CAN'T", "can"),
    ("I can`t", "can"),
    ("I can\u200b't", "can"),
    ("I cannot", "can"),
    ("I'm here", "m here"),
    ("I'm here", "I"),
    ("je n'ai rien", "ai rien"),
    ("aujourd'hui", "hui"),
    ("Bill's visa", "'s visa"),
    ("rock'n'roll", "roll"),
    ("a non-resident", "resident"),
    ("a non‑resident", "resident"),
    ("cafe\u0301", "cafe"),
    ("cafe\u200b\u0301", "cafe"),
    ("e\u0301t", "\u0301t"),
    ("1\ufe0f\u20e3 first", "1"),
    ("ｶﾞｽ", "ｶ"),
    ("oﬃce", "of"),
    ("서울에서", "서울"),
    ("ក្ក", "ក្"),
    ("👨‍👩‍👧 x", "👨"),
    ("👍🏽 ok", "👍"),
    ("VISA卡", "VIS"),
]

WHOLE = [
    ("costs £1,250 now", "1,250", "1,250"),
    ("in 2024, and", "2024", "2024"),
    ("in 2024.", "2024", "2024"),
    ("wait...5 days", "5 days", "5 days"),
    ("wait…5 days", "5 days", "5 days"),
    ("wait… 5 days", "wait", "wait"),
    ("Bill′s visa", "Bill", "Bill"),
    ("5-10 days", "10 days", "10 days"),
    ("5%-10% off", "10%", "10%"),
    ("£5-£10", "£10", "£10"),
    ("at -5 degrees", "-5", "-5"),
    ("10\u00a0days", "10", "10"),
    ("costs £1 250 now", "£1 250", "£1 250"),
    ("in room 1 250 people", "room 1", "room 1"),
    ("call 020 7946 0018", "7946 0018", "7946 0018"),
    ("on 3 May 2026 250 EUR", "250 EUR", "250 EUR"),
    ("room 10\u00a02024", "10", "10"),
    ("room 10\u00a02024", "2024", "2024"),
    ("ba a a", "a a", "a a"),
    ("10\u00a0000 euros", "10 000 euros", "10\u00a0000 euros"),
    ("the '90s", "90s", "90s"),
    ("Bill's visa", "Bill", "Bill"),
    ("Bill’s visa", "bill", "Bill"),
    ("the citizens' rights", "citizens", "citizens"),
    ("l'agence fiscale", "Agence", "agence"),
    ("jusqu’à midi", "à midi", "à midi"),
    ("lorsqu'il", "il", "il"),
    ("dell’ufficio", "ufficio", "ufficio"),
    ("the “visa”.", "visa", "visa"),
    ("full-time work", "time work", "time work"),
    ("東京都に住む", "東京", "東京"),
    ("第3条", "3", "3"),
    ("VISA卡", "VISA", "VISA"),
    ("ภาษาไทย", "ไทย", "ไทย"),
    ("မြန်မာ", "မြန်", "မြန်"),
    ("visa\u200b now", "visa", "visa"),
    ("\u200bvisa", "VISA", "visa"),
    ("❤️ visa", "visa", "visa"),
    ("pay £1,250 or £1", "£1", "£1"),
    ("I can't, but I can", "can", "can"),
]

FILLER = ["", " ", "?!", "a", "5", "the", "And THE", "of the", "I'm", "how do I", "x \u200b", "税"]
FILLER += ["der die", "de la", "c'est", "el la", "per la", "o que"]
FILLER += ["where is the", "why", "when"]
CONTENT = ["visa", "ID", "12", "No", "can't", "do not", "my son", "if I die", "税金", "the visa"]
CONTENT += ["US", "nicht", "n'ai pas", "a car", "of war", "two hats", "é5", "my İd"]


def slice_of(text: str, quote: str) -> str | None:
    span = locate(text, quote)
    return None if span is None else text[span.start : span.end]


@pytest.mark.parametrize(("text", "quote", "expected"), SAME, ids=ascii)
def test_it_folds_what_means_the_same(text: str, quote: str, expected: str) -> None:
    assert slice_of(text, quote) == expected


@pytest.mark.parametrize(("text", "quote"), DIFFERENT, ids=ascii)
def test_it_never_folds_meaning(text: str, quote: str) -> None:
    assert locate(text, quote) is None


@pytest.mark.parametrize(("text", "quote"), CUT, ids=ascii)
def test_it_never_cuts_a_word_number_or_character(text: str, quote: str) -> None:
    assert locate(text, quote) is None


@pytest.mark.parametrize(("text", "quote", "expected"), WHOLE, ids=ascii)
def test_it_takes_whole_words_and_numbers(text: str, quote: str, expected: str) -> None:
    assert slice_of(text, quote) == expected


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
