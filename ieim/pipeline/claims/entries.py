"""Entries: what one source says, sentence by sentence and clause by clause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ieim.pipeline.claims.atoms import Atom, atoms, tokens_of
from ieim.pipeline.claims.lexicon import Lexicon, lexicon
from ieim.pipeline.claims.splitting import sentences
from ieim.pipeline.knowledge import Agency, Service

BREAK = re.compile(r"[,;:()\[\]—–|/\n]|\s-\s")
RELATIVE = {
    "en": frozenset("that who whose which whom".split()),
    "fr": frozenset("qui dont que".split()),
    "de": frozenset(),
    "es": frozenset("que quien quienes".split()),
}
OCCASIONS = frozenset("when quand lorsque once while cuando".split())
"""What begins a sentence that says on which occasion a service is used: no condition of it."""

AND = frozenset(
    "and but so because et mais car und aber denn weil y e pero porque then puis".split()
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What one source says: ``texts`` by the kind of field that each is from.

    ``names`` are those of the source itself, which may be said freely.
    """

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
        texts += [("overview", agency.description), ("contact", agency.path)]
        names.append(agency.name)
    return Entry(tuple((kind, text) for kind, text in texts if text.strip()), tuple(names))


def of_text(text: str) -> Entry:
    """Return the entry of a text of the administration's own."""
    return Entry((("text", text),))


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of a unit. ``governs`` are the clauses that do not hold without this one."""

    atoms: tuple[Atom, ...]
    governs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or item of an entry, with the kind of its field."""

    kind: str
    clauses: tuple[Clause, ...]

    @property
    def atoms(self) -> Iterator[Atom]:
        """The atoms of all clauses."""
        return (atom for clause in self.clauses for atom in clause.atoms)


@dataclass(frozen=True, slots=True)
class Read:
    """An entry as it is read in one language."""

    units: tuple[Unit, ...]
    names: tuple[tuple[str, ...], ...]
    name_stems: frozenset[object]


@lru_cache(maxsize=2048)
def read_entry(entry: Entry, language: str) -> Read:
    """Return an entry's units; of the services of a release they are kept."""
    words = lexicon(language)
    units = [
        Unit(kind, clauses(found, words))
        for kind, text in entry.texts
        for found in _sentences(text, words)
        if found
    ]
    names = [atom for name in entry.names for atom in _named(name, words)]
    return Read(
        tuple(units),
        tuple(tuple(a.word for a in _named(name, words)) for name in entry.names),
        frozenset(atom.value for atom in names if atom.kind in ("word", "loose")),
    )


def _named(name: str, words: Lexicon) -> list[Atom]:
    return atoms(tokens_of(name)[1], words)


def _sentences(text: str, words: Lexicon) -> Iterator[list[Atom]]:
    said = tokens_of(text)[1]
    for start, end in sentences(said):
        yield atoms(said[start:end], words)


def clauses(found: Sequence[Atom], words: Lexicon) -> tuple[Clause, ...]:
    """Cut the atoms of a sentence into clauses, and say which hold only with which others."""
    cut: list[list[Atom]] = [[]]
    conditional: list[bool] = [False]
    for atom in found:
        last = cut[-1]
        restricts = (
            atom.kind == "glue"
            and atom.word in RELATIVE.get(words.language, ())
            and bool(last)
            and last[-1].kind in ("word", "loose", "fact")
            and not BREAK.search(atom.gap)
        )
        opens = atom.kind in ("condition", "except") or restricts
        if last and (BREAK.search(atom.gap) or opens or atom.word in AND):
            cut.append([])
            conditional.append(opens)
        elif not last:
            conditional[-1] = opens
        cut[-1].append(atom)
    return tuple(
        Clause(tuple(part), tuple(_governed(index, part[0].word, conditional)))
        for index, part in enumerate(cut)
    )


def _governed(index: int, first: str, conditional: Sequence[bool]) -> Iterator[int]:
    if not conditional[index]:
        return
    before = [i for i in range(index) if not conditional[i]]
    if not before and first in OCCASIONS:
        return
    if before:
        yield before[-1]
    else:
        yield from (i for i in range(index + 1, len(conditional)) if not conditional[i])
