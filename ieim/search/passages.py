"""Which passages of a service's entry answer a message: its sentences and items, ranked.

By meaning, by words, and by what a question of its kind is answered with: a classifier says how
much a message asks for each field, and a question of how long something takes wants a figure.
Figures: docs/decisions/0042-passages.md.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ieim.pipeline.facts import facts
from ieim.pipeline.knowledge import Service
from ieim.pipeline.ports import DEADLINE, Matrix, Passage, Passages
from ieim.pipeline.sentences import questions, sentences
from ieim.search.analysis import stems

FIELDS: Final = (
    *("overview", "applicability_summary", "requirements", "fees"),
    *("processing_time", "how_to_apply", "contact"),
)
"""The fields that have passages."""

_ONE: Final = frozenset({"contact"})
"""Fields that are one passage, however many sentences they have."""

WEIGHTS: Final = np.array([3.27, 3.27, 2.7, 2.52, 1.14, 0.39])
"""Of: nearness, nearness beside the entry's other passages, words, how much the field is asked for,
a figure, a figure where time is asked for."""

ASKS: Final = 0.06
"""A message without a question mark only tells something below this probability of all fields."""

NEARER: Final = 6.0
EXCESS: Final = 1.3
"""What counts for such a message in the place of fields and figures: how much nearer a passage is
to it beside the name of the service than to that name; and what its scores lie above others."""

AMOUNT: Final = "amount"
"""What questions are taught to ask for that is no field: what one gets. Any passage with a sum or a
share may say it."""

LIMIT: Final = 6.0
NUMBER: Final = 0.5
"""What counts where a message asks by when: how likely a passage states a limit, and as so much of
it the number of the service's days."""

LEAST: Final = 0.6
SURE: Final = 4.0
"""From this score on a passage may answer; from that one on hardly anything else does."""

CLEAR: Final = 0.5
BY_WHEN: Final = 0.34
"""A message clearly asks for a field that it asks for with this probability; by when also from the
second one on, where it asks for nothing as much."""

_CODE = re.compile(r"\b[A-Z]{3}\b")
_PERCENT = re.compile(r"\d\s?[%٪]")

Numbers = NDArray[np.float64]


def of_service(service: Service) -> list[tuple[str, str]]:
    """Return field and text of each passage of ``service``, in the order of the entry."""
    return [(field, text) for field in FIELDS for text in _texts(service, field)]


def _texts(service: Service, field: str) -> Iterator[str]:
    value = getattr(service, field)
    for item in [value] if isinstance(value, str) else value:
        text = " ".join(item.split())
        if field in _ONE:
            yield from [text] if text else []
        else:
            yield from (text[start:end] for start, end in sentences(text))


def asked(text: str) -> tuple[str, bool]:
    """Return the questions of a message, and that there are any; else the whole of it."""
    question_texts = [text[start:end] for start, end in questions(text)]
    return (" ".join(question_texts), True) if question_texts else (text, False)


def rank(
    service: Service,
    vectors: Matrix,
    text: str,
    vector: Matrix,
    fields: Mapping[str, float],
    *,
    limits: Numbers,
    nearer: Numbers | None = None,
    question: bool,
) -> Passages:
    """Return the passages of ``service``, the best answer to ``text`` first.

    ``vectors`` has a row for each of :func:`of_service`, ``limits`` the probability that it states
    by when something has to be done; ``vector`` is that of ``text``, ``fields`` the probability
    that it asks for each field. What stands in a field that it clearly asks for comes first,
    however it is written. ``nearer`` is for a message that asks nothing, else None: how much nearer
    each passage is to the message with the name of the service than to that name.
    """
    passages = of_service(service)
    if not passages:
        return Passages((), (), question, LEAST, SURE)
    wants = {field: 2 * probability - 1 for field, probability in fields.items()}
    near = (vectors @ vector).astype(np.float64)
    figures = np.array([float(any(map(str.isdigit, scored))) for _, scored in passages])
    sums = np.array([_has_sum(scored) for _, scored in passages])
    by_field = np.array([wants.get(field, -1.0) for field, _ in passages])
    features = np.column_stack(
        [
            near,
            near - near.mean(),
            _shares([frozenset(stems(scored)) for _, scored in passages], text),
            np.maximum(by_field, np.where(sums, wants.get(AMOUNT, -1.0), -1.0)),
            figures,
            wants.get("processing_time", -1.0) * figures,
        ]
    )
    clear = _clear(fields)
    is_asked = np.array([field in clear for field, _ in passages]) | (sums & (AMOUNT in clear))
    scores = features @ WEIGHTS
    scores = np.where(is_asked, np.maximum(scores, LEAST), scores)
    if DEADLINE in clear:
        never = np.array([field == "processing_time" for field, _ in passages])
        scores = np.where(never, LEAST - 1, scores + LIMIT * _limits(service, limits, never))
    if nearer is not None:
        never = np.array([field in ("processing_time", "contact") for field, _ in passages])
        about = features[:, :3] @ WEIGHTS[:3] + NEARER * (nearer - nearer.mean()) - EXCESS
        scores = np.where(never, LEAST - 1, about)
    order = np.lexsort((-scores, ~is_asked)).tolist()
    scored = [(*passages[index], float(scores[index])) for index in order]
    ranked = [Passage(field, words, score) for field, words, score in scored]
    return Passages(tuple(ranked), tuple(clear), question, LEAST, SURE)


def _clear(fields: Mapping[str, float]) -> list[str]:
    """Return the fields that a message clearly asks for."""
    clear = [field for field, probability in fields.items() if probability >= CLEAR]
    if not clear and fields.get(DEADLINE, 0.0) >= max([BY_WHEN, *fields.values()]):
        clear.append(DEADLINE)
    if AMOUNT in clear and "fees" not in clear:
        clear.append("fees")  # "how much is that?" may be what one gets, or what it costs
    return clear


def _limits(service: Service, limits: Numbers, never: NDArray[np.bool_]) -> Numbers:
    """Return how surely each passage states the limit of ``service``."""
    days = [
        service.deadline_days in re.findall(r"\d+", sentence) for _, sentence in of_service(service)
    ]
    limits = limits + NUMBER * np.array(days)
    # Where there is a limit, some passage states it, however it is put.
    most: float = limits[~never].max(initial=1e-9) / 2 if service.deadline_days else 1.0
    return limits / most


def _shares(passages: Sequence[frozenset[str]], text: str) -> Numbers:
    """Return the share of the words of ``text`` in each passage; rare words count most."""
    count = Counter(stem for words in passages for stem in words)
    weights = {stem: math.log(len(passages) / count.get(stem, 1)) for stem in stems(text)}
    whole = sum(weights.values()) or 1.0
    return np.array([sum(weights[w] for w in ws & weights.keys()) / whole for ws in passages])


def _has_sum(text: str) -> bool:
    # A knowledge may have a currency of its own.
    amounts = facts(text, currencies=set(_CODE.findall(text)))
    return bool(_PERCENT.search(text)) or any(fact.kind == "money" for fact in amounts)
