"""The legible text of a message, and the way back to the text as sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.message.legible import legible
from ieim.pipeline.message.risk import find
from ieim.pipeline.personal.redaction import prepare

RENEW = "How do I renew my passport?"


@pytest.mark.parametrize(
    "text",
    [
        "<p>How do I <b>renew</b> my&nbsp;passport?</p>",
        '<div class="x" id=\'a\'>How do I <a href="https://example.org/?a=b">renew</a> my'
        "&#32;passport?<br/></div>",
        "&lt;p&gt;How do I renew my&amp;nbsp;passport?&lt;/p&gt;",
        "<!--StartFragment--><style>p { color: red }</style><o:p>How do I renew my passport?</o:p>",
        "<ul><li>How do I renew my passport?</li></ul>",
        "<table><tr><td>How do I renew</td><td>my passport?</td></tr></table>",
        "| How do I renew | my passport? |\n|---|---|",
        "# How do I **renew** my _passport_?",
        "How do I [renew](https://example.org/a) my `passport`?",
        "> How do I renew\n> > my passport?",
        "How do I re\u00adnew my pass\u200bport?",
        "Ｈｏｗ ｄｏ Ｉ 𝐫𝐞𝐧𝐞𝐰 my passport?",
        "H\u0336o\u0336w\u0336 do I renew my passport?",
    ],
)
def test_what_was_pasted_around_the_words_is_left_out(text: str) -> None:
    assert " ".join(legible(text).text.split()) == RENEW


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("كَيْفَ أُجَدِّدُ جَوَازَ سَفَرِي؟", "كيف أجدد جواز سفري؟"),
        ("كيــف أجــدد جــواز سفــري؟", "كيف أجدد جواز سفري؟"),
        ("ﻛﻴﻒ ﺃﺟﺪﺩ ﺟﻮﺍﺯ ﺳﻔﺮﻱ؟", "كيف أجدد جواز سفري؟"),
        ("אֵיךְ מְחַדְּשִׁים דַּרְכּוֹן?", "איך מחדשים דרכון?"),
        ("Как продли\u0301ть загранпа\u0301спорт?", "Как продлить загранпаспорт?"),
        ("ﾊﾟｽﾎﾟｰﾄを更新", "パスポートを更新"),
        ("ma carte pe\u0301rime\u0301e", "ma carte périmée"),
    ],
)
def test_signs_that_add_nothing_to_a_word_are_left_out(text: str, read: str) -> None:
    assert legible(text).text == read


@pytest.mark.parametrize(
    "text",
    [
        "if a<b and c>d, or 1 < 2 > 0",
        "my name is <name>, I <kill myself>, see <https://example.org/_a_b>",
        "AT&T; 5*3 a_b ****1234 ____ john_@example.org",
        "<!!! I want to die !!!> and <?>",
        "محمد \ufdfa",
        "* a list\n- of two",
        "मैं अपना पासपोर्ट कैसे नवीनीकृत करूं",
        "ที่นี่ กี่บาท",
        "گذرنامه‌ام را چگونه تمدید می‌کنم",
        "您好，护照？",
    ],
)
def test_words_stay(text: str) -> None:
    assert legible(text).text == text


def test_a_quote_leads_back_to_the_text_as_sent() -> None:
    sent = "<p>How do I <b>re&shy;new</b> my&nbsp;passport?</p>"
    prepared = prepare(sent)
    start = prepared.text.index("renew")
    quoted = prepared.to_original(start, start + len("renew my\u00a0passport"))
    assert sent[slice(*quoted)] == "re&shy;new</b> my&nbsp;passport"


def test_danger_is_seen_beneath_markup() -> None:
    sent = "<p>I want to <b>kill</b>&nbsp;my&shy;self</p>"
    (risk,) = find(sent)
    assert risk.code == "self_harm"
    assert sent[risk.start : risk.end].endswith("kill</b>&nbsp;my&shy;self")


@given(st.lists(st.sampled_from([*"<>&;[]()*_`#|\n pa/=\"'!-", "&lt;", "<b>", "\u0301", "ﾊ"])))
def test_the_map_goes_forward(parts: list[str]) -> None:
    text = "".join(parts)
    read = legible(text)
    assert len(read.text) == len(read.starts) == len(read.ends)
    for start, end in zip(read.starts, read.ends, strict=True):
        assert 0 <= start < end <= len(text)
    assert list(read.starts) == sorted(read.starts)
