"""Lacking: what a unit of an entry does not say of a part of a claim."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ieim.pipeline.claims.atoms import Atom
from ieim.pipeline.claims.comparing import agree, akin_atom
from ieim.pipeline.claims.entries import Part, Read, Unit
from ieim.pipeline.claims.lexicon import sensitive
from ieim.pipeline.claims.using import covered

if TYPE_CHECKING:
    from ieim.pipeline.claims.judging import Judge


def _turned(part: Part, unit: Unit) -> Iterator[Atom]:
    """Yield what a part turns round.

    A "before" or "after" where what follows it comes first in the unit, and a verb of "we" that
    the unit has not: what we need or want is nobody's to add.
    """
    for at, atom in enumerate(part.atoms):
        if atom.kind == "us":
            does = next((a for a in part.atoms[at:] if a.kind in ("word", "loose")), None)
            if does and not unit.has(does):
                yield does
        if atom.kind not in ("before", "after") or atom.kind not in unit.kinds:
            continue
        follows = next((a for a in part.atoms[at:] if a.kind in ("word", "fact")), None)
        since = next(i for i, a in enumerate(unit.atoms) if a.kind == atom.kind)
        rest = unit.atoms[since:]
        if follows and unit.has(follows) and not any(_same(follows, a) for a in rest):
            yield atom


def _same(atom: Atom, other: Atom) -> bool:
    return atom.value == other.value or agree(atom, other) or akin_atom(atom, [other])


class _Beside(NamedTuple):
    """What a part is held against: a unit of an entry.

    ``strict`` where no word of a name is free, ``asks`` where the part speaks of a secret, a
    payment or an account, ``held`` where the unit does so in the same words, ``turns`` where
    the part makes a duty of it, ``ordered`` where the unit's clause that has most of it does so
    too. ``told`` are the starts of words right after one of the unit's.
    """

    unit: Unit
    read: Read
    strict: bool
    asks: bool
    held: bool
    turns: bool
    ordered: bool
    told: frozenset[int]


def missing(part: Part, unit: Unit, read: Read, judge: Judge) -> list[Atom]:
    """Return the atoms of a part that a unit does not have and that are not free beside it."""
    strict = part.atoms[0].kind in ("condition", "except")
    if strict:
        # A condition is the source's own: a name's words make none.
        own = [
            a for a in part.atoms if a.kind in ("word", "fact") and not judge.is_context(a, read)
        ]
        strict = not any(map(unit.has, own))
    risky = [a for a in part.atoms if a.word in sensitive()]
    asks = any(a.value not in read.name_stems for a in risky)
    held = all(a.value in unit.values for a in risky)
    subject = next((a for a in part.atoms if a.kind in ("word", "fact")), None)
    turns = any(a.kind == "duty" for a in part.atoms) and "duty" not in unit.kinds
    turned = list(_turned(part, unit))
    # "Send us the form" is "Send the form".
    told = frozenset(
        b.start for a, b in pairwise(part.atoms) if a.kind == "word" and a.value in unit.values
    )
    beside = _Beside(unit, read, strict, asks, held, turns, _ordered(part, unit), told)
    return [
        atom
        for atom in part.atoms
        if atom.kind not in ("glue", "name")
        and (
            atom in turned
            or not _there(atom, beside._replace(strict=strict and atom is not subject), judge)
        )
    ]


def _ordered(part: Part, unit: Unit) -> bool:
    """Whether a part tells to do what the clause of a unit that has most of it tells to do."""
    if not any(a.kind in ("duty", "advice") for a in part.atoms):
        return False
    own = [a for a in part.atoms if a.kind in ("word", "loose", "fact")]
    nearest = max(unit.clauses, key=lambda clause: sum(covered(a, clause) for a in own))
    return nearest.orders


def _word_there(atom: Atom, beside: _Beside, judge: Judge) -> bool:
    """Whether a unit has a word of a claim, or the word is free beside it."""
    unit, read, labels = beside.unit, beside.read, judge.words.labels
    if atom.start in judge.desks or atom.value in unit.values or atom.word in unit.words:
        return True
    if unit.has_word(str(atom.value)):
        return True
    if atom.word in judge.words.exact:
        return False
    named = judge.is_context(atom, read)
    if atom.word in sensitive():
        return named and not beside.strict
    if atom.word in judge.words.kin and atom.value in judge.asked:
        return True
    labelled = atom.word in labels.get(unit.kind, ())
    if beside.asks:
        # A secret, a payment, an account: only the entry's own words, and that one needs it.
        # It may be brought and shown; to whom it is given, the entry says.
        needed = beside.held and unit.kind == "requirement" and labelled and atom.kind == "word"
        return atom.word in labels["any"] or named or needed
    return (
        (atom.kind == "loose" and not beside.turns)
        or (unit.kind == "requirement" and atom.value in read.actions)
        or atom.word in labels["any"]
        or labelled
        or (named and not beside.strict)
    )


def _there(atom: Atom, beside: _Beside, judge: Judge) -> bool:
    unit, kinds = beside.unit, beside.unit.kinds
    if atom.kind == "fact":
        # "Call the line on …": the one number that there is may be told with a step.
        return unit.has(atom) or (unit.kind == "step" and atom.value in beside.read.contacts)
    if atom.kind in ("word", "loose"):
        return _word_there(atom, beside, judge)
    if atom.kind in ("universal", "same"):
        return atom.word in unit.words
    if atom.word == "us":
        return atom.word in unit.words or atom.start in beside.told
    if atom.kind == "duty":
        told = beside.ordered or unit.kind in ("requirement", "step", "fees", "time", "about")
        return "duty" in kinds or told
    if atom.kind == "permission":
        return "permission" in kinds or unit.kind in ("step", "name", "contact")
    if atom.kind == "ability":
        # What an agency is for ("work", "study") says nobody's permission.
        soft = kinds & {"ability", "permission", "us"} or unit.kind not in ("requirement", "agency")
        return bool(soft) and not (kinds & {"duty"} and not kinds & {"ability", "permission"})
    if atom.kind == "advice":
        return (
            bool(kinds & {"advice", "duty"})
            or beside.ordered
            or unit.kind in ("requirement", "step")
        )
    if atom.kind in ("condition", "first", "sequence"):
        return True
    if atom.kind == "after" and unit.kind == "time":
        return True  # "ready after 8 working days"
    return atom.kind in kinds
