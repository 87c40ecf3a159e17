"""Matching: the parts of a claim against the units of one entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ieim.pipeline.claims.atoms import Atom, Quantity
from ieim.pipeline.claims.entries import Clause, Read, Unit
from ieim.pipeline.claims.lexicon import OPERATORS, sensitive
from ieim.pipeline.facts import matches

if TYPE_CHECKING:
    from ieim.pipeline.claims.judging import Judge

_KEPT = frozenset(
    "negation only except hedge once twice minimum maximum over under within before after about "
    "same first".split()
)
"""Operators that a claim may not drop from a clause that it uses."""

_STRICT = frozenset(OPERATORS) - {"duty", "permission", "ability", "first", "condition"}
"""Operators that a claim may not add."""

_TRIES = 300


class Part(NamedTuple):
    """A clause of a claim; ``wants`` where it may say what the citizen wants."""

    atoms: tuple[Atom, ...]
    wants: bool


def supports(parts: Sequence[Part], read: Read, judge: Judge) -> str:
    """Return "" where the entry supports the sentence, else why it does not."""
    candidates: list[list[Unit | None]] = []
    merged = _merged(parts, judge)
    for part in merged:
        if part.wants and _only_wants(part, read, judge):
            candidates.append([None])
            continue
        units = [unit for unit in read.units if not _missing(part, unit, read, judge)]
        if not units:
            nearest = min(
                (_missing(part, unit, read, judge) for unit in read.units), key=len, default=[]
            )
            said = " ".join(atom.word or str(atom.value) for atom in nearest)
            return f"The source does not say: {said}."
        candidates.append(list(units))
    if all(c == [None] for c in candidates):
        return "It only repeats what was asked."
    why = ""
    for tried, chosen in enumerate(_choices(candidates)):
        why = _dropped(merged, chosen, judge)
        if not why or tried >= _TRIES:
            break
    return why


def _choices(candidates: Sequence[Sequence[Unit | None]]) -> Iterator[list[Unit | None]]:
    """Yield ways to give each part a unit, those that stay with one unit first."""

    def rest(index: int, before: Unit | None) -> Iterator[list[Unit | None]]:
        if index == len(candidates):
            yield []
            return
        for unit in sorted(candidates[index], key=lambda u: u is not before):
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
        else:
            waiting = found
    if waiting:
        if joined:
            joined[-1] = Part((*joined[-1].atoms, *waiting), joined[-1].wants)
        else:
            joined.append(Part(waiting, False))
    return joined


def _has_content(found: Sequence[Atom]) -> bool:
    return any(atom.kind in ("word", "fact", "free") for atom in found)


def _only_wants(part: Part, read: Read, judge: Judge) -> bool:
    if any(a.kind in _STRICT and a.kind != "us" for a in part.atoms):
        return False
    known = {a.value for unit in read.units for a in unit.atoms}
    return all(
        atom.kind not in ("word", "loose", "fact")
        or (atom.value in judge.asked and atom.word not in sensitive())
        or (atom.kind != "fact" and atom.value in known and atom.word not in sensitive())
        or judge.is_context(atom)
        or atom.kind == "loose"
        for atom in part.atoms
    )


def _missing(part: Part, unit: Unit, read: Read, judge: Judge) -> list[Atom]:
    """Return the atoms of a part that a unit does not have and that are not free beside it."""
    there = list(unit.atoms)
    stems = {a.value for a in there if a.kind in ("word", "loose", "glue")}
    words = {a.word for a in there}
    kinds = {a.kind for a in there}
    return [
        atom
        for atom in part.atoms
        if not (
            atom.kind in ("glue", "name") or _there(atom, unit, there, stems, words, kinds, judge)
        )
    ]


def _there(
    atom: Atom,
    unit: Unit,
    there: Sequence[Atom],
    stems: set[object],
    words: set[str],
    kinds: set[str],
    judge: Judge,
) -> bool:
    if atom.kind == "fact":
        return any(_same_fact(atom, other) for other in there if other.kind == "fact")
    if atom.kind in ("word", "loose"):
        if atom.value in stems or atom.word in words or _akin(atom, there):
            return True
        if atom.word in sensitive():
            return False
        labels = judge.words.labels
        return (
            atom.kind == "loose"
            or atom.word in labels.get("any", ())
            or atom.word in labels.get(unit.kind, ())
            or judge.is_context(atom)
        )
    if atom.kind in ("universal", "same"):
        return atom.word in words
    if atom.kind == "duty":
        return "duty" in kinds or unit.kind in ("requirement", "step", "fees", "time")
    if atom.kind == "permission":
        return "permission" in kinds or unit.kind in ("step", "name", "contact")
    if atom.kind == "ability":
        soft = kinds & {"ability", "permission"} or unit.kind != "requirement"
        return bool(soft) and not (kinds & {"duty"} and not kinds & {"ability", "permission"})
    if atom.kind == "advice":
        return "advice" in kinds or "duty" in kinds or unit.kind in ("requirement", "step")
    if atom.kind in ("condition", "first"):
        return True
    return atom.kind in kinds


def _akin(atom: Atom, there: Sequence[Atom]) -> bool:
    return akin(str(atom.value), (a.value for a in there if a.kind in ("word", "loose")))


def akin(one: str, others: Iterable[object]) -> bool:
    """Whether one of the other stems differs from this one only by its ending."""
    for other in others:
        two = str(other)
        same = 0
        while same < min(len(one), len(two)) and one[same] == two[same]:
            same += 1
        longest = max(len(one), len(two)) - same
        if (same >= 5 and longest <= 3) or (same == 4 and longest <= 2):
            return True
    return False


def _same_fact(atom: Atom, other: Atom) -> bool:
    if atom.value == other.value:
        return True
    if atom.fact and other.fact:
        return matches(atom.fact, [other.fact])
    return False


def _dropped(parts: Sequence[Part], chosen: Sequence[Unit | None], judge: Judge) -> str:
    """Return what the claim leaves out of the clauses that it uses, "" for nothing."""
    whole = [atom for part in parts for atom in part.atoms]
    for unit in {id(u): u for u in chosen if u}.values():
        mine = [a for part, u in zip(parts, chosen, strict=True) if u is unit for a in part.atoms]
        used = _used(unit, mine)
        for index in sorted(used):
            if why := _clause_dropped(unit.clauses[index], mine, whole, unit, judge):
                return why
        for index, clause in enumerate(unit.clauses):
            if index not in used and any(g in used for g in clause.governs):
                if not _mostly(clause, whole, 0.5, judge):
                    return f"It leaves out the condition: {_words(clause)}."
        negations = sum(a.kind == "negation" for a in mine)
        known = sum(a.kind == "negation" for i in used for a in unit.clauses[i].atoms)
        if negations != known:
            return "It says no where the source does not, or leaves a no out."
    return ""


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
        used.add(best)
        left -= covers[best]
    return used


def _covered(atom: Atom, clause: Clause) -> bool:
    if atom.kind == "fact":
        return any(_same_fact(atom, other) for other in clause.atoms if other.kind == "fact")
    if atom.kind == "free":
        return any(other.kind == "free" for other in clause.atoms)
    return any(
        atom.value == other.value for other in clause.atoms if other.kind in ("word", "loose")
    ) or _akin(atom, clause.atoms)


def _clause_dropped(
    clause: Clause, mine: Sequence[Atom], whole: Sequence[Atom], unit: Unit, judge: Judge
) -> str:
    kinds = {a.kind for a in mine}
    for atom in clause.atoms:
        if atom.kind in _KEPT and atom.kind not in kinds:
            return f"It leaves out: {atom.word}."
        if atom.kind == "fact" and not any(
            _same_fact(atom, o) or _same_fact(o, atom) for o in whole if o.kind == "fact"
        ):
            return f"It leaves out a fact of the source: {atom.word or atom.value}."
    if unit.kind in ("fees",) and not _mostly(clause, whole, 0.99, judge):
        return f"It leaves out for whom or what: {_words(clause)}."
    return ""


def _mostly(clause: Clause, mine: Sequence[Atom], share: float, judge: Judge) -> bool:
    content = [a for a in clause.atoms if a.kind in ("word", "fact")]
    if not content:
        return True
    said = sum(
        a.value in judge.asked
        or judge.is_context(a)
        or any(
            (a.kind == "fact" and o.kind == "fact" and _same_fact(o, a))
            or (a.kind == "word" and (o.value == a.value or _akin(a, [o])))
            for o in mine
        )
        for a in content
    )
    return said >= share * len(content)


def _words(clause: Clause) -> str:
    return " ".join(a.word or str(a.value) for a in clause.atoms)
