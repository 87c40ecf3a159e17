"""The lexicon: which words are free, which are facts, and which turn a meaning, by language."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import snowballstemmer  # type: ignore[import-untyped]  # it ships no types
import yaml

OPERATORS = [
    "duty",
    "permission",
    "ability",
    "advice",
    "negation",
    "free",
    "only",
    "except",
    "universal",
    "hedge",
    "once",
    "twice",
    "minimum",
    "maximum",
    "over",
    "under",
    "within",
    "before",
    "promptly",
    "after",
    "about",
    "same",
    "first",
    "condition",
    "first_person",
    "here",
    "us",
    "whether",
    "sequence",
]
"""The classes of words that turn a meaning."""

_FILE = Path(__file__).with_name("lexicon.yaml")
_WORD = re.compile(r"[^\W_]+")
_LIGATURES = str.maketrans({"œ": "oe", "æ": "ae"})
_local = threading.local()

Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of one language. Plain words are in lower case without accents.

    ``phrases`` gives, by first word, each phrase that is an operator with its class, the longest
    first; ``numbers`` each written number. ``labels`` are free beside a field of that kind.
    """

    language: str
    glue: frozenset[str]
    loose: frozenset[str]
    labels: Mapping[str, frozenset[str]]
    phrases: Mapping[str, tuple[tuple[Phrase, str], ...]]
    numbers: Mapping[str, tuple[tuple[Phrase, int], ...]]
    units: Mapping[str, str]
    working: frozenset[str]
    weekdays: Mapping[str, int]
    one: frozenset[str]
    wants: tuple[Phrase, ...]
    courtesies: re.Pattern[str]
    condolence: frozenset[str]
    kin: frozenset[str]
    kind: frozenset[str]
    denial: frozenset[str]
    exact: frozenset[str]


@cache
def _data() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return loaded


@cache
def languages() -> tuple[str, ...]:
    """Return the languages that there is a lexicon for (ISO 639-1)."""
    return tuple(name for name in _data() if len(name) == 2)


@cache
def sensitive() -> frozenset[str]:
    """Return the words of secrets, payments and contacts: only an entry's own may be said."""
    return frozenset(plain(word) for word in _data()["sensitive"].split())


@cache
def heads() -> frozenset[str]:
    """Return what may stand before a colon to say which field follows, in any language."""
    return frozenset(" ".join(_plain_words(head)) for head in _data()["heads"])


@cache
def lexicon(language: str) -> Lexicon:
    """Return the lexicon of a language, the English one where there is none of it."""
    language = language if language in languages() else "en"
    data = _data()[language]
    phrases: dict[str, list[tuple[Phrase, str]]] = {}
    for kind in OPERATORS:
        for phrase in _phrases(data.get(kind)):
            phrases.setdefault(phrase[0], []).append((phrase, kind))
    numbers: dict[str, list[tuple[Phrase, int]]] = {}
    for phrase, value in _numbers(data):
        numbers.setdefault(phrase[0], []).append((phrase, value))
    return Lexicon(
        language=language,
        glue=_words(data["glue"]),
        loose=_words(data["loose"]),
        labels={kind: _words(words) for kind, words in data["label"].items()},
        phrases={first: _longest_first(found) for first, found in phrases.items()},
        numbers={first: _longest_first(found) for first, found in numbers.items()},
        units={form: unit for unit, forms in data["units"].items() for form in _words(forms)},
        working=_words(data["working"]),
        weekdays={plain(day): number for number, day in enumerate(data["weekdays"])},
        one=_words(data["article_one"]),
        wants=tuple(_phrases(data["wants"])),
        courtesies=re.compile(
            "(?:" + "|".join(f"(?:{each})" for each in data["courtesies"]) + r")(?!\w)"
        ),
        condolence=_words(data["condolence"]),
        kin=_words(data["kin"]),
        kind=_words(data["kind"]),
        denial=_words(data["denial"]),
        exact=_words(data["exact"]),
    )


@cache
def glue_of_all() -> Mapping[str, frozenset[str]]:
    """Return the glue words of each language, by which one tells it."""
    return {name: lexicon(name).glue for name in languages()}


@lru_cache(maxsize=16384)
def plain(word: str) -> str:
    """Return a word in lower case without its accents."""
    apart = unicodedata.normalize("NFKD", word.casefold()).translate(_LIGATURES)
    return "".join(c for c in apart if unicodedata.category(c) != "Mn")


@lru_cache(maxsize=16384)
def stem(word: str, language: str) -> str:
    """Return the stem of a word, without accents; an irregular form has that of its verb."""
    word = _irregular(language).get(word.lower(), word)
    # A stemmer keeps state while it works, so each thread has its own.
    kept: dict[str, Any] = _local.__dict__.setdefault("stemmers", {})
    name = _data().get(language, _data()["en"])["stemmer"]
    if name not in kept:
        kept[name] = snowballstemmer.stemmer(name)
    return plain(kept[name].stemWord(unicodedata.normalize("NFC", word.lower()))) or plain(word)


@cache
def _irregular(language: str) -> Mapping[str, str]:
    pairs = (
        pair.partition("=") for pair in _data().get(language, _data()["en"])["irregular"].split()
    )
    return {form: base for form, _, base in pairs}


def _words(text: str) -> frozenset[str]:
    return frozenset(word for part in text.split() for word in _plain_words(part))


def _plain_words(text: str) -> list[str]:
    return _WORD.findall(plain(text))


def _phrases(text: str | None) -> Iterator[Phrase]:
    for part in (text or "").split(","):
        if words := _plain_words(part):
            yield tuple(words)


def _longest_first(found: Iterable[tuple[Phrase, Any]]) -> tuple[tuple[Phrase, Any], ...]:
    return tuple(sorted(found, key=lambda item: -len(item[0])))


def _numbers(data: Mapping[str, Any]) -> Iterator[tuple[Phrase, int]]:
    """Yield every written number up to 99, and the hundreds and thousands alone."""
    ones = [plain(word) for word in data["numbers"].split()]
    tens = [plain(word) for word in data["tens"].split()]
    said: dict[str, int] = {word: value for value, word in enumerate(ones)}
    for number, ten in enumerate(tens, 2):
        said[ten] = number * 10
        for value, one in enumerate(ones[1:], 1):
            if value < 10 or (ten.endswith(("soixante", "vingt")) and value < 20):
                amount = number * 10 + value
                said[f"{ten}-{one}"] = said[f"{ten} et {one}"] = said[f"{ten} y {one}"] = amount
                said[f"{one.removesuffix('s') if value == 1 else one}und{ten}"] = amount
                said[f"{ten}s"] = number * 10
    said[plain(data["hundred"])] = 100
    said[plain(data["thousand"])] = 1000
    for word, value in said.items():
        yield tuple(_plain_words(word)), value
