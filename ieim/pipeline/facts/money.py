"""Amounts of money and percentages in a reading, in figures and in English words.

An amount's currency is named by its ISO 4217 code, or by a family of codes where a sign or a word
leaves the country open (``money.yaml``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ieim.pipeline.facts.reading import SYMBOLS, Hit

UNSAID = "?"
"""The code of a missing currency: "The fee is 46." """

_DATA: Mapping[str, Any] = yaml.safe_load(
    Path(__file__).with_name("money.yaml").read_text(encoding="utf-8")
)
_ISO_CODES = frozenset(_DATA["iso_codes"].split())
_ALSO_WORDS = frozenset(_DATA["also_words"].split())
_NEVER_BEFORE = frozenset(_DATA["never_before"].split())
_FAMILIES = {name: frozenset(codes.split()) for name, codes in _DATA["families"].items()}
_WORDS = {word: name for name, words in _DATA["words"].items() for word in words.split()}
_MINOR_UNITS: Mapping[str, str] = _DATA["minor_units"]
_SIGNS: Mapping[str, str] = _DATA["signs"]
_ABBREVIATIONS: Mapping[str, str] = _DATA["abbreviations"]
_ADJECTIVES: Mapping[str, str] = _DATA["adjectives"]
_DOLLARS: Mapping[str, str] = _DATA["dollars"]
_SCALES: Mapping[str, int] = _DATA["scales"]
_UNITS = {word: value for value, word in enumerate(_DATA["units"].split())} | {
    word: 10 * value for value, word in enumerate(_DATA["tens"].split(), 2)
}

# Longest reading first: in thousands, in lakhs and crores, plain. Repeats are bounded, so that a
# long row of groups costs each of them the same.
_NUMBERS = tuple(
    map(
        re.compile,
        (
            r"\d{1,3}(?:([.,' ])\d{3}(?!\d)(?:\1\d{3}(?!\d)){0,5})(?:[.,]\d{1,3}(?![.,]?\d))?",
            r"\d{1,2}(?:,\d{2}){1,4},\d{3}(?!\d)(?:\.\d{1,2}(?!\d))?",
            r"\d{1,15}(?!\d)(?:[.,]\d{1,9}(?!\d))?",
        ),
    )
)
_SCALE = re.compile(
    r"(?:\s?(thousand|million|billion|trillion|lakh|crore)s?|(k|mn|m|bn))(?![^\W_])", re.IGNORECASE
)
_SIGN_BEFORE = re.compile(rf"([A-Za-z]{{0,3}})([{SYMBOLS}])[\s:=)|]{{0,3}}\Z")
_WORD_BEFORE = re.compile(r"(?<![^\W\d_])([^\W\d_]{2,4})\.?[\s:=)|]{0,3}\Z")
_LONGEST_CURRENCY = 12
"""How far before a number its currency may begin, in characters."""
_SIGN_AFTER = re.compile(rf"(?:[.,][-–])?[\s(|]{{0,3}}([{SYMBOLS}])(?!\d)")
_WORDS_AFTER = re.compile(
    r"(?:[.,][-–])?([\s(|]{0,3})(U\.S\.|[^\W\d_]{1,12}+)(?!\d)(?:\s([^\W\d_]{3,12}+)(?!\d))?"
)
_PERCENT = re.compile(
    r"\s?(?:%|\u066a|(?:per\s?cent|percentage points?|pct)(?![^\W_]))", re.IGNORECASE
)
_UP_TO = re.compile(r"[-–](?=\d)|\s(?:to|or|and)\s")
_ON_TO = re.compile(r"[-–]|\sto\s")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NUMBER_NEXT = re.compile(r"\s\d")
_DIGITS = re.compile(r"\d+")
# What says that a number without a currency is an amount: "The fee is 46."
_COST_BEFORE = re.compile(
    r"(?<![^\W\d_])(?:costs?|fees?|prices?|charges?)"
    r"(?: (?:is|are|of|was|only|now|just|about)){0,2}(?: | ?[:=] ?)\Z",
    re.IGNORECASE,
)
_LONGEST_COST = 40
# What may follow such an amount: no thing that it counts, as in "it costs 2 visits".
_NOTHING_COUNTED = re.compile(
    r"\s?(?:[.,;:!?)|]|\Z|\n|\s?(?:[-–]\d|(?:for|per|each|plus|if|when|in|to|and|or|at)(?!\w)))",
    re.IGNORECASE,
)
# The number of an item, as in "Fees: 1. Visas 2. Passports".
_ITEM = re.compile(r"\d{1,2}[.)]\s")

# "three of them won" is English; so is what has two letters.
_THOUSANDS = {"thousand": 10**3, "million": 10**6}
_NUMBER_WORD = "|".join([*sorted(_UNITS, key=len, reverse=True), "hundred", *_THOUSANDS])
_NAMES = {word: name for word, name in _WORDS.items() if len(word) > 2 and word != "won"}
_NAMES |= {f"{word}s": name for word, name in _NAMES.items() if f"{word}s" not in _NAMES}
_WORD = re.compile(r"[^\W\d_]+")
# Repeats are bounded, so that a long row of numbers costs each of them the same.
_WORDS_BEFORE = re.compile(
    rf"(?<![\w-])((?:an?\s(?=hundred|thousand|million))?(?:{_NUMBER_WORD})"
    rf"(?:(?:\s|-|\sand\s)(?:{_NUMBER_WORD})){{0,10}})\s(?:([a-z]{{2,12}}|u\.s\.)\s)?\Z",
    re.IGNORECASE,
)
_LONGEST_WORDS = 120
"""How far before a currency its number in words may begin, in characters."""


# A code next to a number is a currency, whether ISO 4217 lists it or not.
_CODE = re.compile(r"\b([A-Z]{3})\s?(?=\d)|(?<=\d)\s?([A-Z]{3})\b")


class _Currency(NamedTuple):
    """A currency as found: its name, where it begins or ends, 100 for a cent, else 1."""

    name: str
    at: int
    divisor: int = 1


def hits(text: str, starts: Iterable[int], currencies: Collection[str]) -> Iterator[Hit]:
    """Yield every amount and percentage whose number begins at one of ``starts``.

    ``currencies`` are codes beyond ISO 4217 that count when written in capitals. Hits may overlap.
    """
    for start in starts:
        yield from _before(text, start, currencies)
        yield from _after(text, start, currencies)
        yield from _bare(text, start)


def hits_in_words(text: str) -> Iterator[Hit]:
    """Yield every amount whose number is written in words before a currency's name."""
    # Most texts name no currency in words, and this is the quickest way to know.
    if _NAMES.keys().isdisjoint(_WORD.findall(text.lower())):
        return
    for currency in _WORD.finditer(text):
        name = _NAMES.get(currency[0].lower())
        if name is None:
            continue
        start = max(0, currency.start() - _LONGEST_WORDS)
        number = _WORDS_BEFORE.search(text, start, currency.start())
        if number is None or (number[2] and number[2].islower() and number[2] != "u.s."):
            continue
        hit = _of_word(_whose(number[2], name), currency.end())
        value = _value(hit, str(_number_in_words(number[1].lower())), 0)
        yield Hit("money", number.start(), currency.end(), value)


def amounts(text: str) -> set[str]:
    """Return the values of all numbers of a reading that is known to give amounts only."""
    result = set()
    at = 0
    while digits := _DIGITS.search(text, at):
        number = _number(text, digits.start())
        if number:
            result.add(_value(_Currency(UNSAID, 0), number[0], 0))
        at = (number or digits).end()
    return result


def codes(text: str) -> Iterator[str]:
    """Yield the words of three capitals that are next to a number, as currency codes are."""
    return (match[1] or match[2] for match in _CODE.finditer(text))


def same_amount(stated: str, published: str) -> bool:
    """Whether ``published`` gives the amount ``stated`` (values).

    Where the one that is stated does not say its currency the other gives it, never the other way
    round; a family of currencies is each of its members.
    """
    (one, amount), (other, published_amount) = stated.split(" "), published.split(" ")
    return amount == published_amount and (
        one in (UNSAID, other)
        or other in _FAMILIES.get(one, frozenset())
        or one in _FAMILIES.get(other, frozenset())
    )


def _bare(text: str, start: int) -> Iterator[Hit]:
    """Yield the amount that is called one and does not say its currency, unless it is nothing."""
    cost = _COST_BEFORE.search(text, max(0, start - _LONGEST_COST), start)
    if cost is None or (":" in cost[0] and _ITEM.match(text, start)):
        return
    number = _number(text, start)
    if number is None or _YEAR.fullmatch(number[0]):
        return
    if number[0].strip("0.,") and _NOTHING_COUNTED.match(text, number.end()):
        yield Hit("money", start, number.end(), _value(_Currency(UNSAID, 0), number[0], 0))


def _before(text: str, start: int, currencies: Collection[str]) -> Iterator[Hit]:
    """Yield the amount after a currency, and the other end of its range."""
    currency = _currency_before(text, start, currencies)
    number = _number(text, start)
    if currency is None or number is None:
        return
    scale, end = _scaled(text, number.end())
    yield Hit("money", currency.at, end, _value(currency, number[0], scale))
    if (joint := _ON_TO.match(text, end)) and (other := _number(text, joint.end())):
        scale, end = _scaled(text, other.end())
        yield Hit("money", other.start(), end, _value(currency, other[0], scale))


def _after(text: str, start: int, currencies: Collection[str]) -> Iterator[Hit]:
    """Yield the amount or percentage whose unit follows, at once or after the end of its range."""
    for pattern in _NUMBERS:
        number = pattern.match(text, start)
        if number is None:
            continue
        if percent := _PERCENT.match(text, number.end()):
            yield Hit("percent", start, percent.end(), _decimal(number[0], percent=True))
            return
        scale, end = _scaled(text, number.end())
        currency = _currency_after(text, end, currencies)
        # The code in "in 2026 EUR 40" belongs to what follows.
        if currency and not (_YEAR.fullmatch(number[0]) and _NUMBER_NEXT.match(text, currency.at)):
            yield Hit("money", start, currency.at, _value(currency, number[0], scale))
            return
        joint = _UP_TO.match(text, end)
        other = _number(text, joint.end()) if joint else None
        if other is None:
            continue
        if _PERCENT.match(text, other.end()):
            yield Hit("percent", start, end, _decimal(number[0], percent=True))
            return
        if currency := _currency_after(text, _scaled(text, other.end())[1], currencies):
            yield Hit("money", start, end, _value(currency, number[0], scale))
            return


def _number(text: str, start: int) -> re.Match[str] | None:
    return next((m for pattern in _NUMBERS if (m := pattern.match(text, start))), None)


def _scaled(text: str, end: int) -> tuple[int, int]:
    """Return the power of ten of a word such as "million" at ``end``, and where it ends."""
    match = _SCALE.match(text, end)
    return (_SCALES[(match[1] or match[2]).lower()], match.end()) if match else (0, end)


def _currency_before(text: str, start: int, currencies: Collection[str]) -> _Currency | None:
    begin = max(0, start - _LONGEST_CURRENCY)
    if sign := _SIGN_BEFORE.search(text, begin, start):
        letters, symbol = sign.groups()
        if symbol == "$" and (name := _DOLLARS.get(letters.upper())):
            return _Currency(name, sign.start())
        return _Currency(_SIGNS.get(symbol, symbol), sign.start(2))
    word = _WORD_BEFORE.search(text, begin, start)
    if word is None:
        return None
    name = _ABBREVIATIONS.get(word[1])
    if name is None and word[1].upper() not in _NEVER_BEFORE:
        name = _code(word[1], currencies) or ("EUR" if word[1].lower() == "euro" else None)
    return _Currency(name, word.start()) if name else None


def _currency_after(text: str, end: int, currencies: Collection[str]) -> _Currency | None:
    if sign := _SIGN_AFTER.match(text, end):
        return _of_word(_SIGNS.get(sign[1], sign[1]), sign.end())
    words = _WORDS_AFTER.match(text, end)
    if words is None:
        return None
    first, second = words[2], words[3]
    if first == "p" and not words[1]:
        return _of_word("pence", words.end(2))
    if name := _code(first, currencies) or _word(first):
        return _of_word(name, words.end(2))
    if second and first[0].isupper() and (name := _word(second)):
        return _of_word(_whose(first, name), words.end(3))
    return None


def _of_word(name: str, end: int) -> _Currency:
    minor = _MINOR_UNITS.get(name)
    return _Currency(minor, end, 100) if minor else _Currency(name, end)


def _whose(adjective: str | None, name: str) -> str:
    """Return whose dollars an adjective says; any other currency stays what it is."""
    return _ADJECTIVES.get((adjective or "").lower(), name) if name == "dollar" else name


def _code(word: str, currencies: Collection[str]) -> str | None:
    """Return the code that ``word`` is; lower case does not do where it is an English word."""
    if word in currencies:
        return word
    code = word.upper()
    return code if code in _ISO_CODES and (word == code or code not in _ALSO_WORDS) else None


def _word(word: str) -> str | None:
    lower = word.lower()
    return _WORDS.get(lower) or _WORDS.get(lower.removesuffix("s"))


def _value(currency: _Currency, number: str, scale: int) -> str:
    amount = Decimal(_decimal(number)).scaleb(scale) / currency.divisor
    return f"{currency.name} {amount.normalize():f}"


def _decimal(number: str, *, percent: bool = False) -> str:
    """Return a written number as a plain decimal without needless zeros.

    The last point or comma marks decimals unless three digits follow it, as they do in thousands;
    a percentage has no thousands marked by a point.
    """
    parts = re.split(r"[.,' ]", number)
    marks = re.findall(r"[.,' ]", number)
    whole, fraction = "".join(parts), ""
    if marks and marks[-1] in ".," and marks[-1] not in marks[:-1]:
        thousands = len(parts[-1]) == 3 and parts[0] != "0" and len(marks) == 1
        if not thousands or (percent and marks[-1] == "."):
            whole, fraction = "".join(parts[:-1]), parts[-1].rstrip("0")
    whole = whole.lstrip("0") or "0"
    return f"{whole}.{fraction}" if fraction else whole


def _number_in_words(words: str) -> int:
    total = part = 0
    for word in _WORD.findall(words):
        if word in _THOUSANDS:
            total, part = total + max(part, 1) * _THOUSANDS[word], 0
        elif word == "hundred":
            part = max(part, 1) * 100
        else:
            part += _UNITS.get(word, 0)
    return total + part
