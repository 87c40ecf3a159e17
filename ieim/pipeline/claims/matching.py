"""Matching: the parts of a claim against the units of one entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ieim.pipeline.claims.atoms import Atom
from ieim.pipeline.claims.dropping import dropped
from ieim.pipeline.claims.entries import Part, Read, Unit
from ieim.pipeline.claims.lacking import missing
from ieim.pipeline.claims.language import AND
from ieim.pipeline.claims.lexicon import OPERATORS, sensitive
from ieim.pipeline.claims.using import told_by

if TYPE_CHECKING:
    from ieim.pipeline.claims.judging import Judge

_STRICT = frozenset(OPERATORS) - {"duty", "permission", "ability", "first", "condition", "sequence"}
"""Operators that a claim may not add."""

MOST_PARTS = 40
_TRIES = 600

_ADDED = 3
"""Words of the longest part that only adds to the one before it."""

PART = 1.0
TURNED = 4.0
_TURNS = frozenset({"duty", "permission", "advice", "negation", "free", "only"})

MAY_MISS = 0.2
"""The share of a sentence's content that its unit need not have."""


class Reason(NamedTuple):
    """Why an entry does not support a sentence; ``distance`` is how far from it that is."""

    distance: int
    why: str


SUPPORTED = Reason(0, "")


def supports(parts: Sequence[Part], read: Read, judge: Judge) -> Reason:
    """Return :data:`SUPPORTED`, or why the entry does not support the sentence."""
    candidates: list[list[Unit | None]] = []
    merged = _merged(parts, judge)
    if len(merged) > MOST_PARTS:
        return Reason(99, "It is too long to be judged.")
    content = sum(a.kind not in ("glue", "name", "loose") for part in merged for a in part.atoms)
    spare = int(content * MAY_MISS)
    lacking: list[Atom] = []
    for part in merged:
        if part.wants and _only_wants(part, read, judge):
            candidates.append([None])
            continue
        orders = part is merged[0] and part.atoms[0].kind in ("word", "loose")
        # What "we" do is nothing that the citizen is told to do.
        gaps = [
            (unit, missing(part, unit, read, judge))
            for unit in read.units
            if not (orders and unit.clauses[0].atoms[0].kind == "us")
        ]
        costs = [
            (unit, _cost(gap, part, unit, read, judge) if len(gap) <= spare else 99)
            for unit, gap in gaps
        ]
        fewest = min((cost for _, cost in costs), default=99)
        if fewest > spare:
            nearest = min((gap for _, gap in gaps), key=len, default=[])
            lacking += nearest or part.atoms[:1]
            continue
        spare -= fewest
        tellers = told_by(part, read.units)
        fit = [u for u, cost in costs if cost == fewest and (not tellers or u in tellers)]
        if candidates and _goes_on(part, judge) and all(map(_counts, candidates[-1])):
            fit = [u for u in fit if any(u is before for before in candidates[-1])]
        if not fit:
            lacking += part.atoms[:1]
            continue
        candidates.append([*sorted(fit, key=partial(_distance, part))])
    if lacking:
        said = " ".join(atom.word or str(atom.value) for atom in lacking)
        return Reason(10 + len(lacking), f"The source does not say: {said}.")
    if all(c == [None] for c in candidates):
        return Reason(5, "It only repeats what was asked.")
    why = ""
    for tried, chosen in enumerate(_choices(candidates)):
        why = dropped(merged, chosen, judge)
        if not why or tried >= _TRIES:
            break
    return Reason(1, why) if why else SUPPORTED


def _goes_on(part: Part, judge: Judge) -> bool:
    """Whether a part only adds to the one before it: "… for you and each child"."""
    kinds = {atom.kind for atom in part.atoms}
    joins = part.atoms[0].word in AND[judge.words.language]
    return joins and len(part.atoms) <= _ADDED and "word" in kinds and not kinds & {"fact", "free"}


def _counts(unit: Unit | None) -> bool:
    return unit is not None and unit.kind in ("fees", "time")


def _distance(part: Part, unit: Unit) -> int:
    return -_own(part, unit)


def _own(part: Part, unit: Unit) -> int:
    """Return how many words and facts of a part stand in a unit itself."""
    return sum(map(unit.has, part.atoms))


def _cost(gap: Sequence[Atom], part: Part, unit: Unit, read: Read, judge: Judge) -> int:
    """Return how many words a part has beyond a unit; 99 where it may have none of them."""
    if not gap:
        return 99 if _is_elsewhere(part, unit, read, judge) else 0
    # A half of "part-time" is not a word that stands elsewhere.
    halves = {a.start for pair in pairwise(part.atoms) if pair[1].gap == "-" for a in pair}
    spared = all(
        a.kind == "word"
        and a.start not in halves
        and a.value in read.stems
        and a.word not in sensitive()
        and a.word not in judge.words.exact
        # A word of another cited name says that the sentence is about that one.
        and (a.value in read.name_stems or a.value not in judge.name_stems)
        for a in gap
    )
    if any(a.kind == "free" for a in part.atoms):
        return 99  # for whom it is free, the source says
    # A part that turns a meaning has to be all but the source's own.
    share = TURNED if any(a.kind in _TURNS for a in part.atoms) else PART
    return len(gap) if spared and _own(part, unit) >= share * len(gap) else 99


def _is_elsewhere(part: Part, unit: Unit, read: Read, judge: Judge) -> bool:
    """Whether a unit says nothing of a part of which all is free beside it: "by phone" beside the
    contact, where the sentence is about something else."""
    words = [a for a in part.atoms if a.kind == "word" and not judge.is_label(a, "any")]
    if part.atoms[0].word in AND[judge.words.language]:
        words = [a for a in words if a.word not in judge.words.kin]
    return (
        bool(words) and not _own(part, unit) and not any(judge.is_context(a, read) for a in words)
    )


def _choices(candidates: Sequence[Sequence[Unit | None]]) -> Iterator[list[Unit | None]]:
    """Yield ways to give each part a unit, those that stay with one unit first."""

    def rest(index: int, before: Unit | None) -> Iterator[list[Unit | None]]:
        if index == len(candidates):
            yield []
            return
        for unit in candidates[index]:
            for following in rest(index + 1, unit or before):
                yield [unit, *following]

    return rest(0, None)


def _merged(parts: Sequence[Part], judge: Judge) -> list[Part]:
    """Join a part without content to the one after it, so that its operators count there."""
    joined: list[Part] = []
    waiting: tuple[Atom, ...] = ()
    for part in parts:
        found = (*waiting, *part.atoms)
        if _has_content(found):
            joined.append(Part(found, part.wants and not waiting))
            waiting = ()
        elif all(a.kind in ("glue", "condition", "sequence") for a in found):
            continue  # "if so,", "once you are in,"
        else:
            waiting = found
    if waiting:
        if joined:
            joined[-1] = Part((*joined[-1].atoms, *waiting), joined[-1].wants)
        else:
            joined.append(Part(waiting, False))
    return joined


def _has_content(found: Sequence[Atom]) -> bool:
    return any(atom.kind in ("word", "fact", "free", "promptly") for atom in found)


def _only_wants(part: Part, read: Read, judge: Judge) -> bool:
    if any(a.kind in _STRICT and a.kind != "us" for a in part.atoms):
        return False
    # "For a visa you need …" tells more than what is wanted.
    if any(a.kind == "duty" or judge.is_label(a, "duty") for a in part.atoms):
        return False
    known = {a.value for unit in read.units for a in unit.atoms}
    return all(
        atom.kind not in ("word", "loose", "fact")
        or (atom.value in judge.asked and atom.word not in sensitive())
        or (atom.kind != "fact" and atom.value in known and atom.word not in sensitive())
        or judge.is_context(atom, read)
        or atom.kind == "loose"
        for atom in part.atoms
    )
