"""Using: the clauses of a source that a claim takes its words from."""

from __future__ import annotations

from collections.abc import Sequence

from ieim.pipeline.claims.atoms import Atom
from ieim.pipeline.claims.comparing import akin_atom, same_fact
from ieim.pipeline.claims.entries import Clause, Part, Unit

KEPT = frozenset(
    [
        "negation",
        "only",
        "except",
        "hedge",
        "once",
        "twice",
        "minimum",
        "maximum",
        "over",
        "under",
        "within",
        "before",
        "after",
        "about",
        "first",
        "whether",
    ]
)
"""Operators that a claim may not drop from a clause that it uses."""


_TELLING = frozenset(["before", "after", "universal"])


def told_by(part: Part, units: Sequence[Unit]) -> list[Unit]:
    """Return the units that alone may support a part; none where any may.

    Where every unit with all words of a part says no and the part does not, or the part tells what
    comes before what or what holds for all, another unit with fewer of its words is no source for
    it.
    """
    own = [a for a in part.atoms if a.kind in ("word", "fact")]
    kinds = {a.kind for a in part.atoms}
    full = [unit for unit in units if len(own) > 1 and all(map(unit.has, own))]
    if not full and not kinds & {"negation", "fact"}:
        near = _nearest(own, units)
        if near and all(any(a.kind == "negation" for a in clause.atoms) for _, clause in near):
            return [unit for unit, _ in near]
    denied = "negation" not in kinds and all("negation" in unit.kinds for unit in full)
    return full if denied or kinds & _TELLING else []


def _nearest(own: Sequence[Atom], units: Sequence[Unit]) -> list[tuple[Unit, Clause]]:
    """Return the clauses with most words of a part, none where that is fewer than half of them."""
    has = [
        (sum(covered(atom, clause) for atom in own), unit, clause)
        for unit in units
        for clause in unit.clauses
    ]
    most = max((count for count, _, _ in has), default=0)
    if most < 2 or 2 * most < len(own):
        return []
    return [(unit, clause) for count, unit, clause in has if count == most]


def clauses_used(unit: Unit, mine: Sequence[Atom]) -> set[int]:
    """Return the clauses that it takes to cover what the claim says, as few as will do."""
    wanted = [a for a in mine if a.kind in ("word", "loose", "fact", "free")]
    left = set(range(len(wanted)))
    used: set[int] = set()
    covers = [
        {i for i, atom in enumerate(wanted) if covered(atom, clause)} for clause in unit.clauses
    ]
    while left:
        best = max(range(len(covers)), key=lambda i: (len(covers[i] & left), -i), default=None)
        if best is None or not covers[best] & left:
            break
        clause = unit.clauses[best]
        if not _only_mentions(clause, [wanted[i] for i in covers[best] & left], best, used):
            used.add(best)
        left -= covers[best]
    return used


def _only_mentions(clause: Clause, covered: Sequence[Atom], index: int, used: set[int]) -> bool:
    """Whether a claim takes no more from a clause than its subject, or a word of a condition."""
    content = [a for a in clause.atoms if a.kind in ("word", "fact")]
    plain = all(a.kind in ("word", "loose") for a in covered)
    if used and plain and len(content) > 2 and not any(a.kind in KEPT for a in clause.atoms):
        return sum(a.kind == "word" for a in covered) == 1
    if clause.conditional:
        return 2 * len(covered) < len(content)
    return (
        len(covered) == 1
        and not any(a.kind in ("negation", "only", "except") for a in clause.atoms)
        and len(content) > 1
        and covered[0].kind == "word"
        and any(index < other for other in used)
        and (covered[0].value == content[0].value or akin_atom(covered[0], content[:1]))
    )


def covered(atom: Atom, clause: Clause) -> bool:
    """Whether a clause has an atom of a claim."""
    if atom.kind == "fact":
        return any(same_fact(atom, other) for other in clause.atoms if other.kind == "fact")
    if atom.kind == "free":
        return any(other.kind == "free" for other in clause.atoms)
    return any(
        atom.value == other.value for other in clause.atoms if other.kind in ("word", "loose")
    ) or akin_atom(atom, clause.atoms)
