"""What a question asks about a service (its fee, its papers …), by its vector.

Taught like :class:`~ieim.search.inquiry.reading.Reading`, from examples that ask the same of many
subjects, so that what is left is the asking.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import yaml

from ieim.pipeline.ports import Matrix
from ieim.search.inquiry.solving import line

NONE: Final = "none"
"""The name of what asks for a service as a whole."""

_BESIDE: Final = {"processing_time": "overview"}
"""How long it takes is not told from how long one has: where it is not clear both are answered."""

SUBJECTS_EACH: Final = 3
"""An example is taught with so many subjects."""

ASKED: Final = 0.02
"""So large a share of the messages of all sorts is taken to ask about a field. Who tells a story
says something of time and papers too: only what looks most like a question about them counts."""


@cache
def aspects() -> tuple[tuple[str, str], ...]:
    """Return the examples in the order of their file, each with the field that it asks about."""
    path = Path(__file__).with_suffix(".yaml")
    content: dict[str, dict[str, list[str]]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    subjects = content.pop("subjects")
    found = (
        (text.replace("{s}", about), name)
        for name, languages in content.items()
        for language, texts in languages.items()
        for place, text in enumerate(texts)
        for about in _some(subjects[language], place)
    )
    return tuple(dict.fromkeys(found))


def _some(subjects: Sequence[str], place: int) -> list[str]:
    """Return some of the subjects, other ones for the next place."""
    return [subjects[(place + step * 2) % len(subjects)] for step in range(SUBJECTS_EACH)]


class Aspects:
    """What the examples teach; ``vectors`` has a row of length 1 for each, ``names`` its field.

    ``messages`` are vectors of messages of all sorts, which nobody has told apart: they say what is
    usual. The same vectors teach the same; safe for threads.
    """

    def __init__(self, vectors: Matrix, names: Sequence[str], messages: Matrix) -> None:
        self.width = vectors.shape[1]
        known = np.concatenate([vectors, messages]).astype(np.float64)
        each = np.array([*names, *[""] * len(messages)])
        groups = dict.fromkeys([*names, ""])
        self._lines = {}
        for name in groups:
            if name not in (NONE, ""):
                apart = {name, _BESIDE.get(name, name)}
                others = [each == other for other in groups if other not in apart]
                taught, alone = line(known, (each == name,), others)
                least = float(np.quantile(alone[each == ""], 1 - ASKED))
                self._lines[name] = taught, max(least, 0.0)

    def of(self, vector: npt.NDArray[np.float32]) -> list[str]:
        """Return the fields that a text clearly asks about, the clearest first; mostly none.

        Behind the time that a service takes stands its description: it says how long one has.
        """
        over = {name: taught.at(vector) - least for name, (taught, least) in self._lines.items()}
        found = sorted((name for name in over if over[name] > 0), key=lambda name: -over[name])
        beside = [_BESIDE[name] for name in found if name in _BESIDE]
        return list(dict.fromkeys([*found, *beside]))
