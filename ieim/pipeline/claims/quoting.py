"""Quoting: the sentences of the entries that a free text was made from (DESIGN decision 22).

For each sentence of the text those of the entries are looked for that have most of its words and
facts; a word counts the more, the fewer sentences have it. What is found are the entries' own
sentences, so nothing that the text adds, drops or turns round is in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import log
from typing import NamedTuple

from ieim.pipeline.claims.atoms import Atom, atoms, tokens_of
from ieim.pipeline.claims.entries import LONGEST, Entry, Unit
from ieim.pipeline.claims.judging import Judge
from ieim.pipeline.claims.language import sentences

MOST_SENTENCES = 30
"""Sentences of a text that are looked at: an answer has no more."""
MOST_WORDS = 60
"""Words of a sentence, or of a part of one, that are looked for."""
MOST_QUOTES = 6
"""Sentences of an entry that one of a text is made from at most."""

LEAST = 1.0
"""What has to be found of a sentence at least: about one word that few others have."""
SHARE = 0.05
"""The share of a sentence that another quote has to add."""
PART_SHARE = 0.3
"""The share of a part of a sentence that its own quote has to have."""

FACT = 3.0
LABEL = 1.5
LOOSE = 0.3
WHOLE = 1.5
"""What a unit counts for that is told whole, beside one of which a word is taken."""

TELLING = frozenset(["word", "loose", "fact", "free", "promptly"])
TOGETHER = frozenset(["fees", "time", "about"])
"""Fields that are told whole: one of two prices, or conditions, alone says too little."""
SHORT = 300
"""Characters of such a field at most."""
LABELLED = ("fees", "time", "contact")


class Quote(NamedTuple):
    """A sentence of the field ``kind`` of the entry with the index ``entry``."""

    entry: int
    kind: str
    text: str


def quotes(reply: str, entries: Sequence[Entry], *, question: str) -> list[Quote]:
    """Return the sentences of ``entries`` that ``reply`` was made from, in its order, each once.

    ``question`` is the citizen's message. Courtesies, and what nothing in an entry is like, have no
    quote. No str raises; the time is bounded by the size of the entries.
    """
    finder = _Finder(Judge(reply, entries, question, ""))
    found: dict[Quote, None] = {}
    for start, end in islice(sentences(reply), MOST_SENTENCES):
        if end - start <= LONGEST:
            for quote in finder.of(reply[start:end]):
                found[quote] = None
    return list(found)


class _Finder:
    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.units = [(i, unit) for i, read in enumerate(judge.read) for unit in read.units]
        self.weights: dict[object, float] = {}

    def of(self, sentence: str) -> Iterator[Quote]:
        """Yield the quotes of one sentence."""
        judge = self.judge
        said = tokens_of(sentence)[1]
        found = judge.uncourteous(atoms(said, judge.words))
        found, named = judge.without_names(found)
        if judge.says_nothing(found, head=said.rstrip().endswith(":")):
            return
        about = judge.bearing(named)
        within = [each for each in self.units if judge.read[each[0]] in about]
        parts = [part.atoms for part in judge.parts_of(found)]
        picked: dict[int, tuple[int, Unit]] = {}
        for wanted, share, most in (
            ([atom for part in parts for atom in part], SHARE, MOST_QUOTES),
            *((part, PART_SHARE, 1) for part in parts if len(parts) > 1),
        ):
            for each in self._picked(wanted, within, share, most):
                picked[id(each[1])] = each
        for index, unit in picked.values():
            for beside in self._with(index, unit):
                yield Quote(index, beside.kind, beside.text)

    def _with(self, index: int, unit: Unit) -> Iterable[Unit]:
        """Return what a unit is told with: a fee with the fees beside it, where that is short."""
        field = [u for i, u in self.units if i == index and u.kind == unit.kind]
        short = sum(len(u.text) for u in field) <= SHORT
        return field if unit.kind in TOGETHER and short else (unit,)

    def _picked(
        self, wanted: Sequence[Atom], within: Sequence[tuple[int, Unit]], share: float, most: int
    ) -> Iterator[tuple[int, Unit]]:
        """Yield the units that together have most of what is wanted, the best first."""
        left = [a for a in wanted if a.kind in TELLING][:MOST_WORDS]
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
            left = [a for a in left if not best[1].has(a) and not self._labels(a, best[1])]

    def _gain(self, left: Sequence[Atom], unit: Unit) -> float:
        own = sum(self._weight(atom) for atom in left if unit.has(atom))
        if any(self._labels(atom, unit) for atom in left):
            own += LABEL
        if not own:
            return 0.0
        return own + WHOLE * own / (own + sum(map(self._weight, unit.atoms)))

    def _labels(self, atom: Atom, unit: Unit) -> bool:
        """Whether an atom says of which field it is: "costs" beside the fees."""
        if unit.kind == "fees" and atom.kind == "free":
            return True
        return unit.kind in LABELLED and self.judge.is_label(atom, unit.kind)

    def _weight(self, atom: Atom) -> float:
        if atom.kind in ("fact", "free", "promptly"):
            return FACT
        if atom.kind not in ("word", "loose"):
            return 0.0
        weight = self.weights.get(atom.value)
        if weight is None:
            having = sum(unit.has_word(str(atom.value)) for _, unit in self.units)
            weight = self.weights[atom.value] = log(1 + len(self.units) / max(having, 1))
        return weight * (1.0 if atom.kind == "word" else LOOSE)
