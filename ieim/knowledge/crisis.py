"""The risk flags of a message: by the phrases of the screen, and by what it means.

Phrases always work. Where the embedder is late or unavailable only they count, and the result says
so.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from django.db import connection, transaction

from ieim.knowledge import selectors, vectors
from ieim.knowledge.models import Publication
from ieim.pipeline.knowledge import RiskExample
from ieim.pipeline.message import risk
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.message.screen import shows_nothing
from ieim.pipeline.personal.redaction import prepare as redacted
from ieim.pipeline.ports import WORDS, EmbedderUnavailable, Matrix
from ieim.search import crisis as search
from ieim.search import examples, letters, train
from ieim.search.crisis import CrisisModel, Spelt, parts
from ieim.search.embedders import CheckedEmbedder
from ieim.search.situations import Situations

DEADLINE: Final = 0.15
"""Seconds that a citizen's message waits for its meaning. The embedded model takes 3 ms a sentence;
the rest is for a busy machine."""

FIRST_DEADLINE: Final = 5.0
"""Seconds that it waits until the embedder has answered once: the embedded model loads at first
use, and the first message of a process may be one of somebody in danger."""

logger = logging.getLogger(__name__)

_Added: TypeAlias = tuple[RiskExample, ...]


class _Current(NamedTuple):
    """The model of a published release; ``added`` are the administration's examples in it, and
    ``release`` the digest of the release that was read last."""

    model: CrisisModel
    added: _Added
    release: str = ""


_current: WeakKeyDictionary[CheckedEmbedder, _Current] = WeakKeyDictionary()
_tried: WeakKeyDictionary[CheckedEmbedder, dict[_Added, CrisisModel]] = WeakKeyDictionary()
"""The models of drafts and of other releases than the newest, for who waits for them."""
_TRIED: Final = 2
_situations: WeakKeyDictionary[CheckedEmbedder, Situations] = WeakKeyDictionary()
_training = threading.Lock()
_readers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="ieim-crisis")


class Screening(NamedTuple):
    """The flags, each once, and what looked: the embedder's id, or ``words`` for phrases alone.

    ``situation`` is one of :data:`ieim.pipeline.knowledge.CIRCUMSTANCES`, or empty.
    ``untrained``: the examples that were asked for are not trained yet, and others looked.
    """

    risks: list[Risk]
    by: str
    situation: str = ""
    untrained: bool = False


def screen(text: str) -> Screening:
    """Return the risk flags of a message as sent. Never raises for what an embedder can do.

    A flag by meaning points at the sentence that shows it best; a phrase wins where both find the
    same. The examples are those of the newest release that this process has read, and until then
    the shipped ones.
    """
    embedder = vectors.configured_embedder()
    if embedder is None:
        return _screen(text, None, None, None)
    current = _current.get(embedder)
    model = _shipped(embedder) if current is None else current.model
    return _screen(text, embedder, model, DEADLINE if embedder.has_answered else FIRST_DEADLINE)


def screen_fully(text: str, added: Sequence[RiskExample] = ()) -> Screening:
    """Return what :func:`screen` does with an administration's ``added`` examples.

    For workers and commands that measure: there is no deadline, and the examples are trained with
    first, in memory. It asks no database.
    """
    embedder = vectors.configured_embedder()
    if embedder is None:
        return _screen(text, None, None, None)
    try:
        model = _model_with(embedder, tuple(added))
    except EmbedderUnavailable:
        model = None
    return _screen(text, embedder, model, None)


def screen_with_stored(text: str, added: Sequence[RiskExample]) -> Screening:
    """Return what :func:`screen_fully` does, without training: with what a worker has stored for
    ``added`` (:func:`train_with`), else with the model of this process. Raises ``DatabaseError``.
    """
    embedder = vectors.configured_embedder()
    if embedder is None:
        return _screen(text, None, None, None)
    current, key = _current.get(embedder), tuple(added)
    if current is not None and current.added == key:
        return _screen(text, embedder, current.model, None)
    stored = _stored_model(embedder, key)
    other = _shipped(embedder) if current is None else current.model
    return _screen(text, embedder, stored or other, None)._replace(untrained=stored is None)


def _screen(
    text: str,
    embedder: CheckedEmbedder | None,
    model: CrisisModel | None,
    deadline: float | None,
) -> Screening:
    risks = risk.find(text)
    if shows_nothing(text):
        return Screening(risks, WORDS)
    safe = redacted(text)  # an embedder may be a server, as a model may
    text_parts = parts(safe.text)
    texts = [safe.text[part.start : part.end] for part in text_parts]
    pieces = sum(part.piece for part in text_parts)
    spelt = Spelt(letters.shipped(), letters.shipped().margins(texts))
    by, situation = WORDS, ""
    try:
        taught, rows, by = _vectors_of(texts, embedder, model, deadline)
    except (EmbedderUnavailable, TimeoutError):
        signs = spelt.flags(pieces=pieces)
    else:
        signs = taught.flags(rows, spelt, pieces=pieces)
        situations = _situations.get(embedder) if embedder is not None else None
        situation = situations.of(rows) if situations is not None else ""
    codes = {phrase.code for phrase in risks}
    risks += (
        Risk(
            sign.code,
            *safe.to_original(text_parts[sign.row].start, text_parts[sign.row].end),
            "hint" if sign.weak else "meaning",
        )
        for sign in signs
        if sign.code not in codes
    )
    return Screening(risks, by, situation)


def prepare(*, trains: bool) -> bool:
    """Read the examples of the newest release, in the calling thread; return False while what they
    teach is missing.

    A small query where they are read already. What they teach is kept with the vectors. Where it is
    not yet, a worker (``trains``) trains with the examples that an administration adds, or with all
    where the embedder is not the embedded one; a web process looks again at the next call.
    Meanwhile what was read before answers, or what is shipped. Where the embedder is gone nothing
    happens, and a later call tries again. Raises ``DatabaseError``.
    """
    embedder = vectors.configured_embedder()
    if embedder is None or embedder.is_unavailable:
        return True
    newest = selectors.newest()
    release = "" if newest is None else newest.sha256
    current = _current.get(embedder)
    if current is not None and current.release == release and embedder in _situations:
        return True
    added = () if newest is None else selectors.risk_examples(newest)
    try:
        if current is None or current.added != added:
            model = _stored_model(embedder, added)
            if model is None and trains:
                model = _train(embedder, added, newest)
            if not embedder.has_answered:
                embedder.queries(["ready"])  # a model that loads at first use does so here
            if model is not None:
                logger.info("Crises are found by meaning, with %s", embedder.id)
            current = None if model is None else _Current(model, added)
        if current is not None:
            _current[embedder] = current._replace(release=release)
        if embedder not in _situations:  # last: danger waits for nothing else
            _situations[embedder] = Situations(embedder.queries)
    except EmbedderUnavailable:
        return True  # the embedder has logged why
    return current is not None


def has_model() -> bool:
    """Return whether this process has read what the examples of any release teach."""
    embedder = vectors.configured_embedder()
    return embedder is not None and embedder in _current


def train_with(added: Sequence[RiskExample]) -> None:
    """Train with an administration's ``added`` examples and keep the result, in a worker.

    Nothing happens where that is kept already, where the embedder is gone, or while another process
    trains. Raises ``DatabaseError``.
    """
    embedder, key = vectors.configured_embedder(), tuple(added)
    if embedder is None or embedder.is_unavailable or _stored_model(embedder, key) is not None:
        return
    with contextlib.suppress(EmbedderUnavailable):  # the embedder has logged why
        _train(embedder, key, selectors.newest())


def _shipped(embedder: CheckedEmbedder) -> CrisisModel | None:
    """Return the model of the shipped examples, None where they come with other vectors."""
    shipped = search.shipped()
    return shipped if shipped.embedder == embedder.id else None


def _stored_model(embedder: CheckedEmbedder, added: _Added) -> CrisisModel | None:
    """Return the model that is shipped or kept, None when it has to be trained."""
    shipped = _shipped(embedder)
    if shipped is not None and not added:
        return shipped
    stored = vectors.stored_model(embedder.id, _name(added))
    return None if stored is None else CrisisModel.from_bytes(stored, shipped)


def _train(
    embedder: CheckedEmbedder, added: _Added, newest: selectors.Published | None
) -> CrisisModel | None:
    """Train and keep a model; return None while another process does. Raises
    EmbedderUnavailable."""
    shipped, taught = _shipped(embedder), examples.crisis(added)
    rows = _rows(shipped, taught.texts, lambda texts: vectors.stored_vectors(embedder, texts))
    with _training, _claimed(newest) as is_mine:
        if not is_mine:
            return None
        start = time.monotonic()
        model = train.crisis_model(rows, taught, embedder=embedder.id, by_letters=letters.shipped())
        skip = 0 if shipped is None else len(shipped.vectors)
        vectors.store_model(
            embedder.id,
            _name(added),
            model.to_bytes(skip=skip),
            kind="knowledge.danger_trained",
            examples=len(added),
            seconds=round(time.monotonic() - start),
        )
    return model


@contextlib.contextmanager
def _claimed(newest: selectors.Published | None) -> Iterator[bool]:
    """Yield whether this process may train: on PostgreSQL one at a time may, by a lock on the row
    of the newest publication.

    On SQLite a transaction would make every writer wait until it ends, and one process has the only
    worker.
    """
    if newest is None or not connection.features.has_select_for_update_skip_locked:
        yield True
        return
    with transaction.atomic():
        publication = Publication.objects.select_for_update(skip_locked=True, no_key=True)
        yield publication.filter(pk=newest.id).first() is not None


def _model_with(embedder: CheckedEmbedder, added: _Added) -> CrisisModel:
    """Return the model with ``added`` examples, trained in memory where it is not the current one.

    Raises EmbedderUnavailable.
    """
    shipped, current = _shipped(embedder), _current.get(embedder)
    if current is not None and current.added == added:
        return current.model
    if shipped is not None and not added:
        return shipped
    with _training:
        tried = _tried.setdefault(embedder, {})
        if added not in tried:
            taught = examples.crisis(added)
            rows = _rows(shipped, taught.texts, embedder.documents)
            tried[added] = train.crisis_model(
                rows, taught, embedder=embedder.id, by_letters=letters.shipped()
            )
            for old in list(tried)[:-_TRIED]:
                del tried[old]
        return tried[added]


def _rows(
    shipped: CrisisModel | None, texts: Sequence[str], embed: Callable[[Sequence[str]], Matrix]
) -> Matrix:
    """Return the vectors of all examples, of which the ``shipped`` ones come first."""
    if shipped is None:
        return embed(texts)
    added = texts[len(shipped.vectors) :]
    return np.concatenate([shipped.vectors, embed(added)]) if added else shipped.vectors


def _name(added: _Added) -> str:
    return f"crisis {train.crisis_digest(examples.crisis(added))}"


def _vectors_of(
    texts: Sequence[str],
    embedder: CheckedEmbedder | None,
    model: CrisisModel | None,
    deadline: float | None,
) -> tuple[CrisisModel, Matrix, str]:
    """Return the model, the vector of each text, and the embedder's id; raises EmbedderUnavailable
    and TimeoutError."""
    if embedder is None or model is None or embedder.is_unavailable:
        raise EmbedderUnavailable("There is no embedder whose vectors the examples have.")
    future = _readers.submit(embedder.queries, list(texts))
    try:
        rows = future.result(deadline)
    except TimeoutError:
        future.cancel()
        logger.warning("A message's meaning came too late; phrases and letters alone were read")
        raise
    if rows.shape[1] != model.width:
        raise EmbedderUnavailable("The embedder's vectors have another width than the examples'.")
    return model, rows, embedder.id
