"""The risk flags of a message: by the phrases of the screen, and by what it means beside them.

Phrases always work. Meaning is taught beside the turns, from vectors that are kept; until then, and
where the embedder is late or gone, the phrases stand alone, and the caller is told.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from ieim.knowledge import selectors, vectors
from ieim.pipeline.knowledge import RiskExample
from ieim.pipeline.message import risk
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.message.screen import shows_nothing
from ieim.pipeline.personal.redaction import prepare as redacted
from ieim.pipeline.ports import WORDS, EmbedderUnavailable, Matrix
from ieim.search.crisis import Meaning, examples, parts
from ieim.search.embedders.careful import CarefulEmbedder

DEADLINE: Final = 0.15
"""Seconds that a citizen's message waits for its meaning. The embedded model takes 3 ms a sentence;
the rest is for a busy machine."""

logger = logging.getLogger(__name__)

_Own: TypeAlias = tuple[RiskExample, ...]


class _Taught(NamedTuple):
    """What was taught with the administration's ``own`` examples; ``rows`` are the vectors of all
    texts. ``release`` is the digest of the release that was looked at last."""

    meaning: Meaning
    own: _Own
    rows: Mapping[str, Matrix]
    release: str = ""


_taught: WeakKeyDictionary[CarefulEmbedder, _Taught] = WeakKeyDictionary()
_tried: WeakKeyDictionary[CarefulEmbedder, dict[_Own, _Taught]] = WeakKeyDictionary()
"""What somebody waited for: the examples of drafts and of other releases than the newest."""
_TRIED: Final = 2
_teaching = threading.Lock()
_readers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="ieim-crisis")


class Looked(NamedTuple):
    """The flags, each once, and what looked: the embedder's id, or ``words`` for phrases alone."""

    risks: list[Risk]
    by: str


def look(text: str) -> Looked:
    """Return the risk flags of a message as sent. Never raises for what an embedder can do.

    A flag by meaning points at the sentence that tells it best; a phrase wins where both find the
    same. What is taught is the newest release's; while a newer one is taught, the one before it.
    """
    return _look(text, lambda embedder: _taught.get(embedder), DEADLINE)


def look_patiently(text: str, own: Sequence[RiskExample] = ()) -> Looked:
    """Return what :func:`look` does with an administration's ``own`` examples.

    For measuring and trying, where somebody waits anyway: there is no deadline, and what was not
    taught yet is taught first. It asks no database.
    """
    return _look(text, lambda embedder: _trying(embedder, tuple(own)), None)


def _look(
    text: str, taught_by: Callable[[CarefulEmbedder], _Taught | None], deadline: float | None
) -> Looked:
    found = risk.find(text)
    embedder = vectors.configured_embedder()
    if embedder is None or shows_nothing(text):  # a server may take an empty text for a fault
        return Looked(found, WORDS)
    try:
        taught = taught_by(embedder)
        if taught is None or embedder.away:
            return Looked(found, WORDS)
        meant = _meant(text, taught.meaning, embedder, deadline)
    except (EmbedderUnavailable, TimeoutError):
        return Looked(found, WORDS)
    known = {each.code for each in found}
    return Looked([*found, *(each for each in meant if each.code not in known)], embedder.id)


def prepare() -> None:
    """Teach what a crisis means, in the calling thread: with the examples of the newest release.

    A small query where they are taught already. The vectors are kept: only the first process makes
    them (6 s with the embedded model). While others are taught the ones before them answer. Where
    the embedder is gone nothing happens, and a later call tries again. Raises ``DatabaseError``.
    """
    embedder = vectors.configured_embedder()
    if embedder is None or embedder.away:
        return
    newest = selectors.newest()
    release = "" if newest is None else newest.sha256
    taught = _taught.get(embedder)
    if taught is not None and taught.release == release:
        return
    own = () if newest is None else selectors.risk_examples(newest)
    try:
        with _teaching:
            if taught is None or taught.own != own:
                taught = _teach(own, lambda texts: vectors.kept_for(embedder, texts))
                embedder.queries(["ready"])  # a model that loads at first use does so here
                logger.info("Crises are seen by meaning, with %s", embedder.id)
            _taught[embedder] = taught._replace(release=release)
    except EmbedderUnavailable:
        return  # the embedder has logged why


def _trying(embedder: CarefulEmbedder, own: _Own) -> _Taught:
    """Raises EmbedderUnavailable."""
    current = _taught.get(embedder)
    if current is not None and current.own == own:
        return current
    with _teaching:
        tried = _tried.setdefault(embedder, {})
        if own not in tried:
            rows = current.rows if current else {}
            tried[own] = _teach(own, lambda texts: _with_new(embedder, texts, rows))
            for old in list(tried)[:-_TRIED]:
                del tried[old]
        return tried[own]


def _with_new(
    embedder: CarefulEmbedder, texts: Sequence[str], rows: Mapping[str, Matrix]
) -> Matrix:
    new = [text for text in texts if text not in rows]
    if not new:
        return np.stack([rows[text] for text in texts])
    known = {**rows, **dict(zip(new, embedder.documents(new), strict=True))}
    return np.stack([known[text] for text in texts])


def _teach(own: _Own, vectors_of: Callable[[Sequence[str]], Matrix]) -> _Taught:
    known = examples(own)
    made = vectors_of(known.texts)
    meaning = Meaning(made, known.codes, known.near)
    return _Taught(meaning, own, dict(zip(known.texts, made, strict=True)))


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
        Risk(
            sign.code,
            *safe.to_original(where[sign.row].start, where[sign.row].end),
            "hint" if sign.weak else "meaning",
        )
        for sign in meaning.flags(rows, pieces=sum(part.piece for part in where))
    ]
