"""The risk flags of a message: by the phrases of the screen, and by what it means beside them.

Phrases always work. Meaning is taught beside the turns, from vectors that are kept; until then, and
where the embedder is late or gone, the phrases stand alone, and the caller is told.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from ieim.knowledge import vectors
from ieim.pipeline import risk
from ieim.pipeline.ports import WORDS, EmbedderUnavailable, Matrix
from ieim.pipeline.redaction import prepare as redacted
from ieim.pipeline.risk import Risk
from ieim.pipeline.screen import shows_nothing
from ieim.search.crisis import Meaning, examples, parts
from ieim.search.embedders.careful import CarefulEmbedder

DEADLINE: Final = 0.15
"""Seconds that a citizen's message waits for its meaning. The embedded model takes 3 ms a sentence;
the rest is for a busy machine."""

logger = logging.getLogger(__name__)

_taught: WeakKeyDictionary[CarefulEmbedder, Meaning] = WeakKeyDictionary()
_teaching = threading.Lock()
_readers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="ieim-crisis")


class Looked(NamedTuple):
    """The flags, each once, and what looked: the embedder's id, or ``words`` for phrases alone."""

    risks: list[Risk]
    by: str


def look(text: str, *, patient: bool = False) -> Looked:
    """Return the risk flags of a message as sent. Never raises for what an embedder can do.

    A flag by meaning points at the sentence that tells it best; a phrase wins where both find the
    same. ``patient`` is for measuring and trying, where somebody waits anyway: there is no
    deadline, and what was not taught yet is taught first.
    """
    found = risk.find(text)
    embedder = vectors.configured_embedder()
    if embedder is None or shows_nothing(text):  # a server may take an empty text for a fault
        return Looked(found, WORDS)
    try:
        if patient:
            _teach(embedder, embedder.documents)
        meaning = _taught.get(embedder)
        if meaning is None or embedder.away:
            return Looked(found, WORDS)
        meant = _meant(text, meaning, embedder, None if patient else DEADLINE)
    except (EmbedderUnavailable, TimeoutError):
        return Looked(found, WORDS)
    known = {each.code for each in found}
    return Looked([*found, *(each for each in meant if each.code not in known)], embedder.id)


def prepare() -> None:
    """Teach what a crisis means, in the calling thread, once a process and embedder.

    The examples' vectors are kept: only the first process makes them (5 s with the embedded model).
    Where the embedder is gone nothing happens, and a later call tries again.
    """
    embedder = vectors.configured_embedder()
    if embedder is None or embedder in _taught or embedder.away:
        return
    try:
        _teach(embedder, lambda texts: vectors.kept_for(embedder, texts))
        embedder.queries(["ready"])  # a model that loads at first use does so here
    except EmbedderUnavailable:
        return  # the embedder has logged why


def _teach(embedder: CarefulEmbedder, vectors_of: Callable[[tuple[str, ...]], Matrix]) -> None:
    with _teaching:
        if embedder in _taught:
            return
        known = examples()
        _taught[embedder] = Meaning(vectors_of(known.texts), known.codes, known.near)
        logger.info("Crises are seen by meaning, with %s", embedder.id)


def _meant(
    text: str, meaning: Meaning, embedder: CarefulEmbedder, deadline: float | None
) -> list[Risk]:
    """Raises EmbedderUnavailable and TimeoutError."""
    safe = redacted(text)  # an embedder may be a server, as a model may
    where = parts(safe.text)
    asked = _readers.submit(embedder.queries, [safe.text[p.start : p.end] for p in where])
    try:
        rows = asked.result(deadline)
    except TimeoutError:
        asked.cancel()
        logger.warning("A message's meaning came too late; its phrases alone were looked for")
        raise
    if rows.shape[1] != meaning.width:
        raise EmbedderUnavailable("The embedder's vectors have another width than the examples'.")
    return [
        Risk(code, *safe.to_original(*where[row]), "meaning") for code, row in meaning.flags(rows)
    ]
