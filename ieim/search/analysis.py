"""How text becomes words, stems and folded tokens: the one analysis of index, query and marks.

Two analyses run side by side. The *stemmed* one is English: "renewing" finds "renewal". The
*plain* one belongs to no language: lower case and without accents, so that French, German or
Swahili match word for word. Scripts that do not separate words are cut into single characters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

STOP_WORDS: frozenset[str] = frozenset(
    Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split()
)
"""English words that say nothing of the subject, and what is left of "don't" and "we'll"."""

_STOP_WORD_LISTS = {
    "da": "danish", "de": "german", "es": "spanish", "fi": "finnish", "fr": "french",
    "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese",
    "ru": "russian", "sv": "swedish",
}  # fmt: skip
"""The lists that the library has."""

_LONGEST_TOKEN = 64
"""Bytes; a longer "word" is pasted noise and is left out."""

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = r"\p{L}\p{N}\p{M}"
_INVISIBLE = r"\u{AD}\u{200B}-\u{200D}\u{2060}"
_TOKEN = rf"[{_UNSPACED}]|[[{_WORD}]--[{_UNSPACED}]][[{_WORD}{_INVISIBLE}]--[{_UNSPACED}]]*"

_PLACEHOLDER = re.compile(r"\[[A-Z_]+_\d+\]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_IGNORED = re.compile("[\u00ad\u200b-\u200d\u2060]")


def _analyzer(*filters: Filter) -> TextAnalyzer:
    builder = TextAnalyzerBuilder(Tokenizer.regex(_TOKEN))
    for token_filter in filters:
        builder = builder.filter(token_filter)
    return builder.build()


def _plain_filters() -> list[Filter]:
    return [
        Filter.remove_long(_LONGEST_TOKEN),
        Filter.lowercase(),
        Filter.ascii_fold(),
        Filter.custom_stopword(sorted(STOP_WORDS)),
    ]


PLAIN: TextAnalyzer = _analyzer(*_plain_filters())
STEMMED: TextAnalyzer = _analyzer(*_plain_filters(), Filter.stemmer("english"))
_WORDS: TextAnalyzer = _analyzer()


def fold(text: str) -> str:
    """Return ``text`` in the form in which it is indexed and searched.

    Compatibility forms are unified (NFKD), case is folded, accents and invisible characters are
    dropped; what remains is composed again. Never fails: a lone surrogate becomes a space.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", _IGNORED.sub("", _whole(text))).casefold()
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not _is_accent(c)))


def words(text: str) -> list[str]:
    """Return the folded words of ``text`` in order; scripts that separate none by the character."""
    tokens: list[str] = _WORDS.analyze(fold(text))
    return tokens


def stems(text: str) -> list[str]:
    """Return the stems of ``text`` in order, without stop words; repeated words repeat.

    Placeholders of personal data (``[EMAIL_1]``) have none: they say nothing about the subject.
    """
    return list(STEMMED.analyze(fold(_PLACEHOLDER.sub(" ", text))))


def query_words(text: str) -> list[tuple[str, str]]:
    """Return the distinct words of ``text`` as ``(stem, plain token)``, in order of appearance.

    Stop words are left out, and of two words with one stem ("visa", "visas") the first is kept.
    """
    words: dict[str, str] = {}
    for token in PLAIN.analyze(fold(text)):
        for stem in STEMMED.analyze(token):
            words.setdefault(stem, token)
    return list(words.items())


def matching_spans(text: str, passage: str, language: str = "") -> list[tuple[int, int]]:
    """Return where the words of ``text`` stand whose stem also occurs in ``passage``.

    Spans are half-open offsets in Unicode code points into ``text``, in order and apart from each
    other; stop words are never among them, English ones nor those of ``language`` (ISO 639-1).
    """
    stems = frozenset(STEMMED.analyze(fold(passage)))
    if not stems:
        return []
    says_something = _content(language)
    return [
        (token.char_offset_from, token.char_offset_to)
        for token in _WORDS.pre_tokenize(_whole(text)).tokens
        if not stems.isdisjoint(STEMMED.analyze(fold(token.text)))
        and says_something.analyze(token.text)
    ]


@cache
def _content(language: str) -> TextAnalyzer:
    """Return what leaves nothing of a stop word of ``language``, whose accents count."""
    name = _STOP_WORD_LISTS.get(language)
    return _analyzer(Filter.lowercase(), *([Filter.stopword(name)] if name else []))


def _whole(text: str) -> str:
    """Return ``text`` with lone surrogates as spaces (UTF-8 has no form for them), same length."""
    return _SURROGATE.sub(" ", text)


def _is_accent(character: str) -> bool:
    """Whether ``character`` is a mark that a search ignores.

    Combining classes from 200 are marks above or below a letter, 10 to 35 the Hebrew and Arabic
    points. Lower and middle classes belong to the letters of Indic, Thai and Japanese scripts.
    """
    combining = unicodedata.combining(character)
    return combining >= 200 or 10 <= combining <= 35
