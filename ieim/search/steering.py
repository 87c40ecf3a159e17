"""How a message steers a talk, by numbers and by its vector."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ieim.pipeline.ports import NEXT, NO, NOT, POSITIONS, Matrix, Piece
from ieim.search.inquiry import Reading

Read = Callable[[Sequence[str]], Matrix | None]
"""Returns the vectors of texts, None where there are none."""

MOST_PIECES = 6
"""A message of more pieces tells a story, and steers nothing."""

LONGEST = 12
"""Words of a message that is looked at word by word for what it does not mean."""

KIN = 1.0
"""What it weighs that a service is like the one before: "and for my child?" after a passport."""

BIAS, TURNS, WORDS, MORE, ASKS = -0.97, 4.87, 1.07, 7.03, -2.21
"""A logistic curve over how surely a message names a matter, by how much another service has more
evidence than the talk's by words and meaning (:data:`MOST_MORE` at most) and by meaning alone, and
whether it asks about a field. Fitted on the examples of messages that go on, against the demo's
topics in the forms of ``moves.yaml`` and its questions, each after another service."""

MOST_MORE = 2.0

MATTER, KINDRED = 0.05, 0.3
"""So surely it names a matter at least, and so much the service is like the talk's: after a
passport the licence is for driving, and "by card" no health card."""

ELLIPTIC = 30
"""Characters at most of a message that leans on the talk so: a longer one says what it is about."""

CLEAR = 1.0
"""Above this a message turns: 2 in 100 of those that go on are."""

VARIANT, LITTLE = 0.65, 0.4
"""A service that is so much like the talk's is meant by less: by so much more of its meaning."""

SURELY = 0.25
"""So surely a move is one in what else reads as a question about a service."""

CLEARLY = 0.3
"""So much more evidence one of a few has that a message names."""

NEAR = 0.6
"""And so much of the best evidence of all."""

NAMES = -0.05
"""What names one of a few says at least so surely that it names a matter."""

_BREAK = re.compile(r"[,;:.!?،؛؟。，、；：！？\n]+|\s[–—-]\s")
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+")


def pieces(text: str, reading: Reading | None, read: Read) -> list[Piece]:
    """Return the pieces of a message: it is one where it is a move as a whole."""
    spans = list(_spans(text))
    if not spans or len(spans) > MOST_PIECES:
        return []
    whole = (spans[0][0], spans[-1][1])
    looked_at = list(dict.fromkeys([whole, *spans]))
    vectors = read([text[start:end] for start, end in looked_at]) if reading else None
    moves = {span: _number(text[slice(*span)]) for span in looked_at}
    if reading is not None and vectors is not None:
        moves = {
            span: moves[span] or _move(reading, vector)
            for span, vector in zip(looked_at, vectors, strict=True)
        }
        if not reading.corrects(vectors[0]):
            moves = {span: "" if move in (NO, NOT) else move for span, move in moves.items()}
        elif reading.corrects(vectors[0], surely=True) and {NO, NOT}.isdisjoint(moves.values()):
            return [Piece(whole[0], whole[0], NO), *(Piece(*span, moves[span]) for span in spans)]
    if moves[whole] not in ("", NOT):
        return [Piece(*whole, moves[whole])]
    if len(spans) == 1 and moves[whole] == NOT and reading is not None:
        spans = _split_at_not(text, whole, reading, read)
        moves |= dict(zip(spans, (NOT, ""), strict=False)) if len(spans) > 1 else {}
    return [Piece(*span, moves[span]) for span in spans]


def _move(reading: Reading, vector: NDArray[np.float32]) -> str:
    move = reading.move(vector)
    if move not in ("", NEXT) and reading.fields(vector):
        move = reading.move(vector, least=SURELY)
    return move or (NOT if reading.negates(vector) else "")


def _number(text: str) -> str:
    """Return the position that a number names which stands alone, or with one word."""
    found = _NUMBER.findall(text)
    if len(found) != 1 or len(found[0]) != 1 or len(_WORD.findall(text)) > 1:
        return ""
    number = unicodedata.digit(found[0])
    return POSITIONS[number - 1] if 1 <= number <= len(POSITIONS) else ""


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in [*_BREAK.finditer(text), None]:
        end = len(text) if found is None else found.start()
        if part := text[start:end].strip():
            begin = start + text[start:end].index(part)
            yield begin, begin + len(part)
        start = end if found is None else found.end()


def _split_at_not(
    text: str, whole: tuple[int, int], reading: Reading, read: Read
) -> list[tuple[int, int]]:
    """Return the two parts of "not this but that" where they are clearest apart, else the whole.

    What is not meant comes first; nobody says "that but not this" to a clerk who got it wrong.
    """
    starts = [m.start() for m in re.finditer(r"(?<=\s)\S", text) if whole[0] < m.start() < whole[1]]
    if not 2 <= len(starts) <= LONGEST:
        return [whole]
    splits = [((whole[0], cut), (cut, whole[1])) for cut in starts[1:]]
    vectors = read([text[slice(*span)].strip() for pair in splits for span in pair])
    if vectors is None:
        return [whole]
    apart = [
        reading.leaves(vectors[2 * i]) - reading.leaves(vectors[2 * i + 1])
        if reading.negates(vectors[2 * i]) and not reading.negates(vectors[2 * i + 1])
        else 0.0
        for i in range(len(splits))
    ]
    best = max(range(len(splits)), key=apart.__getitem__)
    return list(splits[best]) if apart[best] > 0 else [whole]


def named(scores: NDArray[np.floating], places: Sequence[int]) -> int | None:
    """Return that of the ``places`` whose evidence is clearly more than the others', and near the
    best of all."""
    ordered = sorted(places, key=lambda place: -scores[place])
    first, rivals = scores[ordered[0]], [scores[place] for place in ordered[1:2]]
    clear = all(first - rival >= CLEARLY for rival in rivals)
    return ordered[0] if clear and first > 0 and first >= NEAR * scores.max() else None


def turned(
    scores: NDArray[np.floating],
    meaning: NDArray[np.floating],
    kin: NDArray[np.floating],
    about: int,
    without: Collection[int],
    *,
    turns: float,
    asks: bool,
) -> tuple[int, float] | None:
    """Return the place of the service that a text turns to from the one ``about``, and how surely.

    What is like that one (``kin``) is the likelier. ``turns`` says how surely the text names a
    matter, ``asks`` whether it asks about a field of any service.
    """
    found = scores + KIN * kin
    found[[about, *without]] = -np.inf
    best = int(found.argmax())
    if not np.isfinite(found[best]):
        return None
    words = min(MOST_MORE, float(scores[best] - scores[about]))
    more = float(meaning[best] - meaning[about])
    if turns < MATTER or kin[best] < KINDRED:
        return None
    z = BIAS + TURNS * turns + WORDS * words + MORE * more + ASKS * asks
    variant = kin[best] >= VARIANT and more >= LITTLE and not asks
    return (best, float(1 / (1 + np.exp(-z)))) if z >= CLEAR or variant else None
