"""Training from examples: ``python -m ieim.search.train`` makes ``crisis.npz``, ``inquiry.npz`` and
``letters.npz``.

Run it after a change of the examples or of the embedded model (two minutes). A site whose
embedder is another one trains with the same functions, once, and so does one that publishes crisis
examples besides the shipped ones. Every threshold is a share of the examples, each judged by all
others; none was chosen by looking at the messages that measure it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from ieim.pipeline import canonical
from ieim.pipeline.knowledge import CASES
from ieim.pipeline.message import risk
from ieim.pipeline.ports import NEXT, NO, NOT, TURN, YES, Matrix
from ieim.search import crisis, examples, inquiry, letters
from ieim.search.crisis import CrisisModel, Spelt
from ieim.search.embedders import EmbeddedEmbedder
from ieim.search.examples import CrisisExamples, Kind
from ieim.search.inquiry import CASE, CORRECTS, FIELD, MOVE, SURELY, Reading
from ieim.search.letters import Letters

NARROW: Final = 3.5
"""How quickly likeness falls with the distance, in average distances of the examples."""

CRISIS_RIDGE: Final = 0.1
LETTERS_RIDGE: Final = 0.3
INQUIRY_RIDGE: Final = 20.0
"""How little a single example may bend. For inquiries little changes from 5 to 60."""

TOPIC_RIDGE: Final = 10.0

FLOOR: Final = 0.37
"""Less near than this, by :mod:`ieim.search.nearness`, no service is about a message. Of the
embedded model alone: vectors of others are nearer to each other or further apart."""

FALSE_ALARMS: Final = 0.03
"""The share of the near misses that may be flagged."""

ALARMS_BY_LETTERS: Final = 0.01
"""The share of them that may be flagged by letters alone."""

STRONG: Final = 0.005
"""The share of them that may be flagged so surely that an answer waits for a person."""

SURE: Final = 0.9
"""Above this share of the inquiries that are clear by themselves a message surely goes on, unless
it is below the same share of the corrections."""

APART: Final = 0.7
"""And below this share of the former it surely does not. Between them nobody can tell from the
message alone."""

MISSED: Final = 0.02
"""The share of the inquiries that may look like no inquiry, and of the requests in a talk that may
look like thanks alone."""

ABOUT_A_FIELD: Final = 0.02
"""So large a share of messages of all sorts is taken to ask about a field. Who tells a story speaks
of time and papers too: only what looks most like a question about them counts."""

STEERS: Final = 0.005
"""So large a share of other messages of a talk is taken for each move."""

_STEERS: Final = {TURN: 0.1, NOT: 0.05}
"""Two are looked at in another light as well: is there a matter that it turns to, or leaves?"""

CORRECT: Final = 0.1
SURELY_CORRECT: Final = 0.02
"""And so large a share of them may correct what was answered, where a piece of them says "no" or
"not", and where none does."""

NAMED: Final = "named"
"""What names a matter and nothing else: no move, but what one is told from."""

_Numbers = npt.NDArray[np.float64]
_Rows = npt.NDArray[np.bool_]


def crisis_digest(found: CrisisExamples) -> str:
    """Return the digest of crisis examples, texts and flags."""
    return canonical.digest([found.texts, found.codes, found.near])


def inquiry_digest() -> str:
    """Return the digest of what trains :class:`Reading`, texts and kinds."""
    messages = [
        (text, kind.value, examples.cases().get(text, ""), examples.topics().get(text, ""))
        for text, kind in examples.messages()
    ]
    return canonical.digest([messages, examples.questions(), examples.moves()])


def crisis_model(
    vectors: Matrix, found: CrisisExamples, *, embedder: str = "", by_letters: Letters | None = None
) -> CrisisModel:
    """Return what ``found`` teaches, whose ``vectors`` are rows of length 1, beside ``by_letters``.

    For the 6,300 shipped examples it takes some seconds, and 400 MB meanwhile.
    """
    # As they are stored: who adds an example trains with those, and gets the same thresholds.
    vectors = vectors.astype(np.float16).astype(np.float32)
    codes = tuple(sorted(set(found.codes) - {""}))
    # The average distance belongs to the embedder: some put all texts close together.
    mean = vectors.mean(axis=0, dtype=np.float64)
    narrow = NARROW / max(1.0 - float(mean @ mean), 1e-6)
    kernel = crisis.likeness(vectors, vectors, narrow)
    weights, shift, alone = _ridge(kernel, CRISIS_RIDGE, found.codes, codes, found.near)
    if by_letters is not None:
        near_misses = [found.texts[i] for i in found.near]
        alone += crisis.LETTERS * _spelt(by_letters, near_misses).of(codes)
    surest = np.sort(alone.max(axis=1)) if found.near else np.zeros(1)
    threshold, strong = (
        float(surest[-1 - int(share * len(surest))]) for share in (FALSE_ALARMS, STRONG)
    )
    return CrisisModel(
        embedder=embedder,
        examples=crisis_digest(found),
        codes=codes,
        vectors=vectors,
        weights=weights,
        shift=shift,
        narrow=narrow,
        threshold=threshold,
        strong=strong,
    )


def letters_model(found: CrisisExamples, phrases: Sequence[tuple[str, str]] = ()) -> Letters:
    """Return what the letters of ``found`` teach, and of ``phrases``, each with its flag.

    For the shipped examples it takes a minute, and 1.5 GB meanwhile.
    """
    texts = [*found.texts, *(text for _, text in phrases)]
    flags = [*found.codes, *(code for code, _ in phrases)]
    codes = tuple(sorted(set(flags) - {""}))
    rows = letters.spelt(texts)
    rarity = np.log(len(texts) / (1.0 + rows.sum(axis=0))).clip(min=0.0).astype(np.float32)
    rows = letters.unit(rows * rarity)
    weights, shift, alone = _ridge(rows @ rows.T, LETTERS_RIDGE, flags, codes, found.near)
    surest = np.sort(alone.max(axis=1))
    return Letters(
        codes,
        rows.T @ weights.astype(np.float32),
        shift,
        rarity,
        float(surest[-1 - int(ALARMS_BY_LETTERS * len(surest))]),
        {texts[place]: row for place, row in zip(found.near, alone, strict=True)},
    )


def _ridge(
    kernel: Matrix,
    ridge: float,
    flags: Sequence[str],
    codes: Sequence[str],
    near_misses: Sequence[int],
) -> tuple[_Numbers, _Numbers, _Numbers]:
    """Return what each text weighs for each of ``codes``, the shift, and what each near miss gets.

    Each near miss is judged by all other texts: what it taught of itself says nothing. ``kernel``
    is used up.
    """
    near = list(near_misses)
    labels = np.array([[flag == code for code in (*codes, "")] for flag in flags])
    target = labels[:, :-1].astype(np.float64) - labels[:, -1:]
    shift = target.mean(axis=0)
    kernel.flat[:: len(kernel) + 1] += ridge
    # Of the inverse only the columns of the near misses are needed.
    columns = np.zeros((len(flags), len(near)), dtype=np.float32)
    columns[near, range(len(near))] = 1.0
    solved = np.linalg.solve(kernel, np.c_[(target - shift).astype(np.float32), columns])
    weights = solved[:, : len(codes)].astype(np.float64)
    leverage = np.diag(solved[near, len(codes) :])
    return weights, shift, target[near] - weights[near] / leverage[:, None]


def _spelt(by_letters: Letters, texts: Sequence[str]) -> Spelt:
    """Return what letters say of each near miss, judged by all other texts."""
    margins = by_letters.margins(texts)
    for row, text in zip(margins, texts, strict=True):
        row[:] = by_letters.alone.get(text, row)
    return Spelt(by_letters, margins)


def reading(embedder: str, embed: Callable[[Sequence[str]], Matrix]) -> Reading:
    """Return the reading that the shipped examples teach, with the vectors that ``embed`` makes."""
    messages, questions, moves = examples.messages(), examples.questions(), examples.moves()
    rows = embed([text for text, _ in (*messages, *questions, *moves)])
    rows, steering = rows[: -len(moves)], rows[-len(moves) :]
    return reading_of(
        rows[: len(messages)],
        [kind for _, kind in messages],
        cases=[examples.cases().get(text, "") for text, _ in messages],
        topics=[examples.topics().get(text, "") for text, _ in messages],
        questions=rows[len(messages) :],
        fields=[field for _, field in questions],
        steering=steering,
        moves=[move for _, move in moves],
        embedder=embedder,
        digest=inquiry_digest(),
    )


def reading_of(
    messages: Matrix,
    kinds: Sequence[Kind],
    *,
    cases: Sequence[str] = (),
    topics: Sequence[str] = (),
    questions: Matrix | None = None,
    fields: Sequence[str] = (),
    steering: Matrix | None = None,
    moves: Sequence[str] = (),
    embedder: str = "",
    digest: str = "",
) -> Reading:
    """Return what messages of these ``kinds`` teach, whose vectors are rows of length 1.

    ``cases`` has the case of each message that asks nothing of an administration, ``topics`` the
    topic of each that is about one, else empty texts; ``fields`` what each of ``questions`` asks
    about; ``moves`` how each of ``steering`` steers a talk.
    """
    vectors = messages.astype(np.float64)
    of = {kind: np.array([each is kind for each in kinds]) for kind in Kind}
    follows, clear, corrects = of[Kind.FOLLOW_UP], of[Kind.INQUIRY], of[Kind.CORRECTION]
    asks = follows | corrects | clear
    wants = follows | corrects | of[Kind.THANKS_AND_MORE]
    closes = of[Kind.CLOSING]
    lines: dict[str, tuple[_Numbers, float]] = {}
    limits: dict[str, float] = {}

    lines["asked"], alone = _line(vectors, (asks,), (closes | of[Kind.OTHER],))
    limits["least"] = float(np.quantile(alone[asks], MISSED))
    lines["wants"], alone = _line(vectors, (wants, clear), (closes,))
    limits["least_in_a_talk"] = float(np.quantile(alone[wants], MISSED))
    lines["follows"], alone = _line(vectors, (follows,), (clear,))
    limits["apart"], limits["sure"] = np.quantile(alone[clear], (APART, SURE)).tolist()
    lines["agrees"], alone = _line(vectors, (follows,), (corrects,))
    limits["agrees"] = float(np.quantile(alone[corrects], SURE))
    if questions is not None:
        _add_fields(lines, limits, vectors, questions, fields)
    if steering is not None:
        groups = (follows, corrects, of[Kind.THANKS_AND_MORE], closes, clear)
        _add_moves(lines, limits, vectors, groups, steering, moves)
    if cases:
        lines |= _case_lines(vectors, cases)
    slopes, centres, middle = _topic_lines(messages, topics)
    return Reading(
        embedder=embedder,
        examples=digest,
        names=tuple(lines),
        slopes=np.stack([slope for slope, _ in lines.values()]),
        biases=np.array([bias for _, bias in lines.values()]),
        limits=limits,
        topics=slopes,
        centres=centres,
        middle=middle,
    )


def _add_fields(
    lines: dict[str, tuple[_Numbers, float]],
    limits: dict[str, float],
    messages: _Numbers,
    questions: Matrix,
    fields: Sequence[str],
) -> None:
    """Add a line for each field, against questions about others and messages of all sorts."""
    vectors = np.concatenate([questions, messages]).astype(np.float64)
    each = np.array([*fields, *[""] * len(messages)])
    groups = dict.fromkeys([*fields, ""])
    for name in groups:
        if name in (examples.WHOLE_SERVICE, ""):
            continue
        # How long it takes cannot be distinguished from how long one has, which descriptions say.
        like = {name, "overview"} if name == "processing_time" else {name}
        others = [each == other for other in groups if other not in like]
        lines[FIELD + name], alone = _line(vectors, (each == name,), others)
        limits[FIELD + name] = max(float(np.quantile(alone[each == ""], 1 - ABOUT_A_FIELD)), 0.0)


def _add_moves(
    lines: dict[str, tuple[_Numbers, float]],
    limits: dict[str, float],
    messages: _Numbers,
    groups: Sequence[_Rows],
    steering: Matrix,
    moves: Sequence[str],
) -> None:
    """Add a line for each move, against the others and messages of each of ``groups``, of which the
    first are those that go on. What turns elsewhere is told from those alone, and what is not meant
    from the same said by itself."""
    vectors = np.concatenate([steering, messages]).astype(np.float64)
    each = np.array([*moves, *[""] * len(messages)])
    background = [np.concatenate([np.zeros(len(moves), dtype=bool), group]) for group in groups]
    beside = {TURN: [background[0]], NOT: [each == NAMED]}
    for name in dict.fromkeys(moves):
        if name == NAMED:
            continue
        rivals = [each == other for other in dict.fromkeys(moves) if other not in (name, NAMED)]
        wrong = beside.get(name, [*rivals, *background])
        lines[MOVE + name], alone = _line(vectors, (each == name,), wrong)
        of_talks = alone[np.any(beside.get(name, background), axis=0)]
        limits[MOVE + name] = float(np.quantile(of_talks, 1 - _STEERS.get(name, STEERS)))
    follows, corrects, _, closes, clear = background
    left = (corrects, each == NO, each == NOT)
    stays = (follows, clear, closes, each == TURN, each == NEXT, each == YES)
    lines[CORRECTS], alone = _line(vectors, left, stays)
    others = alone[follows | clear]
    limits[CORRECTS], limits[SURELY] = np.quantile(
        others, [1 - CORRECT, 1 - SURELY_CORRECT]
    ).tolist()


def _case_lines(vectors: _Numbers, cases: Sequence[str]) -> dict[str, tuple[_Numbers, float]]:
    """Return a line for each case, all of which weigh alike. What asks something is a case too, so
    that nobody is thanked who wants something."""
    names = [name for name in (*CASES, "") if name in set(cases)]
    of = np.array([[case == name for name in names] for case in cases])
    weight = (of / of.sum(axis=0)).sum(axis=1) * len(vectors) / len(names)
    target = np.where(of, 1.0, -1.0)
    middle, level = weight @ vectors / weight.sum(), weight @ target / weight.sum()
    shifted = vectors - middle
    weighted = weight[:, None] * shifted
    matrix = shifted.T @ weighted + INQUIRY_RIDGE * np.eye(vectors.shape[1])
    slopes = np.linalg.solve(matrix, weighted.T @ (target - level))
    biases = level - middle @ slopes
    return {CASE + name: (slopes[:, i], float(biases[i])) for i, name in enumerate(names)}


def _topic_lines(messages: Matrix, topics: Sequence[str]) -> tuple[Matrix, Matrix, Matrix]:
    """Return a slope for each topic, its average message, and the average of all messages."""
    names = sorted(set(topics) - {""})
    vectors = messages[[bool(topic) for topic in topics]] if names else messages[:0]
    if not names:
        return vectors, vectors, np.zeros(messages.shape[1], dtype=np.float32)
    of = np.array([[topic == name for name in names] for topic in topics if topic])
    middle = vectors.mean(axis=0)
    shifted = (vectors - middle).astype(np.float64)
    matrix = shifted.T @ shifted + TOPIC_RIDGE * np.eye(vectors.shape[1])
    slopes = np.linalg.solve(matrix, shifted.T @ (of - of.mean(axis=0)))
    centres = of.T.astype(np.float32) @ vectors
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    return slopes.T.astype(np.float32), centres, middle


def _line(
    vectors: _Numbers, right: Sequence[_Rows], wrong: Sequence[_Rows]
) -> tuple[tuple[_Numbers, float], _Numbers]:
    """Return slope and bias for 1 where ``right`` and -1 where ``wrong``, by ridge regression.

    Both sides weigh alike, and so does each group of a side; what is in neither counts nothing.
    Also returns what each example gets from all others.
    """
    target = np.where(np.any(right, axis=0), 1.0, -1.0)
    weight = np.zeros(len(vectors))
    many = int(np.any([*right, *wrong], axis=0).sum())
    for side in (right, wrong):
        for rows in side:
            weight[rows] = many / (2 * len(side) * rows.sum())
    whole = weight.sum()
    middle, level = weight @ vectors / whole, float(weight @ target) / whole
    shifted = vectors - middle
    weighted = weight[:, None] * shifted
    inverse = np.linalg.inv(shifted.T @ weighted + INQUIRY_RIDGE * np.eye(vectors.shape[1]))
    slope = inverse @ (weighted.T @ (target - level))
    # What an example gets where it is left out follows from its own leverage.
    leverage = weight * (np.einsum("ij,jk,ik->i", shifted, inverse, shifted) + 1 / whole)
    alone = target - (target - (shifted @ slope + level)) / (1 - leverage)
    return (slope, float(level - middle @ slope)), alone


def main() -> None:
    """Train with the embedded model, and write the three files."""
    embedder = EmbeddedEmbedder()
    taught = reading(embedder.id, embedder.documents)
    taught = replace(taught, limits={**taught.limits, "floor": FLOOR})
    inquiry.SHIPPED.write_bytes(taught.to_bytes())
    found = examples.crisis()
    by_letters = letters_model(found, risk.phrases(set(found.codes), examples.crisis_languages()))
    letters.SHIPPED.write_bytes(by_letters.to_bytes())
    vectors = embedder.documents(found.texts)
    model = crisis_model(vectors, found, embedder=embedder.id, by_letters=by_letters)
    crisis.SHIPPED.write_bytes(model.to_bytes())


if __name__ == "__main__":
    main()
