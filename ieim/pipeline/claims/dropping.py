"""Dropping: what a claim leaves out of the clauses that it uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ieim.pipeline.claims.atoms import Atom
from ieim.pipeline.claims.comparing import agree, akin_atom, same_fact
from ieim.pipeline.claims.entries import OCCASIONS, OR, WITHOUT, Clause, Part, Unit
from ieim.pipeline.claims.using import KEPT, clauses_used, covered

if TYPE_CHECKING:
    from ieim.pipeline.claims.judging import Judge

_TURNING = frozenset(["negation", "only", "except"])
"""Those of them that a claim has to say in the same part."""

_SOFT = frozenset(["permission", "ability", "hedge", "negation"])
"""What a claim of something that only may be so has to say."""

_REASONS = frozenset(
    [
        "because",
        "since",
        "as",
        "with",
        "puisque",
        "parce",
        "car",
        "comme",
        "avec",
        "weil",
        "da",
        "porque",
    ]
)
"""What begins the citizen's own case: "because you are under 18"."""

CONDITION = 0.6
"""The share of a condition's content that a claim has to say."""

OCCASION = 0.5
"""The same of a condition that a sentence begins with."""

RECIPROCAL = 0.33
"""The share of the content of a clause that a claim has to say to use it."""

WHOLE = 0.99
"""The same of a fee, and of one of several times."""

ALONE = 0.98
"""The same of a fee that its sentence has no other beside: words of a name go without saying."""


def dropped(parts: Sequence[Part], chosen: Sequence[Unit | None], judge: Judge) -> str:
    """Return what the claim leaves out of the clauses that it uses, "" for nothing."""
    whole = [atom for part in parts for atom in part.atoms]
    for unit in {id(u): u for u in chosen if u}.values():
        mine = [a for part, u in zip(parts, chosen, strict=True) if u is unit for a in part.atoms]
        used = clauses_used(unit, mine)
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
        least = max(sum(_denies(unit.clauses[i].atoms, mine) for i in denying), known > 0)
        # The no of a condition that the claim keeps.
        known += sum(
            a.kind == "negation"
            for i, clause in enumerate(unit.clauses)
            if i not in denying and any(g in used for g in clause.governs)
            for a in clause.atoms
        )
        if not least <= negations <= known:
            return "It says no where the source does not, or leaves a no out."
    return ""


def _denies(found: Sequence[Atom], mine: Sequence[Atom]) -> int:
    """Return how many negations of a clause a claim that uses it cannot leave out."""
    count = 0
    for index, atom in enumerate(found):
        if atom.kind != "negation" or atom.word in OR:
            continue
        noun = next((a for a in found[index:] if a.kind in ("word", "fact")), atom)
        said = any(noun.value == a.value for a in mine) or akin_atom(noun, mine)
        count += atom.word not in WITHOUT or said
    return count


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
    if any(a.kind in KEPT and a.kind not in said for a in piece):
        return False
    if any(a.kind == "condition" for a in piece) and not _agrees(piece, judge):
        return False
    # Who says "we are not married" is no case of "if the parents are married".
    denied = "negation" in judge.asked_kinds and all(a.kind != "negation" for a in piece)
    asked = frozenset() if denied else judge.asked
    facts = [a for a in piece if a.kind == "fact"]
    if not all(a.value in asked or any(agree(a, o) for o in whole) for a in facts):
        return False
    return _mostly(piece, whole, share, judge, asked)


def _agrees(piece: Sequence[Atom], judge: Judge) -> bool:
    """Whether the claim's own condition on the same matter says no where this one does."""
    denies = any(a.kind == "negation" for a in piece)
    content = [a for a in piece if a.kind in ("word", "fact")]
    for part in judge.parts:
        kinds = {a.kind for a in part.atoms}
        if "condition" not in kinds or ("negation" in kinds) == denies:
            continue
        same = sum(
            any(a.value == o.value for o in part.atoms) or akin_atom(a, part.atoms) for a in content
        )
        if same and 2 * same >= len(content):
            return False
    return True


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
        and any(covered(atom, clause) for clause in unit.clauses)
    ]
    only = [
        atom
        for atom in taken
        if any(covered(atom, clause) for clause in supposed)
        and not any(covered(atom, clause) for clause in stated)
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
        holders = [i for i in weighty if covered(atom, unit.clauses[i])]
        if len(holders) == 1 and order[-1:] != holders:
            order += holders
    return len(order) > len(set(order))


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
        and not any(a.kind in KEPT for a in unit.clauses[index].atoms)
    )


def _clause_dropped(
    clause: Clause, mine: Sequence[Atom], whole: Sequence[Atom], unit: Unit, judge: Judge
) -> str:
    kinds = {a.kind for a in mine}
    elsewhere = {a.word for a in whole if a.kind in KEPT - _TURNING}
    for atom in clause.atoms:
        if atom.kind in KEPT and atom.kind not in kinds and atom.word not in elsewhere:
            return f"It leaves out: {atom.word}."
        if atom.kind == "fact" and not any(
            same_fact(atom, o) or same_fact(o, atom) for o in whole if o.kind == "fact"
        ):
            return f"It leaves out a fact of the source: {atom.word or atom.value}."
    if "permission" in {a.kind for a in clause.atoms} and not {a.kind for a in whole} & _SOFT:
        return "It leaves out that it only may be so."
    facts = sum(any(a.kind == "fact" for a in each.atoms) for each in unit.clauses)
    priced = unit.kind == "fees" or (unit.kind == "time" and facts > 1)
    whole_clause = priced or "free" in {a.kind for a in clause.atoms} & kinds
    share = (WHOLE if facts > 1 else ALONE) if whole_clause else RECIPROCAL
    if not _mostly(clause.atoms, whole, share, judge, judge.asked):
        return f"It leaves out for whom or what: {_words(clause)}."
    return ""


def _mostly(
    found: Sequence[Atom],
    mine: Sequence[Atom],
    share: float,
    judge: Judge,
    asked: frozenset[object],
) -> bool:
    content = [a for a in found if a.kind in ("word", "fact")]
    if not content:
        return True
    named = [judge.is_context(a, None) for a in content]
    said = [
        a.value in asked
        or a.value in judge.before
        or any(
            (a.kind == "fact" and o.kind == "fact" and same_fact(o, a))
            or (a.kind == "word" and (o.value == a.value or akin_atom(a, [o])))
            for o in mine
        )
        for a in content
    ]
    # The words of a name go without saying, except that they alone make no condition, only an
    # occasion.
    own = any(each and not name for each, name in zip(said, named, strict=True))
    if share <= OCCASION or (share < WHOLE and own):
        said = [each or name for each, name in zip(said, named, strict=True)]
    return sum(said) >= share * len(content)


def _words(clause: Clause) -> str:
    return " ".join(a.word or str(a.value) for a in clause.atoms)
