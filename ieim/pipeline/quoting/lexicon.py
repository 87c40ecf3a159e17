"""The lexicon: the words of each language that sentences are compared by, and their stems."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import snowballstemmer  # type: ignore[import-untyped]  # it ships no types
import yaml

PHRASES = ("free", "at_once")
"""The classes of phrases that say one thing in several ways."""

_WORD = re.compile(r"[^\W\d_]+")
_PLAIN_WORD = re.compile(r"[^\W_]+")
_LIGATURES = str.maketrans({"œ": "oe", "æ": "ae"})
_local = threading.local()


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of one language (ISO 639-1), in lower case and without accents.

    ``phrases`` has, by first word, the phrases of each class, the longest first; ``numbers`` the
    values of numbers that are written out; ``labels`` the words that name a field of a service.
    """

    language: str
    ignored: frozenset[str]
    faint: frozenset[str]
    courtesy: frozenset[str]
    joins: frozenset[str]
    labels: Mapping[str, frozenset[str]]
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]
    numbers: Mapping[tuple[str, ...], int]
    weekdays: Mapping[str, int]


@cache
def _data() -> dict[str, Any]:
    path = Path(__file__).with_name("lexicon.yaml")
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


@cache
def lexicon(language: str) -> Lexicon:
    """Return the lexicon of a language, the English one where there is none of it."""
    language = language if language in _data() else "en"
    data = _data()[language]
    phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for name in PHRASES:
        for phrase in data[name].split(","):
            words = _words(phrase)
            phrases.setdefault(words[0], []).append((words, name))
    return Lexicon(
        language=language,
        ignored=frozenset(_words(data["ignored"])),
        faint=frozenset(_words(data["faint"])),
        courtesy=frozenset(_words(data["courtesy"])),
        joins=frozenset(_words(data["joins"])),
        labels={field: frozenset(_words(words)) for field, words in data["labels"].items()},
        phrases={
            first: tuple(sorted(found, key=lambda item: -len(item[0])))
            for first, found in phrases.items()
        },
        numbers=dict(_numbers(data)),
        weekdays={day: number for number, day in enumerate(_words(data["weekdays"]))},
    )


def language_of(text: str) -> str:
    """Return the language (ISO 639-1) with the most ignored words in ``text``, English on a tie."""
    words = [plain(word) for word in _WORD.findall(text)]
    counts = {name: sum(word in lexicon(name).ignored for word in words) for name in _data()}
    return max(counts, key=lambda name: (counts[name], name == "en"))


@lru_cache(maxsize=16384)
def plain(word: str) -> str:
    """Return a word in lower case without its accents."""
    apart = unicodedata.normalize("NFKD", word.casefold()).translate(_LIGATURES)
    return "".join(c for c in apart if unicodedata.category(c) != "Mn")


@lru_cache(maxsize=16384)
def stem(word: str, language: str) -> str:
    """Return the stem of a word, without accents; an irregular form has that of its base."""
    word = _irregular(language).get(word.lower(), word)
    # A stemmer keeps state while it works, so each thread has its own.
    stemmers: dict[str, Any] = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = snowballstemmer.stemmer(_data()[language]["stemmer"])
    stemmed = stemmers[language].stemWord(unicodedata.normalize("NFC", word.lower()))
    return plain(stemmed) or plain(word)


@cache
def _irregular(language: str) -> Mapping[str, str]:
    pairs = (pair.partition("=") for pair in _data()[language].get("irregular", "").split())
    return {form: base for form, _, base in pairs}


def _words(text: str) -> tuple[str, ...]:
    return tuple(_PLAIN_WORD.findall(plain(text)))


def _numbers(data: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the words of each number from 0 to 99."""
    ones = data["numbers"].split()
    for value, one in enumerate(ones):
        yield _words(one), value
    for ten, word in enumerate(data["tens"].split(), 2):
        yield _words(word), 10 * ten
        for value, one in enumerate(ones[1:], 1):
            # In French "soixante" and "quatre-vingt" go on to 19.
            if value < 10 or word.endswith(("soixante", "vingt")):
                for joined in (f"{word}-{one}", f"{word} et {one}", f"{word} y {one}"):
                    yield _words(joined), 10 * ten + value
                yield _words(f"{one}und{word}"), 10 * ten + value
