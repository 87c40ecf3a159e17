"""Terms: a text as sentences, and a sentence as the words and facts that it is compared by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ieim.pipeline.facts import Fact, facts, matches, money
from ieim.pipeline.facts.reading import MARKS, read
from ieim.pipeline.quoting.lexicon import Lexicon, plain, stem

ALIKE = 3
"""How many letters two words begin with at least that differ only by their endings."""

_LINE = re.compile(r"[^\n\r\x0b\x0c\x85\u2028\u2029]+")
_END = re.compile(
    r"(?<!\b[A-Z])(?<!\b(?:No|Dr|Mr|Ms|St))(?<!\b(?:e\.g|i\.e|Mrs|Inc|Ltd))"
    r"(?:[.!?…][\"”’')\]*_]*(?=\s)|[。！？｡])\s*"
    r"|(?<=\bNo)(?<![\w,;:(] No)\.\s+(?=\D)"  # the answer, not the number
)
_ASKS = ("?", "؟", "？")
_ITEM = re.compile(r"\s*(?:>\s*)*(?:#{1,6}\s+|[-*+•‣▪–—]\s+|\d{1,3}[.)]\s+)?")
_TOKEN = re.compile(rf"\d+(?:[.,]\d+)*(?![^\W_{MARKS}])|(?:(?!_)[\w{MARKS}])+")
_BREAK = re.compile(r"[,;:()\[\]—–|/\n]|\s-\s")
_EMAIL = re.compile(r"(?<![^\W_])e-mail", re.IGNORECASE)
_MOST_NUMBER_WORDS = 4


class Sentence(NamedTuple):
    """A sentence or list item at code points ``start`` to ``end`` (half-open) of the text."""

    start: int
    end: int


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of ``text``; each line is its own, without the mark of its list item.

    Those with no letter or digit are left out. Linear; any str is taken.
    """
    for line in _LINE.finditer(text):
        start = line.start()
        if mark := _ITEM.match(text, start, line.end()):
            start = mark.end()
        for end in [match.end() for match in _END.finditer(text, start, line.end())] + [line.end()]:
            piece = text[start:end]
            left = len(piece) - len(piece.lstrip())
            if any(map(str.isalnum, piece)):
                yield Sentence(start + left, start + len(piece.rstrip()))
            start = end


def questions(text: str) -> list[Sentence]:
    """Return the sentences of ``text`` that end as a question does."""
    return [s for s in sentences(text) if text[s.start : s.end].endswith(_ASKS)]


class Term(NamedTuple):
    """One word, phrase or fact of a sentence.

    ``kind`` is ``word``, ``faint``, ``ignored``, ``fact`` or a class of phrases; ``value`` a stem,
    a normalised fact or the class; ``word`` the plain word. ``opens`` says that a part of the
    sentence begins here: after punctuation, or with a word that joins.
    """

    kind: str
    value: object
    word: str
    opens: bool
    fact: Fact | None = None


def terms(sentence: str, words: Lexicon) -> list[Term]:
    """Return the terms of one sentence, from left to right. Linear; any str is taken."""
    text = _EMAIL.sub(" email", read(sentence).text)
    found = facts(text, currencies=set(money.codes(text)))
    tokens = sorted(
        [(fact.start, fact.end, fact) for fact in found] + list(_between(text, found)),
        key=lambda token: token[0],
    )
    plains = ["" if fact else plain(text[start:end]) for start, end, fact in tokens]
    result: list[Term] = []
    at = last = 0
    while at < len(tokens):
        start, end, fact = tokens[at]
        size, kind, value = (
            (1, "fact", (fact.kind, fact.value))
            if fact
            else _read(text[start:end], plains, at, words)
        )
        opens = bool(_BREAK.search(text, last, start)) or plains[at] in words.joins
        result.append(Term(kind, value, " ".join(plains[at : at + size]), opens, fact))
        at += size
        last = tokens[at - 1][1]
    return result


def _between(text: str, found: Sequence[Fact]) -> Iterator[tuple[int, int, None]]:
    """Yield where words and numbers stand that belong to no fact."""
    index = 0
    for match in _TOKEN.finditer(text):
        while index < len(found) and found[index].end <= match.start():
            index += 1
        if index == len(found) or found[index].start >= match.end():
            yield match.start(), match.end(), None


def _read(written: str, plains: Sequence[str], at: int, words: Lexicon) -> tuple[int, str, object]:
    """Return how many tokens the term at ``at`` takes, its kind and its value."""
    word = plains[at]
    for phrase, name in words.phrases.get(word, ()):
        if tuple(plains[at : at + len(phrase)]) == phrase:
            return len(phrase), name, name
    if word[:1].isdecimal():
        number = word.replace(",", "")
        return 1, "fact", ("number", number.lstrip("0") or "0")
    if word in words.weekdays:
        return 1, "fact", ("weekday", words.weekdays[word])
    if not word or word in words.ignored:
        return 1, "ignored", word
    for size in range(min(_MOST_NUMBER_WORDS, len(plains) - at), 0, -1):
        amount = words.numbers.get(tuple(plains[at : at + size]))
        if amount is not None:
            return size, "fact", ("number", str(amount))
    return 1, "faint" if word in words.faint else "word", stem(written, words.language)


def same_fact(one: Term, other: Term) -> bool:
    """Whether ``other`` gives the fact that ``one`` states."""
    if one.value == other.value:
        return True
    return bool(one.fact and other.fact and matches(one.fact, [other.fact]))


@lru_cache(maxsize=65536)
def akin(one: str, two: str) -> bool:
    """Whether two stems differ only by their endings: the stemmers leave some on."""
    if one[:ALIKE] != two[:ALIKE] or len(one) < ALIKE:
        return False
    same = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), None)
    same = min(len(one), len(two)) if same is None else same
    rests = {one[same:], two[same:]}
    if rests <= _VERBAL and rests & _PLURAL:
        return True
    longest = max(map(len, rests))
    return (same >= 5 and longest <= 3) or (same == 4 and longest <= 2)


# Endings that the French stemmer leaves on short verbs: "vivez", "vivent".
_PLURAL = frozenset(["ez", "ent", "ons"])
_VERBAL = _PLURAL | {"", "e", "es"}
