"""What a message is by its vector: an inquiry to an administration or not, by itself or in a talk.

Lines through the vectors of the examples (:mod:`ieim.search.examples`). What the shipped examples
teach is in ``inquiry.npz``, made by ``python -m ieim.search.train``. Figures: docs/decisions/
0020-what-a-message-is.md.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from ieim.pipeline.ports import NOT, TURN
from ieim.pipeline.reply.guidance import UNCLEAR

SHIPPED: Final = Path(__file__).with_suffix(".npz")

MOVE: Final = "move:"
"""How the names of lines begin that say how a message steers a talk."""

CORRECTS, SURELY = "corrects", "surely corrects"
"""The line, and the two limits of it, of a message that corrects what was answered."""

FIELD, CASE = "field:", "case:"
"""How the names of lines begin that say which field a question asks about, and which case a message
is that asks nothing; the line of what asks something is :data:`CASE` alone."""

CLOSING: Final = frozenset({"thanks", "greeting"})
"""The cases of what opens or closes a talk."""

Vector = npt.NDArray[np.float32]
Vectors = npt.NDArray[np.float32]
_Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What examples taught; safe for threads.

    ``slopes`` has a row for each of ``names``, ``biases`` what is added. ``limits`` are thresholds
    by name. ``embedder`` made the vectors, ``examples`` is the digest of the texts and their kinds.
    ``topics`` and ``centres`` have a row for each topic of an administration: the slope towards it,
    after ``middle`` is taken off, and its average message.
    """

    embedder: str
    examples: str
    names: tuple[str, ...]
    slopes: _Numbers
    biases: _Numbers
    limits: Mapping[str, float]
    topics: Vectors
    centres: Vectors
    middle: Vector

    @property
    def width(self) -> int:
        """The width of the vectors."""
        return int(self.slopes.shape[1])

    @property
    def least(self) -> float:
        """Below this value of :meth:`inquiry_likeness` a message is hardly ever an inquiry."""
        return self.limits["least"]

    @property
    def least_in_a_talk(self) -> float:
        """Below this value of :meth:`wants` a second message hardly ever wants anything."""
        return self.limits["least_in_a_talk"]

    @property
    def floor(self) -> float:
        """Nothing less near than this is about a message; no limit where none was measured."""
        return self.limits.get("floor", -math.inf)

    def topics_of(self, vectors: Vectors) -> Vectors:
        """Return how much each text is about each topic, as rows of length 1."""
        found = (vectors - self.middle) @ self.topics.T
        lengths = np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
        about: Vectors = (found / lengths).astype(np.float32)
        return about

    def usual(self, vector: Vector) -> float:
        """Return how near a text is to the average message of the topic that it is nearest to."""
        return float((self.centres @ vector).max()) if len(self.centres) else 0.0

    def inquiry_likeness(self, vector: Vector) -> float:
        """Return how similar a text is to inquiries to an administration: about 1 for an inquiry,
        about -1 for anything else."""
        return self._at("asked", vector)

    def wants(self, vector: Vector) -> float:
        """Return how similar a second message is to one with a request: about 1, or about -1
        where it only closes the talk."""
        return self._at("wants", vector)

    def small_talk(self, vector: Vector) -> str:
        """Return the case of a message in a talk that asks nothing of an administration; empty
        where it may, or is like none."""
        case, asked = self.case(vector), self.inquiry_likeness(vector)
        least = 0.0 if case in CLOSING else self.least
        return case if case != UNCLEAR and asked < least and not self.fields(vector) else ""

    def goes_on(self, vector: Vector) -> float:
        """Return, from 0 to 1, how surely a message only continues the talk before it.

        At most 0.5 where it may correct that: it has not left the talk, but means another service.
        """
        apart, sure = self.limits["apart"], self.limits["sure"]
        share = (self._at("follows", vector) - apart) / max(sure - apart, 1e-9)
        most = 1.0 if self._at("agrees", vector) >= self.limits["agrees"] else 0.5
        return min(most, max(0.0, share))

    def fields(self, vector: Vector) -> list[str]:
        """Return the fields of a service that a text clearly asks about, the clearest first.

        Mostly none.
        """
        over = {
            name: value - self.limits[FIELD + name]
            for name, value in self._values(FIELD, vector).items()
        }
        return sorted((name for name in over if over[name] > 0), key=lambda name: -over[name])

    def asks(self, vector: Vector) -> dict[str, float]:
        """Return how much a text is like questions about each field: about 1, or about -1."""
        return {n.removeprefix(FIELD): v for n, v in self._values(FIELD, vector).items()}

    def move(self, vector: Vector, *, least: float = 0.0) -> str:
        """Return how a text that names no matter steers a talk; empty for one that does not, or not
        by ``least``."""
        over = {
            name: value - self.limits[MOVE + name]
            for name, value in self._values(MOVE, vector).items()
            if name not in (TURN, NOT)
        }
        best = max(over, key=lambda name: over[name], default="")
        return best if over.get(best, 0.0) > least else ""

    def turns(self, vector: Vector) -> float:
        """Return how surely a message names a matter or a person of its own: above 0 it does."""
        return self._at(MOVE + TURN, vector) - self.limits[MOVE + TURN]

    def corrects(self, vector: Vector, *, surely: bool = False) -> bool:
        """Whether a message corrects what was answered, be it by itself or in a talk."""
        return self._at(CORRECTS, vector) > self.limits[SURELY if surely else CORRECTS]

    def leaves(self, vector: Vector) -> float:
        """Return how surely a text says what is not meant: above 0 it does."""
        return self._at(MOVE + NOT, vector) - self.limits[MOVE + NOT]

    def negates(self, vector: Vector) -> bool:
        """Whether a text says what is not meant."""
        return self.leaves(vector) > 0

    def case(self, vector: Vector) -> str:
        """Return the case that a text is most like, ``unclear`` where it is more unlike it than
        like it: of the examples of another case 1 in 100 gets this far."""
        values = self._values(CASE, vector)
        best = max(values, key=lambda name: values[name], default="")
        return (best or UNCLEAR) if values.get(best, 0.0) > 0 else UNCLEAR

    def _at(self, name: str, vector: Vector) -> float:
        row = self.names.index(name)
        return float(vector.astype(np.float64) @ self.slopes[row] + self.biases[row])

    def _values(self, prefix: str, vector: Vector) -> dict[str, float]:
        """Return the values of the lines of ``prefix``, by the rest of their names."""
        names = [name for name in self.names if name.startswith(prefix)]
        return {name.removeprefix(prefix): self._at(name, vector) for name in names}

    def to_bytes(self) -> bytes:
        """Return it as an npz file."""
        file = io.BytesIO()
        np.savez(
            file,
            embedder=self.embedder,
            examples=self.examples,
            names=np.array(self.names),
            slopes=self.slopes,
            biases=self.biases,
            limits=np.array(list(self.limits)),
            thresholds=np.array(list(self.limits.values())),
            topics=self.topics,
            centres=self.centres,
            middle=self.middle,
        )
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Reading:
        """Return what :meth:`to_bytes` made."""
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            limits = zip(found["limits"].tolist(), found["thresholds"].tolist(), strict=True)
            return cls(
                embedder=str(found["embedder"]),
                examples=str(found["examples"]),
                names=tuple(found["names"].tolist()),
                slopes=found["slopes"],
                biases=found["biases"],
                limits=dict(limits),
                topics=found["topics"],
                centres=found["centres"],
                middle=found["middle"],
            )


@cache
def shipped() -> Reading:
    """Return what the shipped examples teach with the embedded model."""
    return Reading.from_bytes(SHIPPED.read_bytes())
