"""Facts: what free text states that can be checked against a source, found and normalised.

URLs, e-mail addresses, amounts of money, percentages, dates and telephone numbers. Both the reply
and its sources are read in the same way, so that two spellings of one fact meet; what is doubtful
counts as a fact. Linear in the length of the text; no str raises.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ieim.pipeline.facts import dates, money, phones, web
from ieim.pipeline.facts.reading import Hit, Kind, read
from ieim.pipeline.facts.web import url_value

__all__ = ["Fact", "Kind", "facts", "figures", "matches", "url_value"]

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact: ``text`` is at code points ``start`` to ``end`` (half-open) of the text read.

    ``value`` is the normalised form: for a URL :func:`url_value`; an e-mail address in lower case;
    for money ``"EUR 12.5"``, or ``"? 12.5"`` without a currency; for a percentage
    ``"12.5"``; for a date see :mod:`ieim.pipeline.facts.dates`; for a telephone number its digits,
    after ``+`` when it is international. Values are compared with :func:`matches`.
    """

    kind: Kind
    start: int
    end: int
    text: str
    value: str


def facts(text: str, *, currencies: Collection[str] = ()) -> list[Fact]:
    """Return the facts of ``text`` from left to right, none overlapping; the longest wins.

    ``currencies`` are currency codes in capitals beyond those of ISO 4217.
    """
    reading = read(text)
    groups = [match.span() for match in _DIGITS.finditer(reading.text)]
    candidates = [*web.hits(reading.text), *money.hits_in_words(reading.text)]
    if groups:
        starts = [start for start, _ in groups]
        candidates += money.hits(reading.text, starts, currencies)
        candidates += dates.hits(reading.text, starts)
    occupied = bytearray(len(reading.text))
    hits = _longest(candidates, occupied)
    if groups:
        # Last, because any digits may look like a telephone number.
        hits += phones.hits(reading.text, groups, occupied)
    result = []
    for kind, start, end, value in sorted(hits, key=lambda hit: hit.start):
        begin, stop = reading.where[start], reading.where[end - 1] + 1
        result.append(Fact(kind, begin, stop, text[begin:stop], value))
    return result


def figures(text: str) -> list[str]:
    """Return the groups of digits of ``text``, which are the same in every language.

    They are no numbers: 1,250.00 is 1 250,00 elsewhere.
    """
    return _DIGITS.findall(text)


def matches(fact: Fact, published: Iterable[Fact]) -> bool:
    """Whether one of ``published`` gives ``fact``.

    A date may be stated less fully than it is known, a telephone number nationally or without its
    area code, an amount without saying whose dollars; never the other way round, but for a country
    code.
    """
    return any(fact.kind == other.kind and _same(fact, other) for other in published)


def _same(fact: Fact, other: Fact) -> bool:
    if fact.value == other.value:
        return True
    if fact.kind == "date":
        return dates.same(fact.value, other.value)
    if fact.kind == "phone":
        return phones.same(fact.value, other.value)
    if fact.kind == "money":
        return money.same_amount(fact.value, other.value)
    return False


def _longest(candidates: list[Hit], occupied: bytearray) -> list[Hit]:
    """Return the hits that no longer one overlaps, and mark their characters in ``occupied``."""
    hits = []
    for hit in sorted(candidates, key=lambda hit: (hit.start - hit.end, hit.start)):
        if occupied.find(1, hit.start, hit.end) < 0:
            occupied[hit.start : hit.end] = bytes([1]) * (hit.end - hit.start)
            hits.append(hit)
    return hits
