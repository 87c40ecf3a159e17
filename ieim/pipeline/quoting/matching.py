"""Matching: the sentences of the entries that a free text was made from.

For each sentence of the text those of the entries are looked for that have most of its words and
facts; a word counts the more, the fewer sentences have it. What is found are the entries' own
sentences, so nothing that the text adds, leaves out or turns round is in them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import log
from typing import NamedTuple

from ieim.pipeline.knowledge import Agency, Service
from ieim.pipeline.quoting.lexicon import Lexicon, language_of, lexicon
from ieim.pipeline.quoting.terms import ALIKE, Sentence, Term, akin, same_fact, sentences, terms

LONGEST = 3000
"""Characters of the longest sentence that is read, of a text or an entry."""
MOST_SENTENCES = 30
"""Sentences of a text that are looked at: an answer has no more."""
MOST_TERMS = 60
"""Terms of a sentence, or of a part of one, that are looked for."""
MOST_QUOTES = 6
"""Sentences of an entry that one of a text is made from at most."""

LEAST = 1.0
"""What has to be found of a sentence at least: about one word that few others have."""
SHARE = 0.05
"""The share of a sentence that another quote has to add."""
PART_SHARE = 0.3
"""The share of a part of a sentence that its own quote has to have."""
UNQUOTED = 0.6
"""The least share of a sentence in its quotes for it to count as quoted."""

FACT = 3.0
LABEL = 1.5
FAINT = 0.3
WHOLE = 1.5
"""What a sentence counts for that is used whole, compared to one of which a word is used."""

TOGETHER = frozenset(["fees", "time", "about"])
"""Fields that are quoted whole: one of two prices, or conditions, alone says too little."""
SHORT = 300
"""Characters of such a field at most."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What one source says: ``texts`` by the kind of field that each is from; ``names`` are those
    of the source itself."""

    texts: tuple[tuple[str, str], ...]
    names: tuple[str, ...] = ()


def of_service(service: Service, agency: Agency | None) -> Entry:
    """Return the entry of a service with its agency."""
    texts = [
        ("name", service.name),
        ("overview", service.overview),
        ("about", service.applicability_summary),
        *(("requirement", text) for text in service.requirements),
        ("fees", service.fees),
        ("time", service.processing_time),
        *(("step", text) for text in service.how_to_apply),
        ("contact", service.contact),
        ("contact", service.url),
        ("contact", service.path),
    ]
    names = [service.name]
    if agency:
        texts += [("agency", agency.description), ("contact", agency.path)]
        names.append(agency.name)
    return Entry(tuple((kind, text) for kind, text in texts if text.strip()), tuple(names))


class Quote(NamedTuple):
    """A sentence of the field ``kind`` of the entry with the index ``entry``."""

    entry: int
    kind: str
    text: str


def quotes(text: str, entries: Sequence[Entry]) -> list[Quote]:
    """Return the sentences of ``entries`` that ``text`` was made from, in its order, each once.

    A sentence without a similar one in an entry has no quote. No str raises; the time is bounded
    by the size of the entries.
    """
    finder = _Finder(text, entries)
    found: dict[Quote, None] = {}
    for start, end in islice(sentences(text), MOST_SENTENCES):
        if end - start <= LONGEST:
            found |= dict.fromkeys(finder.quotes(text[start:end]))
    return list(found)


def unquoted(text: str, entries: Sequence[Entry], *, question: str = "") -> list[Sentence]:
    """Return the sentences of ``text`` of which one entry has less than :data:`UNQUOTED`.

    Words of courtesy, and those of the citizen's ``question``, need no source. It compares words
    and facts and understands neither: a sentence that turns its source round may count as quoted.
    """
    finder = _Finder(text, entries)
    free = {term.value for term in terms(question[:LONGEST], finder.words)}
    return [
        sentence
        for sentence in islice(sentences(text), MOST_SENTENCES)
        if sentence.end - sentence.start > LONGEST
        or finder.share(text[sentence.start : sentence.end], free) < UNQUOTED
    ]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence or item of an entry, with the kind of its field; ``stems`` are those of its words
    by their first letters."""

    kind: str
    text: str
    terms: tuple[Term, ...]
    stems: Mapping[str, frozenset[str]]

    def has(self, term: Term) -> bool:
        """Whether the unit has what a term says."""
        if term.kind in ("word", "faint"):
            return self.has_word(str(term.value))
        return any(same_fact(term, other) for other in self.terms if other.kind == term.kind)

    def has_word(self, stem: str) -> bool:
        """Whether the unit has a word of this stem, or one that differs only by its ending."""
        others = self.stems.get(stem[:ALIKE], frozenset())
        return stem in others or any(akin(stem, other) for other in others)


class _Read(NamedTuple):
    """An entry as it is read in one language."""

    units: tuple[_Unit, ...]
    names: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=2048)
def _read(entry: Entry, language: str) -> _Read:
    """Return an entry's units and the words of its names. Those of a release stay cached."""
    words = lexicon(language)
    units = [
        _unit(kind, text[start:end], words)
        for kind, text in entry.texts
        for start, end in sentences(text)
        if end - start <= LONGEST
    ]
    names = (tuple(term.word for term in terms(name, words)) for name in entry.names)
    return _Read(tuple(units), tuple(filter(None, names)))


def _unit(kind: str, text: str, words: Lexicon) -> _Unit:
    found = tuple(terms(text, words))
    stems: dict[str, set[str]] = {}
    for term in found:
        if term.kind in ("word", "faint"):
            stems.setdefault(str(term.value)[:ALIKE], set()).add(str(term.value))
    return _Unit(kind, text, found, {start: frozenset(group) for start, group in stems.items()})


class _Finder:
    """Finds the quotes of the sentences of one text."""

    def __init__(self, text: str, entries: Sequence[Entry]) -> None:
        self.words = lexicon(language_of(text))
        self.entries = [_read(entry, self.words.language) for entry in entries]
        self.names = {name for entry in self.entries for name in entry.names}
        self.units = [(i, unit) for i, entry in enumerate(self.entries) for unit in entry.units]
        self.weights: dict[object, float] = {}

    def quotes(self, sentence: str) -> Iterator[Quote]:
        """Yield the quotes of one sentence: of the whole of it, then of each of its parts."""
        found, within = self._without_names(sentence)
        parts: list[list[Term]] = [[]]
        for term in found:
            if term.opens:
                parts.append([])
            parts[-1].append(term)
        picked: dict[int, tuple[int, _Unit]] = {}
        for selected, share, most in (
            (found, SHARE, MOST_QUOTES),
            *((part, PART_SHARE, 1) for part in parts if len(parts) > 1),
        ):
            for each in self._picked(selected, within, share, most):
                picked[id(each[1])] = each
        for index, unit in picked.values():
            for quoted in self._together(index, unit):
                yield Quote(index, quoted.kind, quoted.text)

    def share(self, sentence: str, free: Collection[object]) -> float:
        """Return the share of a sentence (0 to 1) in its quotes from one entry, without the
        values that are ``free``."""
        every, within = self._without_names(sentence)
        found = [
            term
            for term in every
            if term.kind != "faint"
            and term.word not in self.words.courtesy
            and term.value not in free
        ]
        total = sum(map(self._weight, found))
        best = 0.0
        for entry in {index for index, _ in within}:
            units = [each for each in within if each[0] == entry]
            picked = [unit for _, unit in self._picked(found, units, SHARE, MOST_QUOTES)]
            held = [t for t in found if any(u.has(t) or self._labels(t, u) for u in picked)]
            best = max(best, sum(map(self._weight, held)))
        return best / total if total else 1.0

    def _without_names(self, sentence: str) -> tuple[list[Term], list[tuple[int, _Unit]]]:
        """Return the terms of a sentence without the names of entries, and the units that it may
        be made from: of the entries that it names, of all where it names none."""
        found = terms(sentence, self.words)
        words = [term.word for term in found]
        remaining: list[Term] = []
        named: list[tuple[str, ...]] = []
        at = 0
        while at < len(found):
            fits = (n for n in self.names if tuple(words[at : at + len(n)]) == n)
            name = max(fits, key=len, default=())
            if len(name) > 1 or (name and found[at].kind == "word"):
                named.append(name)
                at += len(name)
            else:
                remaining.append(found[at])
                at += 1
        about = [all(name in entry.names for name in named) for entry in self.entries]
        if not any(about):
            about = [any(name in entry.names for name in named) for entry in self.entries]
        return remaining, [each for each in self.units if about[each[0]]]

    def _together(self, index: int, unit: _Unit) -> Iterable[_Unit]:
        """Return the quote of a unit: a fee together with the fees around it, if short."""
        field = [u for i, u in self.units if i == index and u.kind == unit.kind]
        short = sum(len(u.text) for u in field) <= SHORT
        return field if unit.kind in TOGETHER and short else (unit,)

    def _picked(
        self, selected: Sequence[Term], within: Sequence[tuple[int, _Unit]], share: float, most: int
    ) -> Iterator[tuple[int, _Unit]]:
        """Yield the units that together have most of what is wanted, the best first."""
        left = [term for term in selected if term.kind != "ignored"][:MOST_TERMS]
        least = max(LEAST, share * sum(map(self._weight, left)))
        for _ in range(most):
            gain, best = max(
                ((self._gain(left, unit), (index, unit)) for index, unit in within),
                key=lambda found: found[0],
                default=(0.0, None),
            )
            if best is None or gain < least:
                return
            yield best
            left = [t for t in left if not best[1].has(t) and not self._labels(t, best[1])]

    def _gain(self, left: Sequence[Term], unit: _Unit) -> float:
        held = sum(self._weight(term) for term in left if unit.has(term))
        if any(self._labels(term, unit) for term in left):
            held += LABEL
        if not held:
            return 0.0
        return held + WHOLE * held / (held + sum(map(self._weight, unit.terms)))

    def _labels(self, term: Term, unit: _Unit) -> bool:
        """Whether a term says of which field it is: "costs" of the fees."""
        if unit.kind == "fees" and term.kind == "free":
            return True
        return term.word in self.words.labels.get(unit.kind, ())

    def _weight(self, term: Term) -> float:
        if term.kind == "ignored":
            return 0.0
        if term.kind not in ("word", "faint"):
            return FACT
        weight = self.weights.get(term.value)
        if weight is None:
            having = sum(unit.has_word(str(term.value)) for _, unit in self.units)
            weight = self.weights[term.value] = log(1 + len(self.units) / max(having, 1))
        return weight * (1.0 if term.kind == "word" else FAINT)
