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
from ieim.pipeline.quoting.cues import Segment, segments
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
    of the source itself, ``owner`` is whose it is: a sentence is mostly about one owner's."""

    texts: tuple[tuple[str, str], ...]
    names: tuple[str, ...] = ()
    owner: str = ""


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
    filled = tuple((kind, text) for kind, text in texts if text.strip())
    return Entry(filled, tuple(names), service.agency)


class Passage(NamedTuple):
    """A sentence or item of an entry, of a field of this ``kind``; ``begins``: the first one of its
    text."""

    kind: str
    text: str
    begins: bool


@lru_cache(maxsize=2048)
def passages(entry: Entry) -> tuple[Passage, ...]:
    """Return what an entry says, in its order. Those of a release stay cached."""
    return tuple(
        Passage(kind, text[start:end], at == 0)
        for kind, text in entry.texts
        for at, (start, end) in enumerate(sentences(text))
        if end - start <= LONGEST
    )


class Quote(NamedTuple):
    """The passage with the index ``at`` of the entry with the index ``entry``; ``segment`` is the
    part of the text that was made from it."""

    entry: int
    at: int
    segment: Segment


def quotes(text: str, entries: Sequence[Entry], *, language: str = "") -> list[Quote]:
    """Return the passages of ``entries`` that ``text`` was made from, in its order, each once.

    ``language`` (ISO 639-1) is that of the text's words of order; empty: it is detected. A sentence
    without a similar one in an entry has no quote. No str raises; the time is bounded by the size
    of the entries.
    """
    finder = _Finder(text, entries)
    found: dict[tuple[int, int], Quote] = {}
    parts = segments(text, language or language_of(text))
    for segment in islice(parts, MOST_SENTENCES):
        if segment.end - segment.start <= LONGEST:
            for place in finder.quotes(text[segment.start : segment.end]):
                found.setdefault(place, Quote(*place, segment))
    return list(found.values())


def says_anything(text: str, entries: Sequence[Entry], *, language: str = "") -> bool:
    """Whether ``text`` says or names anything that an entry says."""
    found = terms(text[:LONGEST], lexicon(language_of(text)))
    words = [term.word for term in found]
    for entry in entries:
        name = next(iter(_read(entry, language_of(text)).names), ())
        if any(tuple(words[at : at + len(name)]) == name for at in range(len(words))):
            return True
    return bool(quotes(text, entries, language=language))


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

    at: int
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
    units = [_unit(at, each, words) for at, each in enumerate(passages(entry))]
    names = (tuple(term.word for term in terms(name, words)) for name in entry.names)
    return _Read(tuple(units), tuple(filter(None, names)))


def _unit(at: int, passage: Passage, words: Lexicon) -> _Unit:
    found = tuple(terms(passage.text, words))
    stems: dict[str, set[str]] = {}
    for term in found:
        if term.kind in ("word", "faint"):
            stems.setdefault(str(term.value)[:ALIKE], set()).add(str(term.value))
    by_start = {start: frozenset(group) for start, group in stems.items()}
    return _Unit(at, passage.kind, passage.text, found, by_start)


class _Finder:
    """Finds the quotes of the sentences of one text."""

    def __init__(self, text: str, entries: Sequence[Entry]) -> None:
        self.words = lexicon(language_of(text))
        self.entries = [_read(entry, self.words.language) for entry in entries]
        self.owners = [entry.owner for entry in entries]
        self.names = {name for entry in self.entries for name in entry.names}
        self.units = [(i, unit) for i, entry in enumerate(self.entries) for unit in entry.units]
        self.weights: dict[object, float] = {}

    def quotes(self, sentence: str) -> Iterator[tuple[int, int]]:
        """Yield the entry and the place in it of each quote of one sentence, of the whole of it or
        of one of its parts, in the order of the sentence."""
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
        for index, unit in sorted(picked.values(), key=lambda each: self._where(found, each[1])):
            for quoted in self._together(index, unit):
                yield index, quoted.at

    def _where(self, found: Sequence[Term], unit: _Unit) -> float:
        """Return where in a sentence a unit is used: the middle of the terms that it has."""
        weights = [self._weight(term) * unit.has(term) for term in found]
        middle = sum(at * weight for at, weight in enumerate(weights))
        return middle / sum(weights) if any(weights) else float(len(found))

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
        """Yield the units that together have most of what is wanted, the best first; once one is
        found only those of its owner, so that a common word does not bring in another's."""
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
            owner = self.owners[best[0]]
            within = [each for each in within if self.owners[each[0]] == owner]
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
