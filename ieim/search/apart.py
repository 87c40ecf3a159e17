"""Whether two texts clearly ask for two services: by their evidence, of which some is meaning's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ieim.search.clauses import Clause
from ieim.search.engine import MEANING, Near

_ABOUT = 3
"""So many services a text may be about."""

CLEARLY = 2.5
"""So much more evidence another service has for a message that is clearly about that one. Chosen on
talks that are made of the development questions, where taps cost as much as wrong answers save."""

_APART = 1.5
"""So much more each of two statements has for a service of its own, that neither is only told for
the other's sake. Chosen on joined development questions (decision 23)."""

_NEARER = 0.25
"""And so much of it has to be of meaning, that no rare word decides alone ("bring")."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Each service's fused score for a text, and how near it is."""

    scores: NDArray[np.floating]
    near: Near


def finds_another(own: Evidence, about: Evidence, *, by: float = CLEARLY) -> bool:
    """Whether one service has clearly more of ``own`` than those that ``about`` is about."""
    others = np.argsort(-about.scores, kind="stable")[:_ABOUT]
    others = others[np.append(True, about.scores[others[1:]] > 0)]  # the average entry has 0
    best = own.scores.argmax()
    nearer = MEANING * float(own.near[best] - own.near[others].max())
    return nearer >= _NEARER and bool(own.scores[best] - own.scores[others].max() >= by)


def stand_apart(found: Mapping[Clause, Evidence]) -> set[Clause]:
    """Return the clauses that find another service than every other of them, and they than it."""
    pairs = [(one, other) for one in found for other in found if one != other]
    apart = {pair for pair in pairs if finds_another(*map(found.__getitem__, pair), by=_APART)}
    together = {one for one, other in pairs if not {(one, other), (other, one)} <= apart}
    return set(found) - together if len(found) > 1 else set()
