"""The language of a message, by py3langid's bundled model: no download, no network.

The model is sure of itself on names and unsure of short texts, so it is asked about the sentence
only: without addresses, placeholders, figures and, where that leaves enough, without capitalised
words. A text that is too short or too mixed has no language.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache

from py3langid.langid import (  # type: ignore[import-untyped]
    MODEL_FILE,
    LanguageIdentifier,
)

LEAST_LETTERS = 12
"""The least number of letters of a text in an alphabet for its language to be detected."""

LEAST_SIGNS = 4
"""Likewise for scripts that write words or syllables with one sign."""

MOST_SUPPORTED = 0.04
"""A text is clearly unsupported when the supported languages together are no more probable."""

LEAST_CERTAIN = 0.2
"""And when one other language is at least as probable as this."""

LEAST_CLOSE = 0.5
"""And when the few likeliest, which may be close to each other, have this much together: letters
that were hit at random are a little of many languages."""

LEAST_SURE = 0.5
"""See :func:`short`."""

NEARLY = 0.25
FAINT = 0.1
MOST_LIKELY = 3
"""See :func:`likely`; and so many languages are close to each other at most."""

_NO_WORDS = re.compile(
    r"\[[A-Z_]{2,20}_[0-9]{1,6}\]|[a-zA-Z]{2,12}://\S{1,2000}|(?:www\.)\S{1,2000}|\S{1,64}@\S{1,255}"
)
_WORD = re.compile(r"[^\W\d_]++(?:[\u0300-\u036f\u0900-\u0dff'’-]++[^\W\d_]*+)*")
# A script is the first word of its characters' names; these are written together.
_ONE_SCRIPT = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}
_SIGNS = frozenset(["CJK", "HANGUL"])
# What the model tells apart and ISO 639-1 does not, or what a reader of the other one can answer.
_ALIASES = {
    "ace": "id", "ary": "ar", "arz": "ar", "bcl": "tl", "crh": "tr", "ext": "es", "fuv": "ff",
    "gcf": "ht", "gcr": "ht", "grc": "el", "gug": "gn", "hbo": "he", "kik": "ki", "lij": "it",
    "ltg": "lv", "pcm": "en", "sdh": "ku", "uzs": "uz", "vec": "it", "wuu": "zh", "yue": "zh",
}  # fmt: skip
_NO_LANGUAGE = "zxx"
# Other codes of a language that the model tells by one.
_OTHER_CODES = {"fil": "tl", "in": "id", "iw": "he", "nb": "no"}


def detected_code(code: str) -> str:
    """Return the code that :func:`detect` gives the language of ``code``."""
    return _OTHER_CODES.get(code, code)


def detectable() -> frozenset[str]:
    """Return the codes of the languages that can be detected."""
    return frozenset(_ALIASES.get(code, code) for code in _model().labels) - {_NO_LANGUAGE}


def detect(text: str) -> dict[str, float]:
    """Return the probability of each language that may be that of ``text``, most probable first.

    Codes are ISO 639-1, or 639-3 where that has none. Empty when the text has too few letters to
    tell. Only the sentence counts: not links, addresses, placeholders or figures.
    """
    words = _words(text)
    return _probabilities(words) if _enough(words) else {}


def unsupported(text: str, supported: Collection[str]) -> str | None:
    """Return the language of ``text`` when it is clearly none of ``supported``, else None.

    Clearly means: with and without capitalised words (names, places) the supported languages
    together have at most :data:`MOST_SUPPORTED`, another one has :data:`LEAST_CERTAIN`, and the few
    likeliest have :data:`LEAST_CLOSE` together.
    """
    words = _words(text)
    other = _clearly_other(words, supported)
    if other is None:
        return None
    sentence = _without_names(words)
    return other if _clearly_other(sentence, supported) else None


def best(text: str, supported: Collection[str]) -> str:
    """Return the code of the likely language of ``text``, "" when unknown.

    That is the unsupported one, when it is clearly such, or else the likeliest of ``supported``.
    """
    other = unsupported(text, supported)
    if other is not None:
        return other
    likely = [(p, code) for code, p in detect(text).items() if code in supported]
    return max(likely)[1] if likely and max(likely)[0] >= LEAST_CERTAIN else ""


def short(text: str, among: Collection[str]) -> str:
    """Return the one of ``among`` that even a text that is too short to tell is surely in, or "".

    Hardly any other language may be as probable: so it is where the script leaves little choice.
    """
    words = _words(text)
    code, probability = next(iter(_probabilities(words).items()), ("", 0.0)) if words else ("", 0.0)
    return code if code in among and probability >= LEAST_SURE else ""


def likely(text: str, among: Collection[str]) -> list[str]:
    """Return those of ``among`` that a text may well be in, the likeliest first.

    Each is at least :data:`NEARLY` as probable as the best of them, and :data:`FAINT` as the best
    language of all; at most :data:`MOST_LIKELY`. However short the text is: this is for what is
    better told twice than in a language that nobody reads.
    """
    words = _words(text)
    every = _probabilities(words) if words else {}
    probabilities = {code: p for code, p in every.items() if code in among}
    least = max(
        NEARLY * max(probabilities.values(), default=0.0), FAINT * max(every.values(), default=0.0)
    )
    return [code for code, p in probabilities.items() if p > 0 and p >= least][:MOST_LIKELY]


def _clearly_other(words: list[str], supported: Collection[str]) -> str | None:
    if not _enough(words):
        return None
    probabilities = _probabilities(words)
    if sum(probabilities.get(code, 0.0) for code in set(supported)) > MOST_SUPPORTED:
        return None
    likeliest = list(probabilities.items())[:MOST_LIKELY]
    if sum(probability for _, probability in likeliest) < LEAST_CLOSE:
        return None
    code, probability = likeliest[0]
    return code if probability >= LEAST_CERTAIN else None


def _words(text: str) -> list[str]:
    """Return the words of the script that most letters of the text are in."""
    words = _WORD.findall(_NO_WORDS.sub(" ", text))
    letters: Counter[str] = Counter()
    for word in words:
        letters[_script(word)] += len(word)
    if not letters:
        return []
    main = max(letters, key=lambda script: (letters[script], script))
    return [word for word in words if _script(word) == main]


def _without_names(words: list[str]) -> list[str]:
    """Leave out capitalised words, but for the first one of a sentence."""
    if all(word.isupper() for word in words):
        return words
    plain = [word for word in words[1:] if not word[0].isupper()]
    # Two capitalised words at the start are a name.
    return plain if len(words) > 1 and words[1][0].isupper() else words[:1] + plain


def _enough(words: list[str]) -> bool:
    size = sum(map(len, words))
    return size >= LEAST_LETTERS or (
        size >= LEAST_SIGNS and _script(words[0]) in _SIGNS if words else False
    )


@cache
def _script_of(letter: str) -> str:
    name = unicodedata.name(letter, "").split(" ", 1)[0].split("-", 1)[0]
    return _ONE_SCRIPT.get(name, name)


def _script(word: str) -> str:
    return _script_of(word[0])


def _probabilities(words: Iterable[str]) -> dict[str, float]:
    ranked: Counter[str] = Counter()
    for code, probability in _model().rank(" ".join(words)):
        if code != _NO_LANGUAGE:
            ranked[_ALIASES.get(code, code)] += probability
    return dict(ranked.most_common())


@cache
def _model() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
