"""Atoms: a sentence as the words and facts that a claim is judged by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ieim.pipeline.claims.lexicon import Lexicon, plain, stem
from ieim.pipeline.facts import Fact, facts
from ieim.pipeline.facts.reading import MARKS, Reading, read

_TOKEN = re.compile(rf"\d+(?:[.,]\d+)*(?![\w{MARKS}])|[\w{MARKS}]+")
_CLOCK = re.compile(
    r"(?<![\d.,:])(\d{1,2})(?:\s?[:h]\s?([0-5]\d)|[.]([0-5]\d)(?=\s?(?:[ap]\.?m\b|uhr)))?"
    r"\s?([ap]\.?m\b\.?|uhr|h\b|o'clock)?(?![\d%])",
    re.IGNORECASE,
)
_NOT = re.compile(r"(?<=[a-z])n't(?![a-z])", re.IGNORECASE)
_EMAIL = re.compile(r"(?<![^\W_])e-mail", re.IGNORECASE)
_CURRENCY = re.compile(r"\b([A-Z]{3})\s?(?=\d)|(?<=\d)\s?([A-Z]{3})\b")
_RANGE = re.compile(r"\s?(?:-|–|—|to|till|until|bis|au|à|a)\s?", re.IGNORECASE)


class Atom(NamedTuple):
    """One word or fact at ``start`` to ``end`` of the reading, after the characters ``gap``.

    ``kind`` is ``word`` (content), ``glue``, ``loose``, ``fact``, or an operator's class; ``value``
    its stem, the normalised fact, or the plain phrase. ``word`` is the plain word as written.
    """

    kind: str
    value: object
    word: str
    gap: str
    start: int
    end: int
    fact: Fact | None = None


class Quantity(NamedTuple):
    """A number with its unit of time, or without one; "5 days, potholes in 15" implies one."""

    value: str
    unit: str
    implied: str = ""


def tokens_of(text: str) -> tuple[Reading, str]:
    """Return the reading of a text and its characters with contractions taken apart."""
    reading = read(text)
    said = _EMAIL.sub(" email", _NOT.sub(" no", reading.text))
    return reading, said


def atoms(said: str, words: Lexicon) -> list[Atom]:
    """Return the atoms of one sentence, from left to right. Linear."""
    # A code beside a number is a currency, whether ISO 4217 has it or not.
    codes = [code for found in _CURRENCY.findall(said) for code in found if code]
    taken = {fact.start: fact for fact in facts(said, currencies=codes)}
    reach = [(fact.start, fact.end) for fact in taken.values()]
    for start, end, value in _clocks(said):
        if not any(a < end and start < b for a, b in reach):
            taken[start] = Fact("date", start, end, said[start:end], value)
            reach.append((start, end))
    tokens: list[tuple[int, int, Fact | None]] = [(a, b, taken[a]) for a, b in sorted(reach)]
    free = list(_free_tokens(said, sorted(reach)))
    tokens = sorted(tokens + [(a, b, None) for a, b in free], key=lambda token: token[0])
    return list(_implied(_atoms(said, tokens, words)))


def _implied(found: Iterable[Atom]) -> Iterator[Atom]:
    """Give a bare number the unit of the number before it, which it may share."""
    unit = before = ""
    for atom in found:
        if isinstance(atom.value, Quantity):
            if atom.value.unit:
                unit = atom.value.unit
            elif unit and before not in ("minimum", "maximum", "over", "under"):
                atom = atom._replace(value=atom.value._replace(implied=unit))
        before = atom.kind
        yield atom


def _free_tokens(said: str, reach: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    index = 0
    for match in _TOKEN.finditer(said):
        while index < len(reach) and reach[index][1] <= match.start():
            index += 1
        if index < len(reach) and reach[index][0] < match.end():
            continue
        # Two words that an underscore joins are two words.
        at = match.start()
        for piece in match[0].split("_"):
            if piece:
                yield at, at + len(piece)
            at += len(piece) + 1


def _clocks(said: str) -> Iterator[tuple[int, int, str]]:
    for match in _CLOCK.finditer(said):
        hour, colon, point, mark = match.groups()
        if colon is None and mark is None:
            continue
        number, minute = int(hour), colon or point or "00"
        if mark and mark[0].lower() == "p" and number < 12:
            number += 12
        if mark and mark[0].lower() == "a" and number == 12:
            number = 0
        yield match.start(), match.end(), f"at {number:02}:{minute}"


def _atoms(said: str, tokens: list[tuple[int, int, Fact | None]], words: Lexicon) -> Iterator[Atom]:
    plains = ["" if fact else plain(said[start:end]) for start, end, fact in tokens]
    at = last = 0
    while at < len(tokens):
        start, end, fact = tokens[at]
        gap = said[last:start]
        size, kind = 1, ""
        value: object = None
        if fact:
            kind, value = "fact", (fact.kind, fact.value)
        else:
            size, kind, value = _read_one(said, tokens, plains, at, words)
            end = tokens[at + size - 1][1]
        yield Atom(kind, value, " ".join(plains[at : at + size]), gap, start, end, fact)
        last = end
        at += size


def _read_one(
    said: str,
    tokens: list[tuple[int, int, Fact | None]],
    plains: list[str],
    at: int,
    words: Lexicon,
) -> tuple[int, str, object]:
    word = plains[at]
    number, size = _number(plains, at, words)
    if number is not None:
        unit, more = _unit(plains, at + size, words)
        if unit or word not in words.one:
            return size + more, "fact", Quantity(number, unit)
    if word in words.weekdays:
        return _weekday(said, tokens, plains, at, words)
    for phrase, kind in words.phrases.get(word, ()):
        if tuple(plains[at : at + len(phrase)]) == phrase and _is_operator(
            kind, phrase, tokens, plains, at + len(phrase), words
        ):
            return len(phrase), kind, " ".join(phrase)
    if word in words.glue:
        return 1, "glue", word
    start, end, _ = tokens[at]
    root = stem(said[start:end], words.language)
    return 1, "loose" if word in words.loose else "word", root


_NUMERIC_ONLY = frozenset(
    [
        "you",
        "vous",
        "about",
        "over",
        "above",
        "under",
        "by",
        "around",
        "from",
        "sous",
        "unos",
        "etwa",
        "ungefahr",
        "ab",
        "uber",
        "unter",
        "bis",
        "depuis",
        "des",
        "within",
        "hasta",
        "till",
    ]
)


def _is_operator(
    kind: str,
    phrase: tuple[str, ...],
    tokens: list[tuple[int, int, Fact | None]],
    plains: list[str],
    at: int,
    words: Lexicon,
) -> bool:
    """Whether a phrase turns a meaning here: some do so only before a number or a date."""
    if phrase[0] not in _NUMERIC_ONLY or (len(phrase) > 1 and kind != "within"):
        return True
    for index in range(at, min(at + 3, len(tokens))):
        if tokens[index][2] or _number(plains, index, words)[0] is not None:
            return True
        if plains[index] in words.weekdays:
            return True
        if plains[index] not in words.glue:
            return False
    return False


def _number(plains: list[str], at: int, words: Lexicon) -> tuple[str | None, int]:
    """Return the number that begins at a token, in figures or written out, and its tokens."""
    if at >= len(plains):
        return None, 0
    word = plains[at]
    if word[:1].isdigit() and word.replace(",", "").replace(".", "").isdigit():
        return word.replace(",", "").rstrip(".") or word, 1
    total = current = size = 0
    while found := _written(plains, at + size, words):
        value, more = found
        if value >= 100 and size:
            current = max(current, 1) * value
            if value == 1000:
                total, current = total + current, 0
        elif size and (current % 100 if current >= 100 else current):
            break  # two numbers beside each other
        else:
            current += value
        size += more
    return (str(total + current), size) if size else (None, 0)


def _written(plains: list[str], at: int, words: Lexicon) -> tuple[int, int] | None:
    if at >= len(plains):
        return None
    for phrase, value in words.numbers.get(plains[at], ()):
        if tuple(plains[at : at + len(phrase)]) == phrase:
            return value, len(phrase)
    if plains[at] in words.one:
        return 1, 1
    return None


def _unit(plains: list[str], at: int, words: Lexicon) -> tuple[str, int]:
    """Return the unit of time that stands at a token, with "working" before or after it."""
    here, following = (plains[i] if i < len(plains) else "" for i in (at, at + 1))
    if here in words.working and following in words.units:
        return f"working {words.units[following]}", 2
    if here in words.units:
        if following in words.working:
            return f"working {words.units[here]}", 2
        return words.units[here], 1
    return "", 0


def _weekday(
    said: str,
    tokens: list[tuple[int, int, Fact | None]],
    plains: list[str],
    at: int,
    words: Lexicon,
) -> tuple[int, str, object]:
    """Return a weekday, or two with all days between them."""
    first = words.weekdays[plains[at]]
    for index in (at + 1, at + 2):
        if index < len(plains) and plains[index] in words.weekdays:
            between = said[tokens[at][1] : tokens[index][0]]
            if _RANGE.fullmatch(between):
                return index - at + 1, "fact", ("days", first, words.weekdays[plains[index]])
    return 1, "fact", ("day", first)
