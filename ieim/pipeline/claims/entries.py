"""Entries: what one source says, sentence by sentence and clause by clause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ieim.pipeline.claims.atoms import Atom, atoms, tokens_of
from ieim.pipeline.claims.comparing import ALIKE, akin, same_fact
from ieim.pipeline.claims.language import AND, RELATIVE, orders, sentences
from ieim.pipeline.claims.lexicon import Lexicon, lexicon
from ieim.pipeline.knowledge import Agency, Service

BREAK = re.compile(r"[,;:()\[\]—–|/\n]|\s-\s")
OCCASIONS = frozenset(["when", "quand", "lorsque", "once", "while", "cuando"])
"""What begins a sentence that says on which occasion a service is used: no condition of it."""

OR = frozenset(["or", "ou", "oder", "o", "nor", "ni"])

LONGEST = 3000
"""Characters of the longest sentence that is judged, of a reply or an entry."""

WITHOUT = frozenset(["without", "sans", "ohne", "sin"])
"""Negations of one noun only."""


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
        texts += [("agency", agency.description), ("contact", agency.path)]
        names.append(agency.name)
    return Entry(tuple((kind, text) for kind, text in texts if text.strip()), tuple(names))


def of_text(text: str) -> Entry:
    """Return the entry of a text of the administration's own."""
    return Entry((("text", text),))


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of a unit. ``governs`` are the clauses that do not hold without this one; it
    ``orders`` where the reader is told to do it."""

    atoms: tuple[Atom, ...]
    governs: tuple[int, ...] = ()
    alternatives: tuple[int, ...] = ()
    conditional: bool = False
    denied_by: int | None = None
    orders: bool = False


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or item of an entry, with the kind of its field; ``text`` is how it is written.

    ``atoms`` are those of all clauses, with the ``words``, ``kinds`` and ``values`` among them;
    ``alike`` has the stems of its words by how they begin; it ``orders`` where the reader is told
    to do it.
    """

    kind: str
    text: str
    clauses: tuple[Clause, ...]
    atoms: tuple[Atom, ...]
    words: frozenset[str]
    kinds: frozenset[str]
    values: frozenset[object]
    facts: tuple[Atom, ...]
    alike: Mapping[str, tuple[str, ...]]
    orders: bool

    def has(self, atom: Atom) -> bool:
        """Whether an atom of the unit says an atom of a claim."""
        if atom.kind == "fact":
            return any(same_fact(atom, fact) for fact in self.facts)
        if atom.kind in ("word", "loose"):
            return self.has_word(str(atom.value))
        return atom.kind != "glue" and atom.kind in self.kinds

    def has_word(self, stem: str) -> bool:
        """Whether the unit has a word of this stem, or one that differs only by its ending."""
        others = self.alike.get(stem[:ALIKE], ())
        return stem in others or akin(stem, others)


class Part(NamedTuple):
    """A clause of a claim; ``wants`` where it may say what the citizen wants."""

    atoms: tuple[Atom, ...]
    wants: bool


@dataclass(frozen=True, slots=True)
class Read:
    """An entry as it is read in one language."""

    units: tuple[Unit, ...]
    names: tuple[tuple[str, ...], ...]
    name_stems: frozenset[object]
    stems: frozenset[object]
    actions: frozenset[object]
    verbatim: frozenset[tuple[tuple[str, object], ...]]
    desks: frozenset[tuple[str, ...]]
    contacts: frozenset[object]


@lru_cache(maxsize=2048)
def read_entry(entry: Entry, language: str) -> Read:
    """Return an entry's units; of the services of a release they are kept."""
    words = lexicon(language)
    units = [
        _unit(kind, said, found, words)
        for kind, text in entry.texts
        for said, found in _sentences(text, words)
        if found
    ]
    names = [atom for name in entry.names for atom in _named(name, words)]
    return Read(
        tuple(units),
        tuple(tuple(a.word for a in _named(name, words)) for name in entry.names),
        frozenset(atom.value for atom in names if atom.kind in ("word", "loose")),
        frozenset(a.value for unit in units for a in unit.atoms if a.kind in ("word", "loose")),
        frozenset(unit.clauses[0].atoms[0].value for unit in units if unit.kind == "step"),
        frozenset(tuple((a.kind, a.value) for a in unit.atoms) for unit in units),
        # "Visa desk, +999 …": what stands before the number is whom one asks.
        frozenset(
            tuple(a.word for a in unit.clauses[0].atoms)
            for unit in units
            if unit.kind == "contact" and len(unit.clauses) > 1
        ),
        frozenset(_only_ones(units)),
    )


def _only_ones(units: Sequence[Unit]) -> Iterator[object]:
    """Yield the telephone number and the e-mail address of an entry that has one of them."""
    facts = {a.fact for unit in units for a in unit.facts if a.fact and unit.kind == "contact"}
    for kind in ("phone", "email"):
        values = {(fact.kind, fact.value) for fact in facts if fact.kind == kind}
        if len(values) == 1:
            yield from values


def _unit(kind: str, said: str, found: Sequence[Atom], words: Lexicon) -> Unit:
    cut = clauses(found, words)
    alike: dict[str, set[str]] = {}
    for atom in found:
        if atom.kind in ("word", "loose"):
            alike.setdefault(str(atom.value)[:ALIKE], set()).add(str(atom.value))
    return Unit(
        kind,
        said,
        cut,
        tuple(found),
        frozenset(a.word for a in found),
        frozenset(a.kind for a in found),
        frozenset(a.value for a in found),
        tuple(a for a in found if a.kind == "fact"),
        {start: tuple(sorted(stems)) for start, stems in alike.items()},
        cut[0].orders,
    )


def _named(name: str, words: Lexicon) -> list[Atom]:
    return atoms(tokens_of(name)[1], words)


def _sentences(text: str, words: Lexicon) -> Iterator[tuple[str, list[Atom]]]:
    for start, end in sentences(text):
        # One that is too long to be judged is none that a claim can stand on.
        if end - start <= LONGEST:
            yield text[start:end], atoms(tokens_of(text[start:end])[1], words)


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
        ends = BREAK.search(atom.gap) or opens or atom.word in AND[words.language]
        if ends and any(each.kind in ("word", "loose", "fact", "free") for each in last):
            cut.append([])
            conditional.append(opens)
        elif not last or opens:
            conditional[-1] = opens
        cut[-1].append(atom)
    denied: list[int | None] = []
    for index, part in enumerate(cut):
        # What somebody does who cannot do another thing is not denied.
        goes_on = not (index and conditional[index - 1] and not conditional[index])
        denied.append(_denied_by(index, part, cut, denied) if goes_on else None)
    return tuple(
        Clause(
            tuple(part),
            tuple(_governed(index, part, conditional, joins=AND[words.language])),
            tuple(_alternatives(index, cut, conditional)),
            conditional[index],
            denied[index],
            orders(part, words),
        )
        for index, part in enumerate(cut)
    )


def _governed(
    index: int, part: Sequence[Atom], conditional: Sequence[bool], *, joins: frozenset[str]
) -> Iterator[int]:
    """Yield the clauses that do not hold without the condition ``index``."""
    if not conditional[index]:
        return
    before = [i for i in range(index) if not conditional[i]]
    after = [i for i in range(index + 1, len(conditional)) if not conditional[i]]
    joined = part[0].word in joins
    apart = joined or bool(BREAK.search(part[0].gap))
    if any(atom.word in OCCASIONS for atom in part[: 1 + joined]) and (not before or apart):
        return
    if joined and after:
        yield after[0]  # "upload the photo and, if you need one, the report"
    elif index and conditional[index - 1]:
        yield index - 1
    elif before:
        yield before[-1]
    else:
        yield from after


def _alternatives(
    index: int, cut: Sequence[Sequence[Atom]], conditional: Sequence[bool]
) -> Iterator[int]:
    """Yield the clauses after a condition up to the one with an "or", where there is one."""
    if not conditional[index] or any(atom.word in OR for atom in cut[index]):
        return
    for end in range(index + 1, len(cut)):
        if any(atom.word in OR for atom in cut[end]):
            yield from range(index + 1, end + 1)
            return


def _denied_by(
    index: int, part: Sequence[Atom], cut: Sequence[Sequence[Atom]], denied: Sequence[int | None]
) -> int | None:
    """Return the clause whose negation goes on in this one: the item of a list has no subject."""
    goes_on = bool(part) and (part[0].kind in ("word", "loose") or part[0].word in OR)
    if not index or not goes_on or any(atom.kind == "negation" for atom in part):
        return None
    if any(atom.kind == "negation" and atom.word not in WITHOUT for atom in cut[index - 1]):
        return index - 1
    return denied[index - 1]
