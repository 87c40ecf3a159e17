"""Matching: the parts of a claim against the units of one entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ieim.pipeline.claims.atoms import Atom
from ieim.pipeline.claims.comparing import agree, akin_atom
from ieim.pipeline.claims.dropping import dropped
from ieim.pipeline.claims.entries import Part, Read, Unit
from ieim.pipeline.claims.lexicon import OPERATORS, sensitive
from ieim.pipeline.claims.using import told_by

if TYPE_CHECKING:
    from ieim.pipeline.claims.judging import Judge

_STRICT = frozenset(OPERATORS) - {"duty", "permission", "ability", "first", "condition", "sequence"}
"""Operators that a claim may not add."""

MOST_PARTS = 40
_TRIES = 600

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
            (unit, _missing(part, unit, read, judge))
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


def _distance(part: Part, unit: Unit) -> int:
    return -_own(part, unit)


def _own(part: Part, unit: Unit) -> int:
    """Return how many words and facts of a part stand in a unit itself."""
    return sum(map(unit.has, part.atoms))


def _cost(gap: Sequence[Atom], part: Part, unit: Unit, read: Read, judge: Judge) -> int:
    """Return how many words a part has beyond a unit; 99 where it may have none of them."""
    if not gap:
        return 0
    spared = all(
        a.kind == "word"
        and a.value in read.stems
        and a.word not in sensitive()
        and a.word not in judge.words.exact
        # A word of another cited name says that the sentence is about that one.
        and (a.value in read.name_stems or a.value not in judge.name_stems)
        for a in gap
    )
    # A part that turns a meaning has to be all but the source's own.
    share = TURNED if any(a.kind in _TURNS for a in part.atoms) else PART
    return len(gap) if spared and _own(part, unit) >= share * len(gap) else 99


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
    the part makes a duty of it. ``told`` are the starts of words right after one of the unit's.
    """

    unit: Unit
    read: Read
    strict: bool
    asks: bool
    held: bool
    turns: bool
    told: frozenset[int]


def _missing(part: Part, unit: Unit, read: Read, judge: Judge) -> list[Atom]:
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
    beside = _Beside(unit, read, strict, asks, held, turns, told)
    return [
        atom
        for atom in part.atoms
        if atom.kind not in ("glue", "name")
        and (
            atom in turned
            or not _there(atom, beside._replace(strict=strict and atom is not subject), judge)
        )
    ]


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
        return unit.has(atom)
    if atom.kind in ("word", "loose"):
        return _word_there(atom, beside, judge)
    if atom.kind in ("universal", "same") or atom.word == "us":
        return atom.word in unit.words or atom.start in beside.told
    if atom.kind == "duty":
        told = unit.orders or unit.kind in ("requirement", "step", "fees", "time")
        return "duty" in kinds or told
    if atom.kind == "permission":
        return "permission" in kinds or unit.kind in ("step", "name", "contact")
    if atom.kind == "ability":
        # What an agency is for ("work", "study") says nobody's permission.
        soft = kinds & {"ability", "permission", "us"} or unit.kind not in ("requirement", "agency")
        return bool(soft) and not (kinds & {"duty"} and not kinds & {"ability", "permission"})
    if atom.kind == "advice":
        return "advice" in kinds or "duty" in kinds or unit.kind in ("requirement", "step")
    if atom.kind in ("condition", "first", "sequence"):
        return True
    if atom.kind == "after" and unit.kind == "time":
        return True  # "ready after 8 working days"
    return atom.kind in kinds
