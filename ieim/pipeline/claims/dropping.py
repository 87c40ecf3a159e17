"""Dropping: what a claim leaves out of the clauses that it uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ieim.pipeline.claims.atoms import Atom
from ieim.pipeline.claims.comparing import agree, akin_atom, same_fact
from ieim.pipeline.claims.entries import OCCASIONS, OR, Clause, Part, Unit

if TYPE_CHECKING:
    from ieim.pipeline.claims.judging import Judge

_KEPT = frozenset(
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
        "same",
        "first",
        "whether",
    ]
)
"""Operators that a claim may not drop from a clause that it uses."""

_REASONS = frozenset(
    ["because", "since", "with", "puisque", "parce", "car", "comme", "avec", "weil", "da", "porque"]
)
"""What begins the citizen's own case: "because you are under 18"."""

CONDITION = 0.6
"""The share of a condition's content that a claim has to say."""

OCCASION = 0.5
"""The same of a condition that a sentence begins with."""

RECIPROCAL = 0.33
"""The share of the content of a clause that a claim has to say to use it."""


def dropped(parts: Sequence[Part], chosen: Sequence[Unit | None], judge: Judge) -> str:
    """Return what the claim leaves out of the clauses that it uses, "" for nothing."""
    whole = [atom for part in parts for atom in part.atoms]
    for unit in {id(u): u for u in chosen if u}.values():
        mine = [a for part, u in zip(parts, chosen, strict=True) if u is unit for a in part.atoms]
        used = _used(unit, mine)
        for index in sorted(used):
            if _chooses(unit, index, used, mine):
                continue
            if why := _clause_dropped(unit.clauses[index], mine, whole, unit, judge):
                return why
        for index, clause in enumerate(unit.clauses):
            if index not in used and any(g in used for g in clause.governs):
                group = [clause, *(unit.clauses[i] for i in clause.alternatives)]
                if not any(_kept(each, index, whole, judge) for each in group):
                    return f"It leaves out the condition: {_words(clause)}."
        mains = [
            p for p, u in zip(parts, chosen, strict=True) if u is unit and not _is_condition(p)
        ]
        if any(_asserts_a_condition(part, unit, judge) for part in mains):
            return "It states what the source only supposes."
        if _mixed(unit, mine, used):
            return "It puts together what the source keeps apart."
        negations = sum(a.kind == "negation" for a in mine)
        denying = used | {d for i in used if (d := unit.clauses[i].denied_by) is not None}
        known = sum(a.kind == "negation" for i in denying for a in unit.clauses[i].atoms)
        if negations != known:
            return "It says no where the source does not, or leaves a no out."
    return ""


def _kept(clause: Clause, at: int, whole: Sequence[Atom], judge: Judge) -> bool:
    """Whether a claim says a condition: its facts, its turning words and most of its content."""
    # What a sentence begins with is its occasion, and half of it shows that it is this one.
    share = OCCASION if len(clause.governs) and clause.governs[0] > at else CONDITION
    pieces: list[list[Atom]] = [[]]
    for atom in clause.atoms:
        if atom.word in OR:
            pieces.append([])
        pieces[-1].append(atom)
    return any(_piece_kept(piece, whole, share, judge) for piece in pieces)


def _piece_kept(piece: Sequence[Atom], whole: Sequence[Atom], share: float, judge: Judge) -> bool:
    said = {a.kind for a in whole} | judge.asked_kinds
    if any(a.kind in _KEPT and a.kind not in said for a in piece):
        return False
    facts = [a for a in piece if a.kind == "fact"]
    if not all(a.value in judge.asked or any(agree(a, o) for o in whole) for a in facts):
        return False
    return _mostly(piece, whole, share, judge)


def _used(unit: Unit, mine: Sequence[Atom]) -> set[int]:
    """Return the clauses that it takes to cover what the claim says, as few as will do."""
    wanted = [a for a in mine if a.kind in ("word", "loose", "fact", "free")]
    left = set(range(len(wanted)))
    used: set[int] = set()
    covers = [
        {i for i, atom in enumerate(wanted) if _covered(atom, clause)} for clause in unit.clauses
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


def _is_condition(part: Part) -> bool:
    return any(atom.kind in ("condition", "except") for atom in part.atoms) or any(
        atom.word in _REASONS for atom in part.atoms[:2]
    )


def _asserts_a_condition(part: Part, unit: Unit, judge: Judge) -> bool:
    """Whether most words that a part takes from the source stand only in an "if" there."""
    supposed = [c for c in unit.clauses if _supposes(c)]
    stated = [c for c in unit.clauses if not _supposes(c)]
    taken = [
        atom
        for atom in part.atoms
        if atom.kind in ("word", "fact")
        and atom.value not in judge.asked
        and not judge.is_context(atom, None)
        and any(_covered(atom, clause) for clause in unit.clauses)
    ]
    only = [
        atom
        for atom in taken
        if any(_covered(atom, clause) for clause in supposed)
        and not any(_covered(atom, clause) for clause in stated)
    ]
    return 2 * len(only) >= len(taken) > 0


def _supposes(clause: Clause) -> bool:
    return clause.conditional and any(
        a.kind == "condition" and a.word not in OCCASIONS for a in clause.atoms
    )


def _mixed(unit: Unit, mine: Sequence[Atom], used: set[int]) -> bool:
    """Whether the words of two clauses with facts of their own are told in one another's midst."""
    weighty = [i for i in used if any(a.kind == "fact" for a in unit.clauses[i].atoms)]
    if len(weighty) < 2:
        return False
    order: list[int] = []
    for atom in mine:
        if atom.kind not in ("word", "fact"):
            continue
        holders = [i for i in weighty if _covered(atom, unit.clauses[i])]
        if len(holders) == 1 and order[-1:] != holders:
            order += holders
    return len(order) > len(set(order))


def _covered(atom: Atom, clause: Clause) -> bool:
    if atom.kind == "fact":
        return any(same_fact(atom, other) for other in clause.atoms if other.kind == "fact")
    if atom.kind == "free":
        return any(other.kind == "free" for other in clause.atoms)
    return any(
        atom.value == other.value for other in clause.atoms if other.kind in ("word", "loose")
    ) or akin_atom(atom, clause.atoms)


def _chooses(unit: Unit, index: int, used: set[int], mine: Sequence[Atom]) -> bool:
    """Whether a claim takes the other one of two facts: "at 66, or from 62 with a lower amount"."""
    if index + 1 not in used or unit.clauses[index + 1].atoms[0].word not in OR:
        return False
    here, there = (
        [a for a in unit.clauses[i].atoms if a.kind == "fact"] for i in (index, index + 1)
    )
    return (
        bool(here)
        and not any(agree(a, o) for a in here for o in mine)
        and any(agree(a, o) for a in there for o in mine)
        and not any(a.kind in _KEPT for a in unit.clauses[index].atoms)
    )


def _clause_dropped(
    clause: Clause, mine: Sequence[Atom], whole: Sequence[Atom], unit: Unit, judge: Judge
) -> str:
    kinds = {a.kind for a in mine}
    for atom in clause.atoms:
        if atom.kind in _KEPT and atom.kind not in kinds:
            return f"It leaves out: {atom.word}."
        if atom.kind == "fact" and not any(
            same_fact(atom, o) or same_fact(o, atom) for o in whole if o.kind == "fact"
        ):
            return f"It leaves out a fact of the source: {atom.word or atom.value}."
    whole_clause = unit.kind == "fees" or "free" in {a.kind for a in clause.atoms} & kinds
    if not _mostly(clause.atoms, whole, 0.99 if whole_clause else RECIPROCAL, judge):
        return f"It leaves out for whom or what: {_words(clause)}."
    return ""


def _mostly(found: Sequence[Atom], mine: Sequence[Atom], share: float, judge: Judge) -> bool:
    content = [a for a in found if a.kind in ("word", "fact")]
    if not content:
        return True
    said = sum(
        a.value in judge.asked
        or a.value in judge.before
        or (share <= RECIPROCAL and judge.is_context(a, None))
        or any(
            (a.kind == "fact" and o.kind == "fact" and same_fact(o, a))
            or (a.kind == "word" and (o.value == a.value or akin_atom(a, [o])))
            for o in mine
        )
        for a in content
    )
    return said >= share * len(content)


def _words(clause: Clause) -> str:
    return " ".join(a.word or str(a.value) for a in clause.atoms)
