"""Comparing: whether an atom of a source says an atom of a claim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from ieim.pipeline.claims.atoms import Atom, Quantity
from ieim.pipeline.facts import matches

ALIKE = 3
"""How many letters words of one stem begin with at least."""

_PLURAL = frozenset(["ez", "ent", "ons"])
_VERBAL = _PLURAL | {"", "e", "es"}
"""Endings of French verbs that their stemmer leaves on short ones: "vivez" and "vivent"."""


def akin(one: str, others: Iterable[object]) -> bool:
    """Whether one of the other stems differs from this one only by its ending."""
    return any(_near(one, str(other)) for other in others)


@lru_cache(maxsize=65536)
def _near(one: str, two: str) -> bool:
    if one[:ALIKE] != two[:ALIKE] or len(one) < ALIKE:
        return False
    same = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), None)
    same = min(len(one), len(two)) if same is None else same
    longest = max(len(one), len(two)) - same
    rests = {one[same:], two[same:]}
    if rests <= _VERBAL and rests & _PLURAL:
        return True
    return (same >= 5 and longest <= 3) or (same == 4 and longest <= 2)


def akin_atom(atom: Atom, there: Sequence[Atom]) -> bool:
    """Whether a word of ``there`` differs from this one only by its ending."""
    return akin(str(atom.value), (a.value for a in there if a.kind in ("word", "loose")))


def same_fact(atom: Atom, other: Atom) -> bool:
    """Whether ``other`` gives the fact that ``atom`` states."""
    if atom.value == other.value:
        return True
    if isinstance(atom.value, Quantity) and isinstance(other.value, Quantity):
        return atom.value[:2] in (other.value[:2], (other.value.value, other.value.implied))
    if atom.fact and other.fact:
        return matches(atom.fact, [other.fact])
    return False


def agree(one: Atom, other: Atom) -> bool:
    """Whether two facts are one, the one or the other said more fully."""
    return one.kind == other.kind == "fact" and (same_fact(one, other) or same_fact(other, one))
