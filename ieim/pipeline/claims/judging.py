"""Judging: whether one entry supports a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ieim.pipeline.claims.atoms import Atom, atoms, tokens_of
from ieim.pipeline.claims.comparing import akin
from ieim.pipeline.claims.entries import BREAK, LONGEST, Entry, Part, Read, read_entry
from ieim.pipeline.claims.language import AND, told
from ieim.pipeline.claims.lexicon import Lexicon, heads, lexicon, sensitive
from ieim.pipeline.claims.matching import Reason, supports

Name = tuple[str, ...]

_MOST_COURTEOUS = 12
"""Words of the longest courtesy."""


class Verdict(NamedTuple):
    """``why`` a sentence is not supported, empty where it is; whether it ``answers`` anything."""

    why: str
    answers: bool


class Judge:
    """Judges the sentences of one reply."""

    def __init__(self, reply: str, entries: Sequence[Entry], question: str, language: str) -> None:
        self.words: Lexicon = lexicon(language or told(reply))
        self.read: list[Read] = [read_entry(entry, self.words.language) for entry in entries]
        self.names = {name for read in self.read for name in read.names if name}
        asked = atoms(tokens_of(question)[1], self.words)
        self.asked = frozenset(a.value for a in asked if a.kind in ("word", "loose", "fact"))
        self.asked_kinds = frozenset(a.kind for a in asked)
        # What the sentence before said: an "it" of this one takes it up.
        self.before: frozenset[object] = frozenset()
        # Of the sentence at hand: its parts, and where words stand that name whom to ask.
        self.parts: list[Part] = []
        self.desks: frozenset[int] = frozenset()
        self.name_stems = frozenset().union(*(read.name_stems for read in self.read))

    def verdict(self, sentence: str) -> Verdict:
        """Return what is to be said of a sentence."""
        if len(sentence) > LONGEST:
            return Verdict("It is too long to be judged.", answers=True)
        said = tokens_of(sentence)[1]
        found = atoms(said, self.words)
        found = self.uncourteous(found)
        if not found:
            return Verdict("", answers=False)
        whole = found
        found, named = self.without_names(found)
        if len(found) > 1 and found[0].kind == "name" and ":" in found[1].gap:
            # "Passport Office: Fees: Free." has two heads.
            found = self.uncourteous(found[1:])
            whole = [atom for atom in whole if found and atom.start >= found[0].start]
        if self.says_nothing(found, head=said.rstrip().endswith(":")):
            return Verdict("", answers=bool(named))
        bearing = self.bearing(named)
        exact = tuple((atom.kind, atom.value) for atom in whole)
        if any(exact in read.verbatim for read in bearing):
            return Verdict("", answers=True)
        self.desks = self._desks(found)
        self.parts = list(self.parts_of(found))
        reasons = [supports(self.parts, read, self) for read in bearing]
        self.before = frozenset(a.value for a in found if a.kind in ("word", "loose"))
        # The entry that comes nearest says best what is wrong.
        nearest = min(reasons, default=Reason(99, "No source is cited."))
        return Verdict(nearest.why, answers=True)

    def uncourteous(self, found: list[Atom]) -> list[Atom]:
        """Leave out the courtesies and openers that a sentence begins with."""
        while found:
            size = next((i for i in range(1, len(found)) if BREAK.search(found[i].gap)), len(found))
            headed = size < len(found) and ":" in found[size].gap
            head = headed and " ".join(a.word for a in found[:size]) in heads()
            if not head and not self._courteous(found[:size]):
                break
            found = found[size:]
        return found

    def _kind(self, found: Sequence[Atom]) -> bool:
        """Whether a sentence has no content but words of courtesy, and one of them at least."""
        return (
            len(found) <= _MOST_COURTEOUS
            and any(atom.word in self.words.kind for atom in found)
            and all(
                atom.kind in ("glue", "loose", "first_person", "us", "sequence", "universal")
                or atom.word in self.words.kind
                or atom.word in self.words.condolence
                or atom.word in self.words.kin
                or (atom.kind == "word" and self.is_label(atom, "time"))
                for atom in found
            )
        )

    def _courteous(self, found: Sequence[Atom]) -> bool:
        """Whether a stretch begins as a courtesy and goes on with the citizen's own words."""
        if self._kind(found):
            return True
        if len(found) == 1 and found[0].word in self.words.denial:
            # "No, it does not", "No. It does not": the sentence has to say its no itself.
            return True
        said = " ".join(atom.word for atom in found)
        match = self.words.courtesies.match(said)
        if match is None or len(said.split()) > _MOST_COURTEOUS:
            return False
        if said[match.end() : match.end() + 1].strip():
            return False
        at = 0
        for atom in found:
            if at >= match.end() and not (
                atom.kind in ("glue", "loose")
                or atom.word in self.words.condolence
                or (atom.value in self.asked and atom.word not in sensitive())
            ):
                return False
            at += len(atom.word) + 1
        return True

    def without_names(self, found: Sequence[Atom]) -> tuple[list[Atom], list[Name]]:
        """Leave out whole names of the sources, and return them."""
        words = [atom.word for atom in found]
        kept: list[Atom] = []
        named: list[Name] = []
        at = 0
        while at < len(found):
            name = max(
                (n for n in self.names if tuple(words[at : at + len(n)]) == n), key=len, default=()
            )
            if len(name) > 1 or (name and found[at].kind == "word"):
                named.append(name)
                first = found[at]
                kept.append(
                    Atom("name", first.value, first.word, first.gap, first.start, first.end)
                )
                at += len(name)
                continue
            kept.append(found[at])
            at += 1
        return kept, named

    def _desks(self, found: Sequence[Atom]) -> frozenset[int]:
        """Return where words stand that name whom to ask: "the Visa desk"."""
        words = [atom.word for atom in found]
        return frozenset(
            atom.start
            for desk in {desk for read in self.read for desk in read.desks}
            for at in range(len(words))
            if tuple(words[at : at + len(desk)]) == desk
            for atom in found[at : at + len(desk)]
        )

    def bearing(self, named: Sequence[Name]) -> list[Read]:
        """Return the entries that a sentence may be about: those with all of its names, or any."""
        every = [read for read in self.read if all(name in read.names for name in named)]
        return every or [read for read in self.read if any(name in read.names for name in named)]

    def says_nothing(self, found: Sequence[Atom], *, head: bool) -> bool:
        return all(
            atom.kind in ("glue", "name", "first", "sequence")
            or self.is_label(atom, "any")
            or (head and any(self.is_label(atom, kind) for kind in self.words.labels))
            or (head and self.is_context(atom, None))
            or (head and atom.kind in ("duty", "here"))
            or (head and atom.word in self.words.kin)
            or (head and atom.kind in ("word", "loose") and atom.value in self.asked)
            for atom in found
        )

    def is_label(self, atom: Atom, kind: str) -> bool:
        """Whether an atom is a label of a kind of field."""
        labels = self.words.labels.get(kind, frozenset())
        return atom.kind in ("word", "loose", "glue") and atom.word in labels

    def is_context(self, atom: Atom, read: Read | None) -> bool:
        """Whether an atom is a word of a cited name."""
        stems = read.name_stems if read else self.name_stems
        return atom.kind in ("word", "loose") and (
            atom.value in stems or (atom.word not in sensitive() and akin(str(atom.value), stems))
        )

    def parts_of(self, found: Sequence[Atom]) -> Iterator[Part]:
        """Cut a sentence where its clauses end; the first part may say what the citizen wants."""
        parts: list[list[Atom]] = [[]]
        for atom in found:
            if parts[-1] and (
                BREAK.search(atom.gap)
                or atom.word in AND[self.words.language]
                or atom.kind in ("condition", "except")
                or atom.word in ("or", "ou", "oder")
            ):
                parts.append([])
            parts[-1].append(atom)
        for index, part in enumerate(parts):
            yield Part(tuple(part), wants=index == 0 and len(parts) > 1 and self._wants(part))

    def _wants(self, part: Sequence[Atom]) -> bool:
        words = tuple(" ".join(atom.word for atom in part).split())
        return any(words[: len(phrase)] == phrase for phrase in self.words.wants)
