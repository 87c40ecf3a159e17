"""What a message is by its vector: ridge regression on the vectors of the examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from ieim.pipeline.ports import Matrix
from ieim.search.inquiry.aspects import Aspects
from ieim.search.inquiry.cases import Cases
from ieim.search.inquiry.examples import Kind
from ieim.search.inquiry.solving import line

SURE: Final = 0.9
"""Above this share of the inquiries that are clear by themselves a message surely goes on, unless
it is below the same share of the corrections."""

APART: Final = 0.7
"""And below this share of the former it surely does not. Between them nobody can tell from the
message alone."""

MISSED: Final = 0.02
"""The share of the inquiries that may look like nothing that is asked of an administration."""

MISSED_IN_A_TALK: Final = 0.02
"""And the share of what is wanted in a talk, beside thanks or without, that may look like thanks
alone."""


class Reading:
    """What the examples teach. The same vectors teach the same; safe for threads.

    ``vectors`` has a row of length 1 for each example, ``kinds`` what it is. Teaching 6,500 takes a
    tenth of a second. ``width`` is that of the vectors. Every threshold is a share of the examples,
    each judged by all others, and none was chosen by looking at the messages that measure it.
    ``aspects`` tell what a message asks about, ``cases`` what one is that asks nothing; without
    them that is not told.
    """

    def __init__(
        self,
        vectors: Matrix,
        kinds: Sequence[Kind],
        aspects: Aspects | None = None,
        cases: Cases | None = None,
    ) -> None:
        self.aspects = aspects
        self.width = vectors.shape[1]
        self.cases = cases
        known = vectors.astype(np.float64)
        of = {kind: np.array([each is kind for each in kinds]) for kind in Kind}
        follows, clear, corrects = (
            of[kind] for kind in (Kind.FOLLOW_UP, Kind.INQUIRY, Kind.CORRECTION)
        )
        leans, closes = follows | corrects, of[Kind.CLOSING]
        self._asked, alone = line(known, (leans | clear,), (closes | of[Kind.OTHER],))
        self.least = float(np.quantile(alone[leans | clear], MISSED))
        wants = leans | of[Kind.THANKS_AND_MORE]
        self._says, alone = line(known, (wants, clear), (closes,))
        self.least_in_a_talk = float(np.quantile(alone[wants], MISSED_IN_A_TALK))
        self._follows, alone = line(known, (follows,), (clear,))
        self._apart, self._sure = (
            float(np.quantile(alone[clear], share)) for share in (APART, SURE)
        )
        self._agrees, alone = line(known, (follows,), (corrects,))
        self._at_ease = float(np.quantile(alone[corrects], SURE))

    def asked(self, vector: npt.NDArray[np.float32]) -> float:
        """Return how much a text is like what is asked of an administration: about 1 where it is
        like nothing else, about -1 where it is like what is not. Below ``least`` it is hardly ever
        an inquiry."""
        return self._asked.at(vector)

    def says(self, vector: npt.NDArray[np.float32]) -> float:
        """Return how much a second message is like one that wants something: about 1, or about -1
        where it only closes the talk. Below ``least_in_a_talk`` it hardly ever wants anything."""
        return self._says.at(vector)

    def goes_on(self, vector: npt.NDArray[np.float32]) -> float:
        """Return, from 0 to 1, how surely a message only goes on with what was said before it.

        At most 0.5 where it may correct that: it has not left the talk, but means another service.
        """
        margin = self._follows.at(vector)
        share = (margin - self._apart) / max(self._sure - self._apart, 1e-9)
        most = 1.0 if self._agrees.at(vector) >= self._at_ease else 0.5
        return min(most, max(0.0, share))
