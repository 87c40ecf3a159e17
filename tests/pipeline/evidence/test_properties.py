"""Evidence, by property: more than 10,000 generated cases.

The oracle folds whole strings with the standard library and shares no code with the aligner.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from ieim.pipeline.evidence import Span, contains_value, is_trivial, locate, locate_each

WORDS = [
    word
    for line in (
        "visa fee apply Ministry I can't the don't £1,250 3.75% -5 €20 50% 24/7 2024 A4 .5 5-10",
        "non-resident naïve café cafe\u0301 façade l'agence n'ai Straße ΟΔΟΣ οδός İzmir ısı Việt",
        "Vie\u0323\u0302t паспорт гражданин п'ять ビザ ｶﾞｽ 東京 申請 費用 ภาษาไทย 한국 O'Brien",
        "\u1112\u1161\u11ab क़लम वीज़ा جواز ١٬٢٥٠ סרט oﬃce Ĳssel ＶＩＳＡ in\u00adfo snake_case",
        "10\u202f000 “quoted” ‘ok’ «oui» —and x² 1½ 👨\u200d👩\u200d👧 👍🏽 ❤️ (see) e.g. U.S.",
        "#12 @home +44 & wait… well... O′Neill 5′ 6″",
    )
    for word in line.split(" ")
]
VISIBLE = [word for word in WORDS if word[-1] != "\ufe0f"]
SPACES = [" ", " ", " ", "  ", "\n", "\r\n", "\t", "\u3000", " \u200b", "\u2028"]
DISGUISES = {
    "'": "’",
    '"': "“",
    "-": "–",
    "f": "ｆ",
    "1": "１",
    "%": "％",
    "i": "i\u00ad",
    " ": "\u00a0 ",
}

QUOTATION = "'‘’‚‛‹›＇\"“”„‟«»＂「」『』｢｣"
WRAPPINGS = ['""', "''", "“”", "„“", "‘’", "‚‘", "«»", "»«", "‹›", "「」", "『』", "＂＂"]

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12)
wild = st.text(
    st.sampled_from(
        "aAbBßſİıéeE\u0301\u0323 \n\u00a0\u200b\u00ad'’\"“--−–+.….,′″「」:/·1２3٣½²£€$%％"
    )
    | st.sampled_from("ﬁĲﾞｶ東ไก\u0e31")
    | st.sampled_from(
        "한\u1112\u1161\u11abक़\u093c\u202e\U000e0041\ud800\udfff\ufe0f\u20e3👍🏽\u200d_@*\x0b\x85ΣςK"
    ),
    max_size=24,
)
cases = settings(deadline=None, database=None)


def oracle(text: str, control_spaces: str = "") -> str:
    """Fold a whole string; ``control_spaces`` are the controls that count as white space."""
    text = re.sub(f"[{control_spaces}]", " ", text) if control_spaces else text
    invisible = "\u034f\u180e\ufe0e\ufe0f"
    records = []
    for c in text:
        white = c in "\t\n\r"
        if not white and (unicodedata.category(c) in {"Cc", "Cf"} or c in invisible):
            continue
        wide = re.match("<(wide|narrow)> ", unicodedata.decomposition(c))
        ligature = "\ufb00" <= c <= "\ufb17" or c in "Ĳĳ…"
        c = unicodedata.normalize("NFKC", c) if ligature else c
        records.append(unicodedata.decomposition(c).split()[1] if wide else c)
    text = "".join(chr(int(c, 16)) if len(c) == 4 and c.isalnum() else c for c in records)
    for plain, fancy in {"'": "‘’‚‛ʼ‹›′", '"': "“”„‟«»", "-": "‐‑‒–—―−"}.items():
        text = re.sub(f"[{fancy}]", plain, text)
    text = unicodedata.normalize("NFC", text)
    folded = [c.casefold() if len(c.casefold()) == 1 else c.lower() for c in text]
    return " ".join(unicodedata.normalize("NFC", "".join(folded)).split())


def disguise(quote: str, how: str, choices: int) -> str:
    """Write ``quote`` differently without changing what it says; ``choices`` is a bit mask."""
    if how == "NFC":
        return unicodedata.normalize("NFC", quote)
    if how == "NFD":
        return unicodedata.normalize("NFD", quote)
    changed = ""
    for number, c in enumerate(quote):
        other = c.swapcase() if how == "case" else DISGUISES.get(c, c)
        same = how != "case" or (len(other) == 1 and other.casefold() == c.casefold())
        changed += other if same and choices >> number % 16 & 1 else c
    return changed


def check_span(text: str, quote: str, span: Span) -> None:
    assert 0 <= span.start < span.end <= len(text)
    assert span.occurrences >= 1
    piece = text[span.start : span.end]
    controls = "\x0b\x0c\x1c-\x1f\x85"
    bare = quote.strip()
    unquoted = bare[1:-1] if bare[:1] in QUOTATION and bare[-1:] in QUOTATION else quote
    assert any(oracle(piece, c) == oracle(q, c) for c in ("", controls) for q in (quote, unquoted))


@settings(cases)
@given(
    st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SPACES)), min_size=1, max_size=10),
    st.integers(0, 9),
    st.integers(1, 10),
    st.sampled_from(["NFC", "NFD", "case", "typography"]),
    st.integers(0, 2**16 - 1),
)
def test_it_finds_every_slice_of_whole_words(
    words: list[tuple[str, str]], first: int, count: int, how: str, choices: int
) -> None:
    text = "".join(word + space for word, space in words)
    first %= len(words)
    quote = " ".join(word for word, _ in words[first : first + count])
    quote = disguise(quote, how, choices)
    span = locate(text, quote)
    assert span is not None
    check_span(text, quote, span)


@settings(cases)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*VISIBLE, "I don{0}t", "wait{1}", "{1}or", "a{1}b", "5{0}"]),
            st.booleans(),
        ),
        min_size=1,
        max_size=8,
    ),
    st.integers(0, 7),
    st.integers(1, 8),
    st.sampled_from(WRAPPINGS),
)
def test_it_finds_a_quote_in_other_dots_and_primes_and_between_quotation_marks(
    words: list[tuple[str, bool]], first: int, count: int, marks: str
) -> None:
    here = [word.format(*("′…" if fancy else ("'", "..."))) for word, fancy in words]
    results = [word.format(*(("'", "...") if fancy else "′…")) for word, fancy in words]
    first %= len(words)
    text = " | ".join(("start", " ".join(here[:first]), " ".join(here[first : first + count])))
    at = len(text) - len(" ".join(here[first : first + count]))
    quote = " ".join(results[first : first + count])
    assume(oracle(quote) not in oracle(text[:at]))
    assert locate(text, quote) == Span(at, len(text), 1)
    if not (quote[-1].isdigit() or oracle(marks[0] + quote + marks[1]) in oracle(text)):
        assert locate(text, marks[0] + quote + marks[1]) == Span(at, len(text), 1)


@settings(cases)
@given(wild, wild, st.integers(0, 24), st.integers(0, 24))
@example("a\x0bb", "a b", 0, 0)
def test_it_accepts_nothing_that_reads_differently(
    text: str, other: str, start: int, length: int
) -> None:
    for quote in (text[start : start + length], other, text[start:] + other):
        span = locate(text, quote)
        if span is not None:
            check_span(text, quote, span)
            inside = f"{text[span.start]}{text[span.end - 1]}"
            before = text[span.start - 1 : span.start]
            after = text[span.end : span.end + 1]
            assert not (
                inside[0].isascii()
                and inside[0].isalnum()
                and before.isascii()
                and before.isalnum()
            )
            assert not (
                inside[1].isascii() and inside[1].isalnum() and after.isascii() and after.isalnum()
            )
            assert not (after and unicodedata.combining(after) and not inside[1].isspace())


@settings(cases)
@given(
    texts,
    st.integers(0, 200),
    st.sampled_from("0123456789abcxyzéñßя東£€$¥%‰+-±²½′″"),
    st.sampled_from(WRAPPINGS),
)
def test_it_never_accepts_a_changed_letter_digit_sign_or_currency(
    words: list[str], index: int, change: str, marks: str
) -> None:
    text = " ".join(words)
    index %= len(text)
    assume(text[index].isalnum() or text[index] in "£€$%+-")
    changed = text[:index] + change + text[index + 1 :]
    # From the changed character to the end of its word, and the whole of it.
    end = changed.find(" ", index)
    start = changed.rfind(" ", 0, index) + 1
    for quote in (changed, changed[start : end if end > 0 else len(changed)]):
        if oracle(quote) not in oracle(text):
            assert locate(text, quote) is None
            assert locate(text, f"{marks[0]}{quote}{marks[1]}") is None


@settings(cases)
@given(
    st.lists(st.text("abcdefgxyz09", min_size=2, max_size=7), min_size=1, max_size=8, unique=True),
    st.integers(0, 7),
    st.integers(1, 6),
    st.booleans(),
)
def test_it_never_cuts_inside_a_word(words: list[str], which: int, at: int, tail: bool) -> None:
    text = " ".join(words)
    word = words[which % len(words)]
    at = 1 + at % (len(word) - 1)
    piece = word[at:] if tail else word[:at]
    assume(piece not in words)
    assert locate(text, piece) is None


@settings(cases)
@given(
    texts,
    texts,
    st.sampled_from(
        [
            ("I can pay", "I can't pay", "I can"),
            ("I do pay", "I don’t pay", "do"),
            ("able to pay", "unable to pay", "able"),
            ("I can pay", "I cannot pay", "can"),
            ("a resident", "a non-resident", "resident"),
            ("j'ai payé", "je n'ai payé", "ai payé"),
            ("5 degrees", "−5 degrees", "5 degrees"),
            ("owe £5 now", "owe -£5 now", "£5"),
        ]
    ),
)
def test_it_never_flips_a_negation(
    before: list[str], after: list[str], pair: tuple[str, str, str]
) -> None:
    positive, negative, part = pair
    words = [word for word in before if oracle(word) != oracle(part)]
    text = " ".join([*words, "|", negative, "|", *after[: len(words)]])
    assume(oracle(part) not in oracle(" ".join([*words, *after])))
    assert locate(text, part) is None
    assert locate(text, positive) is None
    assert locate(text, f"“{positive}”") is None
    assert locate(text, f"'{part}'") is None
    assert locate(text.replace(negative, positive), negative) is None


@settings(cases)
@given(texts, st.integers(0, 11), st.integers(1, 5))
def test_it_spreads_repeated_quotes_over_their_occurrences(
    words: list[str], which: int, repeats: int
) -> None:
    text = " | ".join(words)
    quote = words[which % len(words)]
    spans = [span for span in locate_each(text, [quote] * repeats) if span is not None]
    assert len(spans) == repeats
    places = [(span.start, span.end) for span in spans]
    assert places == sorted(places)
    assert len(set(places)) == min(repeats, spans[0].occurrences)
    assert all(before[1] <= after[0] for before, after in pairwise(places) if before != after)


@settings(cases)
@given(wild, wild)
def test_it_never_raises(text: str, other: str) -> None:
    locate_each(text, [other, other, text])
    assert contains_value(text, other) in (True, False)
    assert is_trivial(other) in (True, False)
    if not is_trivial(text):
        assert contains_value(text, text) or locate(text, text) is None
